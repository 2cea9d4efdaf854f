// What all runs of a campaign add up to, in its state folder.
//
//   STATE/corpus/        inputs worth keeping
//   STATE/findings/      one input and one sidecar per bucket
//   STATE/totals.json    sums over all runs
//   STATE/jobs/          counters of the jobs that are running, or were when
//                        the last run was killed
//   STATE/log/           what the jobs printed
#ifndef WEIGHTPROOF_FUZZERS_TOTALS_H_
#define WEIGHTPROOF_FUZZERS_TOTALS_H_

#include <expected>
#include <filesystem>
#include <string>

#include "fuzzers/engine.h"

namespace weightproof::fuzzers {

struct Totals {
  std::uint64_t runs = 0;
  double seconds = 0;  // of all jobs together
  Statistics statistics;
};

// Zeros if there is no file yet. The error names a file that is not one.
std::expected<Totals, std::string> LoadTotals(
    const std::filesystem::path& state);
std::expected<void, std::string> StoreTotals(const std::filesystem::path& state,
                                             const Totals& totals);

// Adds the counters under STATE/jobs to the totals and removes them: at the
// end of a run, and before a run for what a killed one left. Each is counted
// once, wherever the process ends.
std::expected<Totals, std::string> FoldJobs(const std::filesystem::path& state,
                                            const Totals& add = {});

// "executions 1200 (100/s), accepted 31.2 %, refused kv 40.1 % data 28.7 %".
std::string Describe(const Statistics& statistics, double seconds);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_TOTALS_H_
