// How much memory a call takes at most.
#ifndef WEIGHTPROOF_FUZZERS_ALLOCATION_H_
#define WEIGHTPROOF_FUZZERS_ALLOCATION_H_

#include <cstdint>

namespace weightproof::fuzzers {

// Counts what the calling thread allocates while it lives. Works where the
// program links wp_fuzz_allocation (allocation_hooks.cc); elsewhere peak() is
// 0. Not nested.
class AllocationMeter {
 public:
  AllocationMeter();
  ~AllocationMeter();
  AllocationMeter(const AllocationMeter&) = delete;
  AllocationMeter& operator=(const AllocationMeter&) = delete;

  // Most bytes alive at one time since the construction.
  std::uint64_t peak() const;

  static bool Available();
};

// For allocation_hooks.cc alone.
namespace allocation {
extern bool hooked;
void OnAllocate(std::uint64_t size);
void OnFree(std::uint64_t size);
}  // namespace allocation

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_ALLOCATION_H_
