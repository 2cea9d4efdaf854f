// The built-in implementations and the example drivers through the real
// runner; journals that are cut, resumed and judged again.
#include "conformance/runner.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <random>

#include "build_paths.h"
#include "conformance/testing/run_testing.h"

namespace weightproof::conformance {
namespace {

class RunnerTest : public RunTest {
 protected:
  // Rules that a small reader has to know.
  void SelectSmall() {
    options_.filter = {"gguf.kv.scalar.*", "gguf.array.*", "gguf.kv.order.*"};
  }
  std::uint64_t JournalSize() const {
    std::error_code error;
    const auto size = std::filesystem::file_size(options_.journal, error);
    return error ? 0 : size;
  }
};

TEST_F(RunnerTest, BuiltInReadersConformAndAgree) {
  options_.names = {"reference", "gguf_view"};
  options_.filter = {"gguf.*"};
  const RunResult result = RunIt();
  EXPECT_TRUE(result.canary_caught) << result.canary_detail;
  EXPECT_FALSE(result.built_ins_disagree) << result.built_ins_detail;
  EXPECT_GT(result.executed, 1000u);
  for (const Row& row : result.rows) {
    EXPECT_NE(row.outcome, Outcome::kFail) << row.vector << ": " << row.reason;
    EXPECT_NE(row.outcome, Outcome::kNotCompared)
        << row.vector << ": " << row.reason;
    if (row.outcome != Outcome::kPass) {
      EXPECT_NE(row.reason, "");
    }
    EXPECT_NE(row.offset_matches, false) << row.vector;
    EXPECT_NE(row.rule_matches, false) << row.vector;
  }
  EXPECT_EQ(ExitCode(result), 0);
}

TEST_F(RunnerTest, TheNumericReferenceFollowsSpec) {
  options_.names = {"reference"};
  options_.filter = {"q8_*", "f16.*"};
  const RunResult result = RunIt();
  EXPECT_GT(result.executed, 200u);
  for (const Row& row : result.rows) {
    EXPECT_NE(row.outcome, Outcome::kFail) << row.vector << ": " << row.reason;
  }
  EXPECT_THAT(result.implementations[0].arithmetic.at("q8_0.quantize"),
              testing::StartsWith("follows spec"));
}

TEST_F(RunnerTest, ThePythonExampleIsCaughtByRuleAndOffset) {
  // As typed at the top of the sources: the path is relative.
  std::filesystem::current_path(WEIGHTPROOF_SOURCE_DIR);
  options_.driver_command = "python3 conformance/examples/toy_gguf.py";
  options_.filter = {"gguf.kv.scalar.*", "gguf.array.elem.*",
                     "gguf.array.empty.*", "gguf.kv.order.*"};
  const RunResult result = RunIt();
  int failed = 0;
  for (const Row& row : result.rows) {
    if (row.outcome != Outcome::kFail) continue;
    ++failed;
    EXPECT_EQ(row.rule, "gguf.array.elem.unknown_empty");
    EXPECT_EQ(row.reason,
              "expected reject (gguf.array.elem.unknown_empty at byte 37), "
              "got accept");
    EXPECT_THAT(row.repro, testing::StartsWith("./weightproof repro --driver"));
  }
  EXPECT_GT(failed, 0);
  EXPECT_GT(result.executed, static_cast<std::uint64_t>(failed));
  EXPECT_EQ(ExitCode(result), 1);
}

TEST_F(RunnerTest, TheCppExampleIsCaughtByRuleAndByte) {
  options_.driver_command =
      std::string(WEIGHTPROOF_BINARY_DIR) + "/bin/toy_q8_0";
  const RunResult result = RunIt();
  bool named = false;
  for (const Row& row : result.rows) {
    if (row.outcome != Outcome::kFail) continue;
    const bool subnormal = row.rule == "f16.convert.exact" ||
                           row.rule == "q8_0.dequantize.scale.subnormal";
    EXPECT_TRUE(subnormal) << row.vector << " " << row.rule << row.reason;
    named |= row.difference.starts_with("y byte ");
  }
  EXPECT_TRUE(named);
}

TEST_F(RunnerTest, JobsDoNotChangeTheRows) {
  options_.names = {"gguf_view"};
  SelectSmall();
  const auto one = Lines(RunIt());
  options_.jobs = 3;
  EXPECT_EQ(Lines(RunIt()), one);
}

TEST_F(RunnerTest, AJournalIsARecording) {
  options_.names = {"gguf_view"};
  SelectSmall();
  options_.journal = root_ / "journal.jsonl";
  const auto live = Lines(RunIt());
  options_.names.clear();
  options_.answers = options_.journal;
  const RunResult judged = RunIt();
  EXPECT_TRUE(judged.canary_caught);
  EXPECT_EQ(Lines(judged), live);
}

TEST_F(RunnerTest, ARecordingMadeByHandIsJudged) {
  options_.answers = root_ / "phone.jsonl";
  options_.filter = {"gguf.header.magic.wrong"};
  Write(options_.answers,
        R"({"hello":{"protocol":1,"name":"phone","version":"1",)"
        R"("language":"Swift","operations":["gguf.parse"]}})"
        "\n"
        R"({"vector":"gguf.header.magic.wrong-lower","answer":)"
        R"({"status":"ok","verdict":"reject"}})");
  const RunResult result = RunIt();
  for (const Row& row : result.rows) {
    if (row.vector == "gguf.header.magic.wrong-lower") {
      EXPECT_EQ(row.outcome, Outcome::kPass) << row.reason;
    } else {
      EXPECT_EQ(row.outcome, Outcome::kNotRun);
      EXPECT_EQ(row.reason, "not in the recording");
    }
  }
  EXPECT_EQ(result.executed, 1u);
  // Most of it is missing: that is no conformance.
  EXPECT_EQ(ExitCode(result), 6);
}

TEST_F(RunnerTest, BrokenRecordingsNameTheLine) {
  options_.answers = root_ / "bad.jsonl";
  Write(options_.answers, "{\"vector\":\"x\"}\n");
  EXPECT_THAT(ErrorOf().message,
              testing::HasSubstr("bad.jsonl:1: no \"implementation\" so far"));
  Write(options_.answers, "{}\nnot json\n{}\n");
  EXPECT_EQ(ErrorOf().exit_code, 2);
}

// Kills a run when its journal has reached a random size, again and again,
// until one gets to the end.
TEST_F(RunnerTest, AKilledRunResumesToTheSameRows) {
  options_.names = {"gguf_view"};
  options_.filter = {"gguf.kv.*", "gguf.array.*"};
  options_.journal = root_ / "whole.jsonl";
  const auto whole = Lines(RunIt());
  const std::uint64_t size = JournalSize();
  options_.journal = root_ / "killed.jsonl";
  options_.resume = false;
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::uint64_t reached = 0;
  for (int round = 0; round < 4; ++round) {
    const std::uint64_t limit =
        reached + std::uniform_int_distribution<std::uint64_t>(
                      1, std::max<std::uint64_t>(size / 4, 2))(random);
    const pid_t child = fork();
    if (child == 0) {
      RunObserver observer;
      const auto result = conformance::Run(options_, observer);
      _exit(result ? 0 : 1);
    }
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (JournalSize() >= limit) kill(child, SIGKILL);
      usleep(500);
    }
    reached = JournalSize();
    options_.resume = true;
  }
  // And a line that was cut in the middle.
  const std::uint64_t cut = JournalSize() - 3;
  std::filesystem::resize_file(options_.journal, cut);
  EXPECT_EQ(Lines(RunIt()), whole);
  EXPECT_EQ(Lines(RunIt()), whole) << "resumed when nothing was left";
}

// Raises SIGINT at the tenth case.
class Interrupter : public RunObserver {
 public:
  void OnCase(const std::string&, const std::string&, std::uint64_t done,
              std::uint64_t) override {
    if (done == 10) raise(SIGINT);
  }
};

TEST_F(RunnerTest, AnInterruptedRunSaysSoAndResumes) {
  options_.names = {"gguf_view"};
  SelectSmall();
  options_.journal = root_ / "whole.jsonl";
  const auto whole = Lines(RunIt());
  options_.journal = root_ / "interrupted.jsonl";
  Interrupter interrupter;
  const auto interrupted = conformance::Run(options_, interrupter);
  ASSERT_TRUE(interrupted) << interrupted.error().message;
  EXPECT_TRUE(interrupted->interrupted);
  EXPECT_LT(interrupted->rows.size(), whole.size());
  EXPECT_GT(interrupted->skipped, 0u);
  EXPECT_EQ(ExitCode(*interrupted), 6);
  options_.resume = true;
  const RunResult resumed = RunIt();
  EXPECT_FALSE(resumed.interrupted);
  EXPECT_EQ(Lines(resumed), whole);
}

TEST_F(RunnerTest, ResumingWithOtherVectorsIsRefused) {
  options_.names = {"gguf_view"};
  SelectSmall();
  RunIt();
  const auto journal = options_.build_dir / "runs" / "last.jsonl";
  std::ifstream in(journal);
  std::string header;
  std::getline(in, header);
  Write(journal, R"({"weightproof_run":1,"set_version":"0","digest":"other"})"
                 "\n");
  options_.resume = true;
  const RunError error = ErrorOf();
  EXPECT_EQ(error.exit_code, 2);
  EXPECT_THAT(error.message, testing::HasSubstr("the vectors have changed"));
}

TEST_F(RunnerTest, AMissingHostMakesTheRunVoid) {
  std::filesystem::remove(options_.build_dir / "bin");
  options_.driver_command =
      std::string(WEIGHTPROOF_BINARY_DIR) + "/bin/toy_q8_0";
  options_.filter = {"q8d-0*"};
  const RunResult result = RunIt();
  EXPECT_FALSE(result.canary_caught);
  EXPECT_EQ(ExitCode(result), 4);
}

}  // namespace
}  // namespace weightproof::conformance
