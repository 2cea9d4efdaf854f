#include "fuzzers/allocation.h"

#include <algorithm>

namespace weightproof::fuzzers {
namespace {

struct Counter {
  bool on = false;
  std::int64_t now = 0;
  std::int64_t peak = 0;
};
thread_local constinit Counter counter;

}  // namespace

namespace allocation {

constinit bool hooked = false;

void OnAllocate(std::uint64_t size) {
  if (!counter.on) return;
  counter.now += static_cast<std::int64_t>(size);
  counter.peak = std::max(counter.peak, counter.now);
}

void OnFree(std::uint64_t size) {
  if (counter.on) counter.now -= static_cast<std::int64_t>(size);
}

}  // namespace allocation

AllocationMeter::AllocationMeter() { counter = {true, 0, 0}; }
AllocationMeter::~AllocationMeter() { counter.on = false; }

std::uint64_t AllocationMeter::peak() const {
  return static_cast<std::uint64_t>(counter.peak);
}

bool AllocationMeter::Available() { return allocation::hooked; }

}  // namespace weightproof::fuzzers
