// Cases that may crash, hang or eat memory, run in processes of their own.
#ifndef WEIGHTPROOF_FUZZERS_PROOF_GUARDED_H_
#define WEIGHTPROOF_FUZZERS_PROOF_GUARDED_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weightproof::fuzzers {

struct CaseReport {
  enum State : std::uint8_t {
    kNotReached,  // an earlier case ended the run
    kPassed,
    kFailed,
    kNotRun,  // the machine cannot
    kCrashed,
    kHung,
  };
  State state = kNotReached;
  std::string what;  // of a failure, a crash or a case not run

  bool Bad() const {
    return state == kFailed || state == kCrashed || state == kHung;
  }
};

struct GuardOptions {
  int cpu_seconds = 5;     // of one case, or between two calls of StillAlive
  int wall_seconds = 120;  // likewise
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // beyond what is there
  bool stop_at_bad = false;  // the first failure, crash or hang is enough
};

// Runs cases 0 .. count - 1 in a forked process; after a death the next
// process goes on with the case behind. run never outlives its process: what
// it changes is lost, and what the caller prepared is there. Standard error
// of the cases is discarded. Reports come back in order.
std::vector<CaseReport> RunGuarded(
    std::size_t count, const std::function<CaseReport(std::size_t)>& run,
    const GuardOptions& options);

// For long cases: starts the clocks of the running case anew.
void StillAlive();

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_PROOF_GUARDED_H_
