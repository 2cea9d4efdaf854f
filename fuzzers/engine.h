// The engine that needs no instrumentation: it keeps inputs that show a new
// behaviour and mutates those. Runs in the caller's process; a crash of an
// implementation is the caller's (see campaign.h for the guarded form).
#ifndef WEIGHTPROOF_FUZZERS_ENGINE_H_
#define WEIGHTPROOF_FUZZERS_ENGINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "fuzzers/target.h"

namespace weightproof::fuzzers {

// Totals of any number of runs.
struct Statistics {
  std::uint64_t executions = 0;
  std::uint64_t accepted = 0;
  std::map<std::string, std::uint64_t, std::less<>> refused;  // by stage
  std::map<std::string, std::uint64_t, std::less<>> known;    // by rule

  void Count(const Execution& execution);
  void Add(const Statistics& other);
};

struct EngineOptions {
  std::uint64_t seed = 1;
  std::uint64_t executions = UINT64_MAX;  // stop after so many
  bool stop_at_finding = false;
  std::size_t max_pool = 8192;  // inputs kept; the oldest go first
};

struct EngineEvents {
  // Before each execution. The bytes are those about to be run.
  std::function<void(ByteSpan)> before;
  // After each; false ends the run.
  std::function<bool(const Execution&)> after;
  // An input with a new behaviour.
  std::function<void(ByteSpan)> on_new;
  // A finding, each bucket once per engine.
  std::function<void(const Finding&, ByteSpan)> on_finding;
};

class Engine {
 public:
  Engine(const Target& target, Subjects subjects, EngineOptions options,
         EngineEvents events = {});

  // Runs an input as it is, and keeps it if it shows something new.
  void Feed(ByteSpan input);
  // Generates and mutates until something in the options or the events ends
  // it.
  void Run();

  const Statistics& statistics() const { return statistics_; }
  std::size_t pool_size() const { return pool_.size(); }

 private:
  void Execute(ByteSpan input);
  Bytes NextInput();

  const Target& target_;
  Subjects subjects_;
  EngineOptions options_;
  EngineEvents events_;
  Random random_;
  std::vector<Bytes> pool_;
  std::size_t oldest_ = 0;
  std::unordered_set<std::uint64_t> features_;
  std::set<std::string> buckets_;
  Statistics statistics_;
  bool stopped_ = false;
};

// The first finding of a run from an empty corpus: what the fuzz layer of the
// mutants asks. Deterministic in seed and executions.
struct Hunted {
  Finding finding;
  Bytes input;
  std::uint64_t executions = 0;
};
std::optional<Hunted> Hunt(const Target& target, const Subjects& subjects,
                           std::uint64_t seed, std::uint64_t executions);

// A smaller input for which still(input) is true: halves, runs and single
// bytes are taken out and the rest simplified. Asks at most max_tries times.
// Calls still with smaller or simpler inputs only; input itself must satisfy
// it.
Bytes Minimise(ByteSpan input, const std::function<bool(ByteSpan)>& still,
               std::uint64_t max_tries = 2000);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_ENGINE_H_
