// The life of a finding on the command line.
#include "build_paths.h"
#include "reports/cli/cli_testing.h"

namespace weightproof::cli {
namespace {

// A bool that is neither, among others, and bytes that do not matter.
std::string Finding() {
  return Header(0, 3) + Kv("one", 4, U32(1)) + Kv("flag", 7, "\7") +
         Kv("text", 8, U64(5) + "abcde");
}

TEST_F(CliTest, MinimiseKeepsWhatAFileShows) {
  const std::string file = Write("found.gguf", Finding());
  const Result result = Run("minimise " + file + " --out small.gguf");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("38 from "));
  EXPECT_THAT(result.out, HasSubstr("spec: reject gguf.kv.bool.range"));
  EXPECT_THAT(Run("check small.gguf").out, HasSubstr("gguf.kv.bool.range"));
}

TEST_F(CliTest, MinimiseKeepsHowAProgramEnds) {
  const std::string file = Write("found.gguf", Finding() + "xyzzy");
  const Result result =
      Run("minimise " + file + " --one-shot 'grep -q xyz {file}' -o s.gguf");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("exit 0"));
  EXPECT_EQ(Run("minimise missing.gguf").exit_code, 2);
  EXPECT_EQ(Run("minimise " + file + " --implementation nobody").exit_code, 2);
}

TEST_F(CliTest, PromoteMakesARecipeARegressionAndARecord) {
  const std::string file = Write("crash.gguf", Finding());
  Write("crash.gguf.json",
        R"({"target":"gguf_diff","seed":7,"commit":"abc","flags":"-O1"})");
  const Result result = Run("promote " + file + " --into out");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("gguf.kv.bool.range-found_"));
  const std::string id = result.out.substr(0, result.out.find('\n'));
  EXPECT_EQ(Run("asm out/" + id + ".recipe -o again.gguf").exit_code, 0);
  EXPECT_THAT(Run("check again.gguf").out, HasSubstr("gguf.kv.bool.range"));
  const Result shown = Run("repro out/" + id + ".gguf");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("gguf_view"));
  // Twice is once.
  EXPECT_EQ(Run("promote " + file + " --into out").exit_code, 0);
  // A sound file exercises no rule by itself.
  const Result sound =
      Run("promote " + Write("sound.gguf", Header(0, 0)) + " --into out");
  EXPECT_EQ(sound.exit_code, 1);
  EXPECT_THAT(sound.err, HasSubstr("--rule"));
}

TEST_F(CliTest, ReproEmitsTestsForOthers) {
  for (const char* language : {"cpp", "rust", "go", "py", "ts"}) {
    const Result result = Run(
        std::string("repro gguf.align.value.zero-tensor --emit ") + language);
    EXPECT_EQ(result.exit_code, 0) << language << result.err;
    EXPECT_THAT(result.out, HasSubstr("0x47, 0x47, 0x55, 0x46")) << language;
  }
  EXPECT_EQ(Run("repro " + Write("f.gguf", Finding()) + " --emit py").exit_code,
            0);
  EXPECT_EQ(Run("repro nothing --emit py").exit_code, 2);
  EXPECT_EQ(Run("repro f.gguf --emit cobol").exit_code, 2);
  // What the text leaves open is no test for anybody.
  EXPECT_EQ(Run("repro gguf.header.version.one-empty --emit py").exit_code, 2);
}

TEST_F(CliTest, ExportFuzzPacksSeeds) {
  const Result result = Run("export --fuzz gift --target reader");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("seeds"));
  EXPECT_EQ(Run("export --fuzz gift --target a/b").exit_code, 5);
}

TEST_F(CliTest, MutantsShowsWhoNotices) {
  const Result result = Run("mutants --layers vectors canary --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json matrix = Json::parse(result.out);
  EXPECT_EQ(matrix.at("mutants").size(), 1u);
  EXPECT_EQ(matrix["mutants"][0]["killed_by"]["vectors"], true);
  EXPECT_EQ(Run("mutants --layers dreams").exit_code, 2);
  EXPECT_EQ(Run("mutants nobody").exit_code, 2);
}

}  // namespace
}  // namespace weightproof::cli
