// The two block layouts, read and written byte by byte.
//
//   Q8_0, 34 bytes: d (f16) | 32 x i8
//   Q8_1, 36 bytes: d (f16) | s (f16) | 32 x i8
//
// Both little-endian, back to back, without padding; a value is code times d.
#ifndef WEIGHTPROOF_REFERENCE_Q8_0_BLOCKS_H_
#define WEIGHTPROOF_REFERENCE_Q8_0_BLOCKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weightproof::q8_0 {

inline constexpr std::size_t kBlockValues = 32;
inline constexpr std::size_t kQ80Bytes = 34;
inline constexpr std::size_t kQ81Bytes = 36;

struct Block {
  std::uint16_t d = 0;  // f16 pattern
  std::uint16_t s = 0;  // f16 pattern; 0 for Q8_0
  std::array<std::int8_t, kBlockValues> q = {};
};

// bytes.size() is 34 (Q8_0) or 36 (Q8_1).
Block ReadQ80(std::span<const std::uint8_t> bytes);
Block ReadQ81(std::span<const std::uint8_t> bytes);
void WriteQ80(const Block& block, std::span<std::uint8_t> bytes);
void WriteQ81(const Block& block, std::span<std::uint8_t> bytes);

// f32 number i of a little-endian byte image; the image need not be aligned.
float ReadF32(std::span<const std::uint8_t> bytes, std::size_t i);
void WriteF32(float value, std::span<std::uint8_t> bytes, std::size_t i);

}  // namespace weightproof::q8_0

#endif  // WEIGHTPROOF_REFERENCE_Q8_0_BLOCKS_H_
