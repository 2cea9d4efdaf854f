// The kill matrix, on a few mutants and cases that misbehave in every way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <new>
#include <set>

#include "build_paths.h"
#include "conformance/vector.h"
#include "fuzzers/proof/kill_matrix.h"
#include "impls/emulated/emulated.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Guarded, GoesOnAfterEveryKindOfDeath) {
  GuardOptions options;
  options.cpu_seconds = 1;
  options.memory_bytes = 256 << 20;
  const auto run = [](std::size_t i) -> CaseReport {
    switch (i) {
      case 1:
        return {CaseReport::kFailed, "wrong"};
      case 2:
        std::raise(SIGSEGV);
        break;
      case 3:
        std::abort();
        break;
      case 4:
        _exit(0);
        break;
      case 5:
        for (const volatile bool forever = true; forever;) {
        }
        break;
      case 6:
        throw std::bad_alloc();
        break;
      case 7:
        return {CaseReport::kNotRun, "no such instructions"};
      default:
        break;
    }
    return {CaseReport::kPassed, ""};
  };
  const auto reports = RunGuarded(9, run, options);
  std::vector<int> states;
  for (const CaseReport& report : reports) states.push_back(report.state);
  EXPECT_THAT(states, ElementsAre(CaseReport::kPassed, CaseReport::kFailed,
                                  CaseReport::kCrashed, CaseReport::kCrashed,
                                  CaseReport::kCrashed, CaseReport::kHung,
                                  CaseReport::kCrashed, CaseReport::kNotRun,
                                  CaseReport::kPassed));
  EXPECT_EQ(reports[1].what, "wrong");
  EXPECT_EQ(reports[4].what, "ended the process");
}

TEST(Guarded, StopsAtTheFirstIfAsked) {
  GuardOptions options;
  options.stop_at_bad = true;
  for (const bool dies : {false, true}) {
    const auto reports = RunGuarded(
        4,
        [dies](std::size_t i) -> CaseReport {
          if (i != 1) return {CaseReport::kPassed, ""};
          if (dies) std::abort();
          return {CaseReport::kFailed, ""};
        },
        options);
    EXPECT_TRUE(reports[1].Bad());
    EXPECT_EQ(reports[2].state, CaseReport::kNotReached);
    EXPECT_FALSE(reports[3].Bad());
  }
}

TEST(Guarded, HoldsAgainstHungerForMemory) {
  GuardOptions options;
  options.memory_bytes = 64 << 20;
  const auto reports = RunGuarded(
      1,
      [](std::size_t) -> CaseReport {
        const std::string much(std::size_t{1} << 30, 'x');
        return {CaseReport::kPassed, much.substr(0, 1)};
      },
      options);
  EXPECT_EQ(reports[0].state, CaseReport::kCrashed);
}

std::vector<Mutant> SomeMutants(const std::vector<std::string>& names) {
  const auto all =
      LoadMutants(fs::path(WEIGHTPROOF_BINARY_DIR) / "lib/mutants");
  EXPECT_TRUE(all.has_value()) << all.error();
  std::vector<Mutant> some;
  for (const Mutant& mutant : *all) {
    if (std::ranges::find(names, mutant.name) != names.end()) {
      some.push_back(mutant);
    }
  }
  EXPECT_EQ(some.size(), names.size());
  return some;
}

const conformance::VectorSet& Committed() {
  static const auto kSet =
      conformance::LoadVectors(WEIGHTPROOF_SOURCE_DIR "/conformance/vectors");
  return *kSet;
}

TEST(KillMatrix, NamesTheVectorsThatKill) {
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(std::move(*MakeVectorLayer(Committed())));
  // One that reads wrongly, one that crashes, one of the kernels.
  const KillMatrix matrix =
      RunKillMatrix(SomeMutants({"canary", "gguf_dim_zero_divides",
                                 "q8_0_scalar_half_added"}),
                    layers, [](auto, auto, auto, auto) {});
  EXPECT_EQ(matrix.Ran(), 3u);
  EXPECT_EQ(matrix.Killed("vectors"), 3u);
  EXPECT_THAT(matrix.layers.at(0).unsound, ElementsAre());
  EXPECT_GT(matrix.layers.at(0).cases, 2000u);
  const auto json = ToJson(matrix, Committed());
  const auto& crash = json.at("mutants").at(1);
  EXPECT_EQ(crash.at("name"), "gguf_dim_zero_divides");
#if defined(__x86_64__)  // others divide by zero without a word
  EXPECT_THAT(crash.at("killing").at("vectors").at("what"),
              HasSubstr("loating point"));
#endif
  EXPECT_EQ(crash.at("killed_by").at("vectors"), true);
  EXPECT_TRUE(crash.at("killed_by").at("fuzzing").is_null());
  EXPECT_FALSE(json.at("vectors").empty());
  EXPECT_FALSE(json.at("idle_vectors").empty());
  EXPECT_THAT(ToText(matrix), HasSubstr("killed 3/3 = 100.0 %"));
}

TEST(KillMatrix, EveryMutantIsKilledByAVectorOfItsRule) {
  const auto mutants =
      LoadMutants(fs::path(WEIGHTPROOF_BINARY_DIR) / "lib/mutants");
  ASSERT_TRUE(mutants.has_value()) << mutants.error();
  std::map<std::string, std::string> rule_of;
  for (const auto& vector : Committed().vectors) {
    rule_of[vector.id] = vector.rule;
  }
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(std::move(*MakeVectorLayer(Committed())));
  const KillMatrix matrix =
      RunKillMatrix(*mutants, layers, [](auto, auto, auto, auto) {});
  EXPECT_GE(matrix.Ran(), 75u);
  EXPECT_THAT(matrix.layers.at(0).unsound, ElementsAre());
  for (const MutantRow& row : matrix.mutants) {
    if (!row.ran) {
      std::printf("NOT RUN: %s: %s\n", row.mutant.name.c_str(),
                  row.why.c_str());
      continue;
    }
    std::set<std::string> rules;
    for (const std::string& id : row.kills.at("vectors").all) {
      rules.insert(rule_of[id]);
    }
    EXPECT_TRUE(rules.contains(row.mutant.rule))
        << row.mutant.name << " is not killed by a vector of "
        << row.mutant.rule << " but by those of "
        << ::testing::PrintToString(rules);
  }
}

// A layer whose only case fails for everybody.
class Unsound : public Layer {
 public:
  std::string_view name() const override { return "replay"; }
  std::vector<std::size_t> CasesOf(std::string_view) const override {
    return {0, 1};
  }
  std::string NameOf(std::size_t i) const override {
    return i == 0 ? "broken" : "fine";
  }
  CaseReport Check(std::size_t i, const wp_implementation&) const override {
    return {i == 0 ? CaseReport::kFailed : CaseReport::kPassed, "whatever"};
  }
};

TEST(KillMatrix, CountsNoKillThatTheUnmutatedSourceSuffersToo) {
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(std::make_unique<Unsound>());
  const KillMatrix matrix = RunKillMatrix(SomeMutants({"canary"}), layers,
                                          [](auto, auto, auto, auto) {});
  EXPECT_EQ(matrix.Killed("replay"), 0u);
  ASSERT_EQ(matrix.layers.at(0).unsound.size(), 1u);
  EXPECT_THAT(matrix.layers.at(0).unsound[0], HasSubstr("broken"));
}

TEST(KillMatrix, ListsWhatTheMachineCannotRun) {
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(std::make_unique<Unsound>());
  auto mutants = SomeMutants({"q8_0_neon_ties_to_even"});
  mutants.at(0).emulated.clear();
  const KillMatrix matrix =
      RunKillMatrix(mutants, layers, [](auto, auto, auto, auto) {});
#if defined(__x86_64__)
  EXPECT_EQ(matrix.Ran(), 0u);
  EXPECT_THAT(matrix.mutants.at(0).why, HasSubstr("lacks"));
  EXPECT_THAT(ToText(matrix), HasSubstr("NOT RUN"));
#endif
}

// Either there is a compiler and an emulator, and then the bug is seen through
// them, or it is said that there are none.
TEST(KillMatrix, RunsInstructionsThatTheMachineLacksUnderAnEmulator) {
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(std::move(*MakeVectorLayer(Committed())));
  const auto mutants = SomeMutants({"q8_0_neon_ties_to_even"});
  const KillMatrix matrix =
      RunKillMatrix(mutants, layers, [](auto, auto, auto, auto) {});
  EXPECT_THAT(matrix.layers.at(0).unsound, ElementsAre());
  if (matrix.Ran() == 0) {
    std::printf("NOT RUN: %s\n", matrix.mutants.at(0).why.c_str());
    EXPECT_TRUE(mutants.at(0).emulated.empty());
    return;
  }
  EXPECT_EQ(matrix.Killed("vectors"), 1u);
  EXPECT_GT(matrix.layers.at(0).cases, 200u);
}

TEST(Emulated, ADeadEmulatorIsACrashOfTheCase) {
  const auto reports = RunGuarded(
      1,
      [](std::size_t) -> CaseReport {
        const auto* table =
            impls::OpenEmulated(impls::EmulatedTable::kMutant,
                                {"/nonexistent/emulator", "program"});
        wp_answer answer{};
        table->q8_0_quantize(nullptr, nullptr, 0, 0, nullptr, &answer);
        return {CaseReport::kPassed, ""};
      },
      {});
  EXPECT_EQ(reports[0].state, CaseReport::kCrashed);
  EXPECT_THAT(reports[0].what, HasSubstr("bort"));
}

TEST(Layers, FindAPlantedBugEach) {
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(std::move(*MakeReplayLayer("/nonexistent", Committed())));
  layers.push_back(std::move(*MakePropertyLayer()));
  layers.push_back(std::move(*MakeFuzzLayer(3000)));
  const KillMatrix matrix =
      RunKillMatrix(SomeMutants({"gguf_bool_any_byte"}), layers,
                    [](auto, auto, auto, auto) {});
  for (const char* layer : {"replay", "properties", "fuzzing"}) {
    EXPECT_EQ(matrix.Killed(layer), 1u) << layer;
  }
  for (const LayerRow& row : matrix.layers) {
    EXPECT_THAT(row.unsound, ElementsAre()) << row.name;
  }
}

TEST(Mutants, AFolderWithoutAnyIsAnError) {
  const fs::path dir =
      fs::path(::testing::TempDir()) / ("proof" + std::to_string(getpid()));
  EXPECT_FALSE(LoadMutants(dir / "missing").has_value());
  fs::create_directories(dir);
  EXPECT_THAT(LoadMutants(dir).error(), HasSubstr("no mutants"));
  std::ofstream(dir / "a.json") << "{";
  EXPECT_THAT(LoadMutants(dir).error(), HasSubstr("not a description"));
  std::ofstream(dir / "a.json") << "{\"name\":\"a\"}";
  EXPECT_THAT(LoadMutants(dir).error(), HasSubstr("not built"));
  fs::remove_all(dir);
}

}  // namespace
}  // namespace weightproof::fuzzers
