// Where choices come from: Entropy reads them from bytes that an engine made,
// Random draws them from a seed. Both are deterministic and never run out.
#ifndef WEIGHTPROOF_FUZZERS_ENTROPY_H_
#define WEIGHTPROOF_FUZZERS_ENTROPY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weightproof::fuzzers {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

// Choices read from bytes, front to back; zeros once they are used up. A
// generator that takes its choices from here is total: every input gives an
// output, the empty one the simplest.
class Entropy {
 public:
  explicit Entropy(ByteSpan bytes) : left_(bytes) {}

  bool empty() const { return left_.empty(); }
  std::size_t size() const { return left_.size(); }

  // The next width (at most 8) bytes as a little-endian number.
  std::uint64_t Number(std::size_t width) {
    std::uint64_t value = 0;
    const std::size_t have = std::min(width, left_.size());
    for (std::size_t i = 0; i < have; ++i) {
      value |= std::uint64_t{left_[i]} << (8 * i);
    }
    left_ = left_.subspan(have);
    return value;
  }
  std::uint8_t Byte() { return static_cast<std::uint8_t>(Number(1)); }
  // 0 .. bound - 1; 0 if bound is 0. Takes one byte for bounds up to 256.
  std::uint64_t Below(std::uint64_t bound) {
    if (bound <= 1) return 0;
    return Number(bound <= 256 ? 1 : bound <= 65536 ? 2 : 8) % bound;
  }
  // True once in n; never once the bytes are used up.
  bool OneIn(std::uint64_t n) { return Below(n) == n - 1; }
  // Exactly count bytes, zeros where there are none left.
  Bytes Take(std::size_t count) {
    const std::size_t have = std::min(count, left_.size());
    Bytes out(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(have));
    out.resize(count);
    left_ = left_.subspan(have);
    return out;
  }

 private:
  ByteSpan left_;
};

// SplitMix64: the same sequence everywhere for one seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // 0 .. bound - 1; 0 if bound is 0.
  std::uint64_t Below(std::uint64_t bound) {
    return bound == 0 ? 0 : Next() % bound;
  }
  bool OneIn(std::uint64_t n) { return Below(n) == 0; }
  Bytes Take(std::size_t count) {
    Bytes out(count);
    for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(Next());
    return out;
  }

 private:
  std::uint64_t state_;
};

// A 64-bit hash for choices and buckets, not for security.
inline std::uint64_t HashBytes(ByteSpan bytes,
                               std::uint64_t seed = 0xcbf29ce484222325) {
  std::uint64_t hash = seed ^ bytes.size();
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    for (std::size_t k = 0; k < 8; ++k) {
      word |= std::uint64_t{bytes[i + k]} << (8 * k);
    }
    hash = (hash ^ word) * 0x9fb21c651e98df25;
    hash ^= hash >> 32;
  }
  for (; i < bytes.size(); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  return Random(hash).Next();
}

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_ENTROPY_H_
