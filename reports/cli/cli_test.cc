#include "build_paths.h"
#include "reports/cli/cli_testing.h"

namespace weightproof::cli {
namespace {

TEST_F(CliTest, OutputEscapesHostileNames) {
  const std::string name = "evil\x1b[2J\n.gguf";
  Write(name, Alignment(0));
  const Result result = Run("check .");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(result.out, HasSubstr("evil\\x1b[2J\\n.gguf"));
  const Result key = Run(
      "check " + Write("key.gguf", Header(0, 1) + Kv("\x1b]0;x\x07", 99, "")));
  EXPECT_THAT(key.out + key.err, Not(HasSubstr("\x1b")));
}

TEST_F(CliTest, UsageErrorsNameTheOption) {
  Result result = Run("check --frobnicate x.gguf");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--frobnicate"));
  result = Run("check --fail-on sometimes x.gguf");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--fail-on"));
  result = Run("check");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("PATH"));
  EXPECT_EQ(Run("").exit_code, 2);
  EXPECT_EQ(Run("dance").exit_code, 2);
  EXPECT_EQ(Run("--help").exit_code, 0);
  EXPECT_THAT(Run("check --help").out, HasSubstr("--fail-on"));
}

// A variable that a script forgot to set must not judge something else.
TEST_F(CliTest, EmptyValuesAreUsageErrors) {
  for (const char* option : {"--driver", "--one-shot", "--answers", "--out"}) {
    const Result result = Run(fmt::format("run {} ''", option));
    EXPECT_EQ(result.exit_code, 2) << option;
    EXPECT_THAT(result.err, HasSubstr(option));
  }
}

TEST_F(CliTest, TheVerdictOutlivesTheReaderOfTheOutput) {
  Write("zero.gguf", Alignment(0));
  // The exit code of the program, not of the shell's last command.
  const std::string command = fmt::format(
      "bash -c '{}/bin/weightproof check {} | true; exit ${{PIPESTATUS[0]}}'",
      WEIGHTPROOF_BINARY_DIR, (folder_ / "zero.gguf").string());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  }
}

TEST_F(CliTest, RunsWithoutStandardInput) {
  const std::string command = fmt::format(
      "cd {} && {}/bin/weightproof run reference --filter "
      "'gguf.header.magic.*' --out out --journal journal >.out 2>&1 <&-",
      folder_.string(), WEIGHTPROOF_BINARY_DIR);
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 0)
      << Slurp(folder_ / ".out");
}

TEST_F(CliTest, RecordingsAreRegularFiles) {
  const Result result = Run("run --answers /dev/zero");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("/dev/zero: is not a regular file"));
}

TEST_F(CliTest, OutputToAFullDeviceIsAnError) {
  const std::string file = Write("ok.gguf", Alignment(32));
  const std::string command =
      fmt::format("{}/bin/weightproof check {} >/dev/full 2>/dev/null",
                  WEIGHTPROOF_BINARY_DIR, file);
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 5);
}

TEST_F(CliTest, ListGivesOneObjectPerVector) {
  const Result result = Run("list --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(result.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json json = Json::parse(line);
    for (const char* key : {"id", "format", "operation", "rule", "expected"}) {
      EXPECT_TRUE(json.contains(key)) << key << line;
    }
  }
  EXPECT_GT(count, 50);
}

TEST_F(CliTest, ExplainTellsARule) {
  const Result result = Run("explain gguf.align.value.zero");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("general.alignment"));
  EXPECT_THAT(result.out, HasSubstr("spec reject"));
  EXPECT_THAT(result.out, HasSubstr("hazard"));
}

TEST_F(CliTest, ExplainShowsAFileFieldByField) {
  const Result result = Run("explain " + Write("zero.gguf", Alignment(0)));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("header.magic"));
  EXPECT_THAT(result.out, HasSubstr("kv[0].value"));
  EXPECT_THAT(result.out, HasSubstr("53 ^ gguf.align.value.zero: "));
}

TEST_F(CliTest, ExplainAbbreviatesLongArrays) {
  std::string contents = Header(0, 1) + Kv("a", 9, U32(8) + U64(100));
  for (int i = 0; i < 100; ++i) contents += U64(1) + "x";
  const Result result = Run("explain " + Write("long.gguf", contents));
  EXPECT_THAT(result.out, HasSubstr("kv[0].value[3]"));
  EXPECT_THAT(result.out, Not(HasSubstr("kv[0].value[50]")));
  EXPECT_THAT(result.out, HasSubstr("192 more"));
}

TEST_F(CliTest, ExplainSuggestsNames) {
  const Result result = Run("explain align.value.zer");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("gguf.align.value.zero"));
}

TEST_F(CliTest, AsmWritesTheFileOfARecipe) {
  const std::string recipe = Write("zero.recipe",
                                   "recipe zero-1\n"
                                   "rule gguf.align.value.zero\n"
                                   "verdict reject at a.value\n"
                                   "gguf 3 0 1\n"
                                   "a: kv \"general.alignment\" u32 0\n");
  ASSERT_EQ(Run("asm " + recipe + " -o out.gguf").exit_code, 0);
  EXPECT_EQ(Slurp(folder_ / "out.gguf"), Alignment(0));
  ASSERT_EQ(Run("asm " + recipe + " -o folder").exit_code, 0);
  EXPECT_EQ(Slurp(folder_ / "folder" / "zero-1.gguf"), Alignment(0));
  const Result result = Run("asm " + Write("bad.recipe", "gguf 3 0\nfrob\n"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("bad.recipe:"));
}

TEST_F(CliTest, DisasmGivesARecipeOfTheSameBytes) {
  const std::string file = Write("zero.gguf", Alignment(0));
  const Result text = Run("disasm " + file);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("general.alignment"));
  ASSERT_EQ(Run("disasm " + file + " -o again.recipe").exit_code, 0);
  ASSERT_EQ(Run("asm again.recipe -o again.gguf").exit_code, 0);
  EXPECT_EQ(Slurp(folder_ / "again.gguf"), Alignment(0));
  EXPECT_EQ(Run("disasm missing.gguf").exit_code, 1);
}

TEST_F(CliTest, AsmKeepsInsideItsFolder) {
  const std::string recipe =
      Write("evil.recipe", "recipe ../../evil\nrule x\nverdict accept\nu8 1\n");
  EXPECT_NE(Run("asm " + recipe + " -o folder").exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_.parent_path() / "evil.gguf"));
}

TEST_F(CliTest, ExportIsUsableWithoutUs) {
  const Result result = Run("export out");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::ifstream lines(folder_ / "out" / "expected.jsonl");
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json json = Json::parse(line);
    EXPECT_FALSE(json.contains("bytes"));
    if (json.contains("file") && json["file"].is_string()) {
      EXPECT_TRUE(
          fs::exists(folder_ / "out" / json["file"].get<std::string>()));
    }
  }
  EXPECT_GT(count, 50);
  const std::string check = fmt::format(
      "cd {}/out && sha256sum --quiet -c SHA256SUMS", folder_.string());
  EXPECT_EQ(std::system(check.c_str()), 0);
}

}  // namespace
}  // namespace weightproof::cli
