// weightproof fuzz, and repro of a file.
#include "reports/cli/cli_testing.h"

namespace weightproof::cli {
namespace {

class FuzzCommand : public CliTest {};

TEST_F(FuzzCommand, NamesItsTargets) {
  const Result result = Run("fuzz --list");
  EXPECT_EQ(result.exit_code, 0);
  for (const char* target : {"gguf_raw", "gguf_structured", "gguf_diff",
                             "gguf_script", "gguf_ggml", "q8_0_diff"}) {
    EXPECT_THAT(result.out, HasSubstr(target));
  }
}

TEST_F(FuzzCommand, RefusesWhatMakesNoSense) {
  EXPECT_EQ(Run("fuzz").exit_code, 2);
  EXPECT_EQ(Run("fuzz nothing").exit_code, 2);
  EXPECT_EQ(Run("fuzz gguf_diff --time soon").exit_code, 2);
  EXPECT_EQ(Run("fuzz gguf_diff --engine none").exit_code, 2);
  const Result driver = Run("fuzz --driver /no/such/driver --time 1s");
  EXPECT_EQ(driver.exit_code, 3) << driver.err;
}

TEST_F(FuzzCommand, SumsUpOverTwoRuns) {
  ASSERT_EQ(Run("fuzz gguf_raw --time 1s --state s --empty").exit_code, 0);
  const Result second = Run("fuzz gguf_raw --time 1s --state s");
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("all 2 runs"));
  EXPECT_THAT(second.out, HasSubstr("accepted"));
}

TEST_F(FuzzCommand, ReplaysFilesAndRefusesWhatIsMissing) {
  Write("empty.gguf", Header(0, 0));
  const Result good = Run("fuzz gguf_diff --replay empty.gguf");
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("1 inputs replayed, 1 accepted"));
  const Result bad = Run("fuzz gguf_diff --replay missing.gguf");
  EXPECT_EQ(bad.exit_code, 5);
  EXPECT_THAT(bad.err, HasSubstr("missing.gguf: No such file"));
  fs::create_directories(folder_ / "corpus");
  Write("corpus/good.gguf", Header(0, 0));
  fs::create_symlink("unreadable", folder_ / "corpus" / "unreadable");
  const Result unreadable = Run("fuzz gguf_diff --replay corpus");
  EXPECT_EQ(unreadable.exit_code, 5);
  EXPECT_THAT(unreadable.err, HasSubstr("corpus/unreadable: Too many levels"));
}

TEST_F(FuzzCommand, ReproTakesAFile) {
  Write("zero.gguf", Alignment(0));
  const Result right = Run("repro reference zero.gguf");
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_THAT(right.out, HasSubstr("gguf.align.value.zero"));
  const Result wrong = Run(fmt::format(
      "repro --driver 'python3 {}/conformance/examples/toy_gguf.py' zero.gguf",
      WEIGHTPROOF_SOURCE_DIR));
  EXPECT_EQ(wrong.exit_code, 1) << wrong.err;
}

}  // namespace
}  // namespace weightproof::cli
