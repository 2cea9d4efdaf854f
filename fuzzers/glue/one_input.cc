// A target for engines that bring their own main: libFuzzer, AFL++, and any
// other that calls LLVMFuzzerTestOneInput.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "fuzzers/shared_statistics.h"
#include "fuzzers/target.h"

namespace {

using namespace weightproof::fuzzers;

const Target& TheTarget() {
  static const Target* const target = FindTarget(WEIGHTPROOF_FUZZ_TARGET);
  if (target == nullptr) std::abort();
  return *target;
}

// Counters for whoever watches, in the file that the environment names.
SharedStatistics* Counters() {
  static std::optional<SharedStatistics> counters = [] {
    std::optional<SharedStatistics> out;
    const char* path = std::getenv("WEIGHTPROOF_FUZZ_STATISTICS");
    if (path == nullptr) return out;
    auto opened = SharedStatistics::Open(path);
    if (opened) out = std::move(*opened);
    return out;
  }();
  return counters ? &*counters : nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const Subjects subjects = TheTarget().subjects();
  const Execution execution =
      TheTarget().run(subjects, {data, size}, Depth::kSampled);
  if (SharedStatistics* counters = Counters()) counters->Count(execution);
  if (execution.finding) {
    std::fprintf(stderr, "FINDING %s\n  %s\n",
                 BucketOf(*execution.finding).c_str(),
                 execution.finding->description.c_str());
    std::abort();
  }
  return 0;
}
