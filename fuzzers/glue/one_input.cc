// A target for engines that bring their own main: libFuzzer, AFL++, and any
// other that calls LLVMFuzzerTestOneInput.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "fuzzers/guarded.h"
#include "fuzzers/shared_statistics.h"
#include "fuzzers/target.h"

namespace {

using namespace weightproof::fuzzers;

// What campaign.h takes for a program that cannot run at all.
constexpr int kNothingToTest = 127;

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

// The target's own subjects, or the one that the environment names.
Subjects TheSubjects() {
  Subjects subjects = TheTarget().subjects();
  const char* tested = std::getenv("WEIGHTPROOF_FUZZ_TESTED");
  if (tested == nullptr) return subjects;
  const auto opened = OpenImplementation(tested);
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().c_str());
    std::_Exit(kNothingToTest);
  }
  subjects.tested = {*opened};
  return subjects;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const Subjects subjects = TheSubjects();
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
