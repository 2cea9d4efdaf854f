#include "build_paths.h"
#include "reports/cli/cli_testing.h"

namespace weightproof::cli {
namespace {

// A driver that accepts everything.
constexpr const char* kYes = "--one-shot 'test -e {file}'";

class CliRunTest : public CliTest {
 protected:
  // A run over two rules into a folder.
  Result RunInto(const std::string& folder, const std::string& what) {
    return Run(fmt::format(
        "run {} --filter gguf.align.value.zero gguf.align.value.default "
        "--out {} --journal {}.jsonl",
        what, folder, folder));
  }
  Json Report(const std::string& folder) {
    return Json::parse(Slurp(folder_ / folder / "report.json"), nullptr, false);
  }
};

TEST_F(CliRunTest, ABuiltInReaderConforms) {
  const Result result = RunInto("out", "gguf_view");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("CONFORMING"));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
  const Json report = Report("out");
  EXPECT_EQ(report["summary"]["conclusion"], "conforming");
  EXPECT_EQ(report["summary"]["canary"]["caught"], true);
  for (const char* name : {"report.html", "report.md", "junit.xml",
                           "report.sarif", "badge.json"}) {
    EXPECT_TRUE(fs::exists(folder_ / "out" / name)) << name;
  }
}

TEST_F(CliRunTest, ATerminalShowsABarThatACiLogNeverGets) {
  const std::string command = fmt::format(
      "{}/bin/weightproof run gguf_view --filter gguf.align.value.default "
      "--out {}/out --journal {}/journal",
      WEIGHTPROOF_BINARY_DIR, folder_.string(), folder_.string());
  const auto on_terminal = [&](const std::string& environment) {
    const std::string typescript = (folder_ / "typescript").string();
    const std::string shell = fmt::format(
        "env -u CI TERM=xterm {} script -qec '{}' {} </dev/null "
        ">/dev/null 2>&1",
        environment, command, typescript);
    EXPECT_EQ(std::system(shell.c_str()), 0) << shell;
    return Slurp(typescript);
  };
  const std::string shown = on_terminal("");
  EXPECT_THAT(shown, HasSubstr("[########################]"));
  EXPECT_THAT(shown, HasSubstr("\r\x1b[K"));
  EXPECT_THAT(on_terminal("CI=true"), Not(HasSubstr("[####")));
  EXPECT_THAT(RunInto("quiet", "gguf_view").err, Not(HasSubstr("####")));
}

TEST_F(CliRunTest, TwoRunsDifferOnlyInRun) {
  ASSERT_EQ(RunInto("a", "gguf_view reference").exit_code, 0);
  ASSERT_EQ(RunInto("b", "gguf_view reference").exit_code, 0);
  const std::string a = Slurp(folder_ / "a" / "report.json");
  const std::string b = Slurp(folder_ / "b" / "report.json");
  const auto stable = [](const std::string& text) {
    return text.substr(0, text.find("\n \"run\": "));
  };
  EXPECT_GT(stable(a).size(), 1000u);
  EXPECT_EQ(stable(a), stable(b));
}

TEST_F(CliRunTest, ADriverThatAcceptsEverythingFails) {
  const Result result = RunInto("out", kYes);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("NOT CONFORMING"));
  EXPECT_THAT(result.out, HasSubstr("gguf.align.value.zero  hazard"));
  EXPECT_THAT(Slurp(folder_ / "out" / "report.html"),
              HasSubstr("id=\"r-gguf.align.value.zero\""));
}

TEST_F(CliRunTest, ReproShowsOneFailure) {
  const Result result =
      Run(fmt::format("repro {} gguf.align.value.zero-no_tensors", kYes));
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("expected   reject"));
  EXPECT_THAT(result.out, HasSubstr("got        accepted"));
  EXPECT_THAT(result.out, HasSubstr("general.alignment"));
  EXPECT_THAT(result.out, HasSubstr("[00]"));
  EXPECT_EQ(Run("repro gguf_view gguf.align.value.zero-no_tensors").exit_code,
            0);
  EXPECT_EQ(Run("repro gguf_view").exit_code, 2);
  EXPECT_EQ(Run("repro gguf_view gguf.no.such-1").exit_code, 2);
}

TEST_F(CliRunTest, ReportRendersAgainFromReportAndJournal) {
  ASSERT_EQ(RunInto("out", kYes).exit_code, 1);
  const Result html = Run("report out/report.json --format html");
  EXPECT_EQ(html.exit_code, 0) << html.err;
  EXPECT_EQ(html.out, Slurp(folder_ / "out" / "report.html"));
  EXPECT_THAT(Run("report out/report.json --format markdown").out,
              HasSubstr("## Weightproof: not conforming"));
  Write("broken.json", "{\"format\":\"weightproof.report.v1\"}");
  const Result broken = Run("report broken.json");
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_THAT(broken.err, HasSubstr("broken.json"));
  EXPECT_EQ(Run("report missing.json").exit_code, 1);
  EXPECT_EQ(Run("report out/report.json --format pdf").exit_code, 2);
}

TEST_F(CliRunTest, ReportShowsOnlyWhoIsNamed) {
  RunInto("both", "gguf_view reference");
  const std::string report = "report both/report.json --only ";
  const Result one = Run(report + "reference");
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_THAT(one.out, HasSubstr("reference"));
  EXPECT_THAT(one.out, Not(HasSubstr("gguf_view")));
  const Result none = Run(report + "nobody");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--only nobody"));
}

TEST_F(CliRunTest, DiffFindsWhatGotWorse) {
  ASSERT_EQ(RunInto("good", "gguf_view").exit_code, 0);
  Json report = Report("good");
  for (Json& row : report["rows"]) {
    if (row["rule"] != "gguf.align.value.zero") continue;
    row["outcome"] = "fail";
    row["verdict"] = "accept";
  }
  Write("worse.json", report.dump());
  const Result worse = Run("diff good/report.json worse.json");
  EXPECT_EQ(worse.exit_code, 1) << worse.err;
  EXPECT_THAT(worse.out, HasSubstr("worse    gguf_view"));
  EXPECT_THAT(worse.out, HasSubstr("pass (rejected) -> fail (accepted)"));
  EXPECT_EQ(Run("diff worse.json good/report.json").exit_code, 0);
  EXPECT_EQ(Run("diff good/report.json good/report.json").out,
            "0 worse, 0 better, 0 otherwise changed, 0 added, 0 removed\n");
  EXPECT_EQ(Run("diff good/report.json missing.json").exit_code, 2);
}

TEST_F(CliRunTest, UsageErrorsOfRunNameTheOption) {
  EXPECT_THAT(Run("run --shard 5/3").err, HasSubstr("--shard"));
  EXPECT_EQ(Run("run --shard 5/3").exit_code, 2);
  EXPECT_EQ(Run("run --driver x --one-shot y").exit_code, 2);
  EXPECT_EQ(Run("run gguf_view --filter no.such.rule --out o").exit_code, 2);
  EXPECT_EQ(Run("run no_such_implementation --out o").exit_code, 2);
}

TEST_F(CliRunTest, DoctorFindsTheHarnessInOrder) {
  const Result result = Run("doctor");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("the planted bug is caught"));
  EXPECT_THAT(result.out, HasSubstr("The harness works."));
}

}  // namespace
}  // namespace weightproof::cli
