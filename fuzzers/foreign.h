// Fuzzing an implementation that is only reached by its driver: no
// instrumentation, the judge of conformance as the oracle, and novelty of
// behaviour in the place of coverage.
#ifndef WEIGHTPROOF_FUZZERS_FOREIGN_H_
#define WEIGHTPROOF_FUZZERS_FOREIGN_H_

#include <atomic>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "conformance/run_target.h"
#include "fuzzers/target.h"
#include "fuzzers/totals.h"

namespace weightproof::fuzzers {

struct ForeignOptions {
  conformance::Target implementation;  // from SelectTargets
  std::string implementation_name;     // as the repro line names it
  std::string target = "gguf_diff";    // whose inputs it is given
  std::filesystem::path state;
  std::uint64_t seconds = 60;
  std::uint64_t seed = 1;
  std::size_t batch = 256;  // inputs between two sessions
  double interval_seconds = 10;
  std::string commit = "unknown";
  std::string today;  // "2026-11-30", for overdue deviations
};

struct ForeignResult {
  Statistics statistics;
  Totals totals;
  std::size_t new_findings = 0, findings = 0;
  // Rules under which the implementation's known deviations were met, in this
  // run and those before, of all rules in its list that show in single files.
  std::set<std::string> known_met, known_all;
  bool interrupted = false;
};

// Runs until the time is over or stop is set. Findings are minimised and
// written as they come, to STATE/findings; one example of each known deviation
// to STATE/known. The error says that the driver is unusable or what could not
// be written.
std::expected<ForeignResult, std::string> FuzzForeign(
    const ForeignOptions& options, const std::atomic<bool>& stop,
    const std::function<void(const std::string&)>& line);

// One input, in a fresh process, judged: the row of a report, its rule the one
// that the input is found to be about.
std::expected<conformance::Row, std::string> JudgeInput(
    const conformance::Target& implementation, const Target& target,
    ByteSpan input, const std::filesystem::path& scratch,
    const std::atomic<bool>& stop);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_FOREIGN_H_
