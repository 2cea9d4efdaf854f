#include "fuzzers/proof/kill_matrix.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "fuzzers/q8_0/oracle.h"
#include "impls/registry.h"

namespace weightproof::fuzzers {
namespace {

using Reports = std::vector<CaseReport>;

std::string_view FormatOf(const wp_implementation& implementation) {
  return implementation.gguf_parse != nullptr ? "gguf" : "q8_0";
}

// Kernels that this machine cannot run say so for the empty row.
bool RunsHere(const wp_implementation& implementation) {
  if (implementation.q8_0_quantize == nullptr) return true;
  Q80Case nothing;
  nothing.n = 0;
  return AskQ80(implementation, nullptr, nothing).offered;
}

class OneLayer {
 public:
  OneLayer(const Layer& layer, LayerRow& row, const KillProgress& progress)
      : layer_(layer), row_(row), progress_(progress) {}

  void Run(std::vector<MutantRow>& mutants) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < mutants.size(); ++i) {
      progress_(layer_.name(), mutants[i].mutant.name, i, mutants.size());
      RunOne(mutants[i]);
    }
    row_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
  }

 private:
  // The cases that count for an implementation.
  struct Sound {
    std::vector<std::size_t> cases;
    std::string not_run;  // why there are none
    bool emulated = false;
  };

  const Sound& SoundOf(const wp_implementation& built_in,
                       const Mutant& mutant) {
    const auto known = sound_.find(built_in.name);
    if (known != sound_.end()) return known->second;
    progress_(layer_.name(), "", 0, 0);
    Sound& sound = sound_[built_in.name];
    sound.emulated = !RunsHere(built_in);
    const wp_implementation* const emulated =
        sound.emulated ? OpenEmulatedOriginal(mutant) : nullptr;
    if (sound.emulated && emulated == nullptr) {
      sound.not_run = "this machine lacks the instructions of " +
                      std::string(built_in.name) +
                      ", and a compiler or an emulator for them";
      return sound;
    }
    const wp_implementation& original = sound.emulated ? *emulated : built_in;
    const auto cases = layer_.CasesOf(FormatOf(original));
    GuardOptions guard = layer_.Guard();
    const Reports reports = RunGuarded(
        cases.size(),
        [&](std::size_t i) { return layer_.Check(cases[i], original); }, guard);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (reports[i].state == CaseReport::kPassed) {
        sound.cases.push_back(cases[i]);
      } else if (reports[i].state == CaseReport::kNotRun) {
        sound.not_run = reports[i].what;
      } else {
        row_.unsound.push_back(std::string(original.name) + ": " +
                               layer_.NameOf(cases[i]) + ": " +
                               reports[i].what);
      }
    }
    row_.cases += sound.cases.size();
    return sound;
  }

  void RunOne(MutantRow& row) {
    const wp_implementation* const original =
        impls::FindBuiltIn(row.mutant.implementation);
    if (original == nullptr) {
      row.why = "there is no implementation " + row.mutant.implementation;
      return;
    }
    const Sound& sound = SoundOf(*original, row.mutant);
    if (sound.cases.empty()) {
      row.why = sound.not_run;
      return;
    }
    row.ran = true;
    Kill& kill = row.kills[std::string(layer_.name())];
    GuardOptions guard = layer_.Guard();
    guard.stop_at_bad = !layer_.WantsEveryKill();
    const wp_implementation* opened = nullptr;  // in the child
    const Reports reports = RunGuarded(
        sound.cases.size(),
        [&](std::size_t i) -> CaseReport {
          if (opened == nullptr && sound.emulated) {
            opened = OpenEmulatedMutant(row.mutant);
            if (opened == nullptr) {
              return {CaseReport::kNotRun, "not built for the emulator"};
            }
          } else if (opened == nullptr) {
            const auto mutant = OpenMutant(row.mutant);
            if (!mutant) return {CaseReport::kNotRun, mutant.error()};
            opened = *mutant;
          }
          return layer_.Check(sound.cases[i], *opened);
        },
        guard);
    Take(sound, reports, row, kill);
  }

  void Take(const Sound& sound, const Reports& reports, MutantRow& row,
            Kill& kill) {
    std::set<std::string> all;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      if (reports[i].state == CaseReport::kNotRun) row.why = reports[i].what;
      if (!reports[i].Bad()) continue;
      const std::string by = layer_.NameOf(sound.cases[i]);
      if (!kill.killed) {
        kill.killed = true;
        kill.by = by;
        kill.what = reports[i].what;
      }
      if (layer_.WantsEveryKill()) all.insert(by);
    }
    // The object did not load.
    if (!kill.killed && !row.why.empty()) row.ran = false;
    kill.all.assign(all.begin(), all.end());
  }

  const Layer& layer_;
  LayerRow& row_;
  const KillProgress& progress_;
  std::map<std::string, Sound> sound_;
};

}  // namespace

std::size_t KillMatrix::Ran() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(mutants, &MutantRow::ran));
}

std::size_t KillMatrix::Killed(const std::string& layer) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(mutants, [&layer](const MutantRow& row) {
        const auto kill = row.kills.find(layer);
        return row.ran && kill != row.kills.end() && kill->second.killed;
      }));
}

KillMatrix RunKillMatrix(const std::vector<Mutant>& mutants,
                         const std::vector<std::unique_ptr<Layer>>& layers,
                         const KillProgress& progress) {
  KillMatrix matrix;
  for (const Mutant& mutant : mutants) {
    matrix.mutants.push_back({mutant, false, "", {}});
  }
  for (const auto& layer : layers) {
    LayerRow row;
    row.name = layer->name();
    OneLayer(*layer, row, progress).Run(matrix.mutants);
    matrix.layers.push_back(std::move(row));
  }
  return matrix;
}

std::vector<std::string> IdleVectors(const KillMatrix& matrix,
                                     const conformance::VectorSet& set) {
  const bool asked = std::ranges::any_of(
      matrix.layers, [](const LayerRow& row) { return row.name == "vectors"; });
  if (!asked) return {};
  std::set<std::string> killers;
  for (const MutantRow& row : matrix.mutants) {
    const auto kill = row.kills.find("vectors");
    if (kill == row.kills.end()) continue;
    killers.insert(kill->second.all.begin(), kill->second.all.end());
  }
  std::map<std::string, int> of_rule;
  for (const auto& vector : set.vectors) ++of_rule[vector.rule];
  std::vector<std::string> idle;
  for (const auto& vector : set.vectors) {
    const bool in_process = vector.operation != "gguf.write";
    if (in_process && !killers.contains(vector.id) &&
        of_rule[vector.rule] > 1) {
      idle.push_back(vector.id);
    }
  }
  return idle;
}

}  // namespace weightproof::fuzzers
