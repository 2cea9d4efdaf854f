// Test support: buffers that fault when overrun, and inputs.
#ifndef WEIGHTPROOF_IMPLS_CPU_Q8_0_TESTING_H_
#define WEIGHTPROOF_IMPLS_CPU_Q8_0_TESTING_H_

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "impls/abi.h"

namespace weightproof::impls {

using Image = std::vector<std::uint8_t>;

// size bytes between two pages that fault. Ends at the upper page, or begins
// at the lower one. Filled with A5.
class Guarded {
 public:
  enum class Side { kEnd, kBegin };
  Guarded(std::size_t size, Side side);
  Guarded(std::span<const std::uint8_t> content, Side side);
  ~Guarded();
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  std::uint8_t* data() { return data_; }
  Image Content() const { return {data_, data_ + size_}; }
  template <typename T>
  T* As() {
    return reinterpret_cast<T*>(data_);
  }

 private:
  void* map_ = nullptr;
  std::size_t map_size_ = 0;
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

// An output of size bytes at an odd address, poisoned, with 64 bytes of poison
// on both sides.
class Poisoned {
 public:
  explicit Poisoned(std::size_t size);
  std::uint8_t* data() { return bytes_.data() + kMargin; }
  template <typename T>
  T* As() {
    return reinterpret_cast<T*>(data());
  }
  Image Content() const;
  bool MarginsIntact() const;
  bool Untouched() const;

 private:
  static constexpr std::size_t kMargin = 65;
  std::size_t size_;
  Image bytes_;
};

// The seed of this run: WEIGHTPROOF_SEED, or one of its own; printed once.
std::uint64_t TestSeed();

// Finite f32 images of blocks: zeros, ties, ramps, runs, wide and tiny
// magnitudes, random bits. kind counts up to kFloatKinds.
inline constexpr int kFloatKinds = 15;
Image FloatBlocks(int kind, std::uint64_t blocks, std::mt19937_64& random);

// Q8_0 images: all codes with -128, alternating extremes, zeros, negative,
// subnormal and (kind 7) infinite or NaN scales.
inline constexpr int kBlockKinds = 10;
Image Q80Blocks(int kind, std::uint64_t blocks, std::mt19937_64& random);

// A cleared answer.
wp_answer Fresh();

// Every numeric implementation of impls/cpu, and the trusted operations. The
// registry is not asked, so that the tests build for other processors without
// the rest of the rooms.
std::vector<const wp_implementation*> NumericImplementations();
const wp_implementation& NumericReference();

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_Q8_0_TESTING_H_
