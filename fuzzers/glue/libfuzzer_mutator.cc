// The format's own mutation for libFuzzer, beside libFuzzer's, which knows
// what the program compared its input with.
#include <algorithm>
#include <cstdint>

#include "fuzzers/target.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t max_size);

namespace {

using namespace weightproof::fuzzers;

std::size_t Put(const Bytes& bytes, std::uint8_t* data, std::size_t max_size) {
  const std::size_t size = std::min(bytes.size(), max_size);
  std::copy_n(bytes.begin(), size, data);
  return size;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                               std::size_t size,
                                               std::size_t max_size,
                                               unsigned int seed) {
  static const Target& target = *FindTarget(WEIGHTPROOF_FUZZ_TARGET);
  Random random(seed);
  if (target.mutate == MutateBytes || random.OneIn(2)) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  return Put(target.mutate({data, size}, random, max_size), data, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(
    const std::uint8_t* data1, std::size_t size1, const std::uint8_t* data2,
    std::size_t size2, std::uint8_t* out, std::size_t max_size,
    unsigned int seed) {
  static const Target& target = *FindTarget(WEIGHTPROOF_FUZZ_TARGET);
  Random random(seed);
  return Put(target.cross({data1, size1}, {data2, size2}, random, max_size),
             out, max_size);
}
