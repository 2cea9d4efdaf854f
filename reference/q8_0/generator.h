// Bulk inputs that are drawn, not stored: the same bytes everywhere.
//
// The generator is s = s * 6364136223846793005 + 1442695040888963407 mod 2^64,
// next() = s >> 33, s starting at the seed.
#ifndef WEIGHTPROOF_REFERENCE_Q8_0_GENERATOR_H_
#define WEIGHTPROOF_REFERENCE_Q8_0_GENERATOR_H_

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace weightproof::q8_0 {

// What a vector writes as {"gen":{"seed":S,"draw":D,"blocks":N}}, with
// "after" and "after_blocks" where something else is drawn first and dropped.
//
// draw, f32 values, 128 bytes a block:
//   "U"  uniform: ((r >> 7) - 2^23) 2^-21
//   "B"  bf16 values: sign r & 1, exponent field 118 + (r >> 1) mod 10, top 7
//        mantissa bits (r >> 20) & 127
//   "H"  halves: (r mod 509 - 254) / 2; element 0 is 127 (its r is dropped)
//   "W"  wide: per block e = 40 + r mod 100, then per element sign r & 1,
//        exponent field e + (r >> 1) mod 8, mantissa next() & 7FFFFF
// draw, Q8_0 blocks, 34 bytes a block; r = next(), d, then 32 codes:
//   "m"  d = 2800h + r mod 1400h; codes next() mod 255 - 127
//   "s"  the same with sign (r >> 20) & 1
//   "w"  d = 1 + r mod 7BFFh
//   "f"  d as "m"; codes the low byte of next() mod 256
// draw, f16 patterns, 64 bytes a block:
//   "h"  0000, 0001, .. ffff and again, 32 a block; the seed does not matter
struct GeneratorSpec {
  std::uint64_t seed = 0;
  char draw = 'U';
  std::uint64_t blocks = 0;
  char after = 0;  // 0: nothing is drawn first
  std::uint64_t after_blocks = 0;
  bool operator==(const GeneratorSpec&) const = default;
};

// Little-endian bytes. The error says what is wrong with the request: an
// unknown letter, or more than kMaxGeneratedBlocks blocks in all.
inline constexpr std::uint64_t kMaxGeneratedBlocks = 1u << 22;
std::expected<std::vector<std::uint8_t>, std::string> ExpandGenerator(
    const GeneratorSpec& spec);

}  // namespace weightproof::q8_0

#endif  // WEIGHTPROOF_REFERENCE_Q8_0_GENERATOR_H_
