// Fuzzing one target for a while: jobs in processes of their own, restarted
// when an implementation takes them down, their findings confirmed, minimised
// and stored as they come. Whatever ends the run, the next one goes on.
#ifndef WEIGHTPROOF_FUZZERS_CAMPAIGN_H_
#define WEIGHTPROOF_FUZZERS_CAMPAIGN_H_

#include <atomic>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <string>

#include "fuzzers/totals.h"

namespace weightproof::fuzzers {

struct CampaignOptions {
  std::string target;              // "gguf_diff"
  std::string engine = "builtin";  // builtin, libfuzzer, afl
  std::filesystem::path programs;  // where fuzz_TARGET is
  // Where libfuzzer_TARGET or afl_TARGET is.
  std::filesystem::path engine_programs;
  std::filesystem::path afl_mutator;  // its custom mutator; may be empty
  std::filesystem::path dictionary;   // for libFuzzer and AFL++; may be empty
  std::filesystem::path state;
  std::filesystem::path seeds;  // copied to an empty corpus; may be empty
  std::uint64_t seconds = 60;
  std::uint64_t seed = 1;
  int jobs = 1;
  double interval_seconds = 10;  // between two lines of statistics
  std::string commit = "unknown";
  // Instead of the target's own subjects: a built-in implementation, "canary",
  // or the path of a shared object.
  std::string tested;
};

struct CampaignResult {
  Statistics statistics;  // of this run
  double seconds = 0;     // that it took
  Totals totals;          // of all runs
  std::size_t new_findings = 0;
  std::size_t findings = 0;
  bool interrupted = false;
};

// line gets one line of statistics per interval, and one per finding. A set
// stop flag ends the run at once, with everything on disk. The error names
// what cannot be had: a program, the state folder, room on the disk.
std::expected<CampaignResult, std::string> RunCampaign(
    const CampaignOptions& options, const std::atomic<bool>& stop,
    const std::function<void(const std::string&)>& line);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_CAMPAIGN_H_
