// Campaigns end to end: jobs, crashes, kills, full disks, resumption; and the
// fuzzing of drivers, sound ones and those that misbehave.
#include "fuzzers/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "build_paths.h"
#include "fuzzers/corpus_folder.h"
#include "fuzzers/finding_store.h"
#include "fuzzers/foreign.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;

class CampaignTest : public testing::Test {
 protected:
  CampaignTest() {
    char pattern[] = "/tmp/weightproof_fuzz_XXXXXX";
    root_ = mkdtemp(pattern);
    options_.target = "gguf_diff";
    options_.programs = fs::path(WEIGHTPROOF_BINARY_DIR) / "bin";
    options_.engine_programs = options_.programs;
    options_.state = root_ / "state";
    options_.seconds = 2;
    options_.interval_seconds = 0.5;
  }
  ~CampaignTest() override { fs::remove_all(root_); }

  CampaignResult Run() {
    stop_ = false;
    auto result = RunCampaign(options_, stop_, [this](const std::string& line) {
      lines_.push_back(line);
      StopAtAFinding(line);
    });
    EXPECT_TRUE(result.has_value()) << result.error();
    return result ? *result : CampaignResult{};
  }
  // So that a run takes as long as this machine needs, and no longer.
  void StopAtAFinding(const std::string& line) {
    if (stop_at_a_finding_ && line.starts_with("finding:")) stop_ = true;
  }
  void GoOnUntilAFinding() {
    stop_at_a_finding_ = true;
    options_.seconds = 300;
  }
  Json Sidecar() {
    for (const auto& entry :
         fs::directory_iterator(options_.state / "findings")) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream in(entry.path());
      return Json::parse(in, nullptr, false);
    }
    return {};
  }

  fs::path root_;
  CampaignOptions options_;
  std::atomic<bool> stop_ = false;
  bool stop_at_a_finding_ = false;
  std::vector<std::string> lines_;
};

TEST_F(CampaignTest, CountsOverAllRuns) {
  const CampaignResult first = Run();
  EXPECT_EQ(first.findings, 0u);
  EXPECT_GT(first.statistics.executions, 0u);
  EXPECT_GT(first.statistics.accepted, 0u);
  EXPECT_FALSE(fs::is_empty(options_.state / "corpus"));
  options_.seed = 2;
  const CampaignResult second = Run();
  EXPECT_EQ(second.totals.runs, 2u);
  EXPECT_EQ(second.totals.statistics.executions,
            first.statistics.executions + second.statistics.executions);
  ASSERT_FALSE(lines_.empty());
  EXPECT_THAT(lines_.front(), testing::HasSubstr("accepted"));
}

TEST_F(CampaignTest, StoresWhatAPlantedBugShowsOnce) {
  options_.tested = "canary";
  GoOnUntilAFinding();
  const CampaignResult first = Run();
  ASSERT_GT(first.new_findings, 0u);
  const Json sidecar = Sidecar();
  for (const char* member :
       {"kind", "rule", "implementation", "behaviour", "description", "file",
        "target", "engine", "commit", "flags", "seed", "cpu", "found_at",
        "repro"}) {
    EXPECT_TRUE(sidecar.contains(member)) << member;
  }
  EXPECT_EQ(sidecar["implementation"], "canary");
  stop_at_a_finding_ = false;
  options_.seconds = 2;
  const CampaignResult second = Run();
  EXPECT_GE(second.findings, first.findings);
  EXPECT_EQ(second.findings, first.findings + second.new_findings);
}

TEST_F(CampaignTest, GoesOnWhenAnImplementationCrashes) {
  options_.tested =
      (fs::path(WEIGHTPROOF_BINARY_DIR) / "lib" / "crashing_reader.so")
          .string();
  GoOnUntilAFinding();
  const CampaignResult result = Run();
  ASSERT_GT(result.findings, 0u);
  const Json sidecar = Sidecar();
  EXPECT_EQ(sidecar["kind"], "crash");
  EXPECT_EQ(sidecar["implementation"], "crashing");
  // Minimised: mutated files are some kilobytes. What is left beside the count
  // that it dies of is what its rule needs.
  EXPECT_LE(sidecar["size"].get<int>(), 1024);
}

// Far more crashes than the starts that a job gets without a single execution.
TEST_F(CampaignTest, StartsAgainAfterEveryCrash) {
  options_.tested =
      (fs::path(WEIGHTPROOF_BINARY_DIR) / "lib" / "crashing_reader.so")
          .string();
  options_.seconds = 4;
  EXPECT_GT(Run().findings, 0u);
}

TEST_F(CampaignTest, SetsAsideTheInputThatEndsEveryJob) {
  options_.tested =
      (fs::path(WEIGHTPROOF_BINARY_DIR) / "lib" / "crashing_reader.so")
          .string();
  Bytes crash = {'G', 'G', 'U', 'F', 3};
  crash.resize(24);
  crash[16] = 1;
  ASSERT_TRUE(StoreFile(options_.state / "corpus" / "crash", crash));
  GoOnUntilAFinding();
  EXPECT_EQ(Run().findings, 1u);
  EXPECT_FALSE(fs::exists(options_.state / "corpus" / "crash"));
  EXPECT_TRUE(fs::exists(options_.state / "crashing" / "crash"));
}

// A finding is whole once its sidecar is there.
bool HoldsASidecar(const fs::path& findings) {
  std::error_code error;
  for (fs::directory_iterator it(findings, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".json") return true;
  }
  return false;
}

TEST_F(CampaignTest, LosesNothingWhenItIsKilled) {
  options_.tested = "canary";
  options_.seconds = 60;
  const pid_t child = fork();
  if (child == 0) {
    (void)RunCampaign(options_, stop_, [](const std::string&) {});
    _exit(0);
  }
  const fs::path findings = options_.state / "findings";
  for (int i = 0; i < 600 && !HoldsASidecar(findings); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  auto store = FindingStore::Open(findings);
  ASSERT_TRUE(store.has_value());
  const std::size_t found = store->size();
  EXPECT_GT(found, 0u);
  options_.seconds = 1;
  const CampaignResult result = Run();
  EXPECT_GE(result.findings, found);
  // What the killed run had done is counted too.
  EXPECT_GT(result.totals.statistics.executions, result.statistics.executions);
}

TEST_F(CampaignTest, EndsAtOnceWhenInterrupted) {
  options_.seconds = 600;
  std::thread later([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    stop_ = true;
  });
  const CampaignResult result = Run();
  later.join();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.totals.runs, 1u);
}

TEST_F(CampaignTest, NamesWhatIsMissing) {
  options_.target = "no_such_target";
  const auto result = RunCampaign(options_, stop_, [](const std::string&) {});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error(), testing::HasSubstr("fuzz_no_such_target"));
}

TEST_F(CampaignTest, NamesACorpusThatHoldsJunk) {
  fs::create_directories(options_.state / "corpus" / "folder");
  const auto result = RunCampaign(options_, stop_, [](const std::string&) {});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error(), testing::HasSubstr("is not a regular file"));
}

TEST_F(CampaignTest, NamesAStateFolderThatCannotBeWritten) {
  options_.state = "/proc/none/state";
  const auto result = RunCampaign(options_, stop_, [](const std::string&) {});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error(), testing::HasSubstr("/proc/none"));
}

TEST_F(CampaignTest, RefusesTotalsThatAreNone) {
  ASSERT_TRUE(StoreFile(options_.state / "totals.json", Bytes{'{', '}', '!'}));
  const auto result = RunCampaign(options_, stop_, [](const std::string&) {});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error(), testing::HasSubstr("totals.json"));
}

class ForeignTest : public CampaignTest {
 protected:
  ForeignTest() {
    run_.source_dir = WEIGHTPROOF_SOURCE_DIR;
    run_.build_dir = root_ / "build";
    foreign_.state = root_ / "trigger";
    foreign_.seconds = 4;
    foreign_.batch = 64;
    foreign_.interval_seconds = 1;
  }
  void Drive(const std::string& command) {
    run_.driver_command = command;
    auto targets = conformance::SelectTargets(conformance::WithDefaults(run_));
    ASSERT_TRUE(targets.has_value());
    foreign_.implementation = targets->front();
  }
  std::expected<ForeignResult, std::string> Fuzz() {
    auto result =
        FuzzForeign(foreign_, stop_, [this](const std::string& line) {
          StopAtAFinding(line);
        });
    stop_ = false;
    return result;
  }
  static std::string Hostile(const std::string& mode) {
    return fs::path(WEIGHTPROOF_BINARY_DIR) / "bin" /
           ("hostile_driver " + mode);
  }
  conformance::RunOptions run_;
  ForeignOptions foreign_;
};

TEST_F(ForeignTest, FindsWhatAToyReaderBreaksAndReproducesIt) {
  Drive("python3 " WEIGHTPROOF_SOURCE_DIR "/conformance/examples/toy_gguf.py");
  foreign_.seconds = 300;
  stop_at_a_finding_ = true;
  const auto result = Fuzz();
  ASSERT_TRUE(result.has_value()) << result.error();
  ASSERT_GT(result->findings, 0u);
  EXPECT_GT(result->statistics.executions, 0u);
  const auto store = FindingStore::Open(foreign_.state / "findings");
  ASSERT_TRUE(store.has_value());
  const StoredFinding found = store->List().front();
  const auto input = LoadInput(found.file);
  ASSERT_TRUE(input.has_value());
  const auto row = JudgeInput(foreign_.implementation, *FindTarget("gguf_diff"),
                              *input, root_ / "scratch", stop_);
  ASSERT_TRUE(row.has_value()) << row.error();
  EXPECT_EQ(row->outcome, conformance::Outcome::kFail);
  EXPECT_EQ(row->rule, found.finding.rule);
}

TEST_F(ForeignTest, TakesWhateverADriverDoes) {
  for (const char* mode : {"garbage", "partial", "wrong-id", "lies", "exit",
                           "segv", "close-output", "flips", "hang-cpu"}) {
    Drive(Hostile(mode));
    foreign_.state = root_ / mode / "trigger";
    foreign_.seconds = 2;
    foreign_.batch = 8;
    const auto result = Fuzz();
    ASSERT_TRUE(result.has_value()) << mode << ": " << result.error();
    // Those that are silent are asked again alone, until the time is over.
    const bool silent = mode == std::string_view("close-output") ||
                        mode == std::string_view("hang-cpu");
    EXPECT_TRUE(silent || result->statistics.executions > 0) << mode;
  }
}

TEST_F(ForeignTest, SaysThatADriverIsUnusable) {
  Drive("/no/such/driver");
  EXPECT_FALSE(Fuzz().has_value());
  Drive("true");
  EXPECT_FALSE(Fuzz().has_value());
}

}  // namespace
}  // namespace weightproof::fuzzers
