#include "reference/q8_0/f16.h"

#include <bit>

namespace weightproof::q8_0 {
namespace {

// f16 is sign | 5 bits of exponent | 10 bits of mantissa; f32 1 | 8 | 23.
constexpr std::uint16_t kInfinity16 = 0x7c00;

// A finite value as an f16 pattern without sign, and what was cut off.
struct Cut {
  std::uint32_t pattern = 0;    // may be 7C00 or more
  std::uint64_t remainder = 0;  // the bits below the last one kept
  std::uint64_t half = 0;       // one half of the last bit kept
};

Cut CutToF16(std::uint32_t magnitude) {
  const int exponent = static_cast<int>(magnitude >> 23);
  std::uint64_t significand = magnitude & 0x7fffff;
  if (exponent != 0) significand |= 0x800000;
  // Value = significand * 2^(max(exponent, 1) - 150). The last bit kept is
  // 2^-24 below 2^-14 (exponent field 113), and mantissa bit 13 above.
  Cut cut;
  if (exponent >= 113) {
    cut.pattern = ((exponent - 112) << 10) |
                  static_cast<std::uint32_t>((significand & 0x7fffff) >> 13);
    cut.remainder = significand & 0x1fff;
    cut.half = 0x1000;
    return cut;
  }
  const int shift = 126 - (exponent == 0 ? 1 : exponent);
  if (shift > 40) return {0, significand == 0 ? 0u : 1u, 2};
  cut.pattern = static_cast<std::uint32_t>(significand >> shift);
  cut.remainder = significand & ((std::uint64_t{1} << shift) - 1);
  cut.half = std::uint64_t{1} << (shift - 1);
  return cut;
}

// Infinity and NaN; 0 for finite patterns.
std::uint16_t SpecialF16(std::uint32_t magnitude) {
  if (magnitude > 0x7f800000) return 0x7e00;
  if (magnitude == 0x7f800000) return kInfinity16;
  return 0;
}

std::uint16_t Convert(std::uint32_t f32, bool round) {
  const std::uint16_t sign = static_cast<std::uint16_t>((f32 >> 16) & 0x8000);
  const std::uint32_t magnitude = f32 & 0x7fffffff;
  if (const std::uint16_t special = SpecialF16(magnitude)) {
    return sign | special;
  }
  Cut cut = CutToF16(magnitude);
  const bool odd = (cut.pattern & 1) != 0;
  if (round &&
      (cut.remainder > cut.half || (cut.remainder == cut.half && odd))) {
    // The carry may enter the exponent: patterns are in order of value.
    ++cut.pattern;
  }
  if (cut.pattern > kInfinity16) cut.pattern = kInfinity16;
  return sign | static_cast<std::uint16_t>(cut.pattern);
}

}  // namespace

std::uint16_t F16FromF32(std::uint32_t f32) { return Convert(f32, true); }

std::uint16_t F16FromF32Truncated(std::uint32_t f32) {
  return Convert(f32, false);
}

std::uint32_t F32FromF16(std::uint16_t f16) {
  const std::uint32_t sign = static_cast<std::uint32_t>(f16 & 0x8000) << 16;
  const std::uint32_t exponent = (f16 >> 10) & 0x1f;
  std::uint32_t mantissa = f16 & 0x3ff;
  if (exponent == 31) return sign | 0x7f800000 | (mantissa << 13);
  if (exponent != 0) return sign | ((exponent + 112) << 23) | (mantissa << 13);
  if (mantissa == 0) return sign;
  // A subnormal f16, mantissa * 2^-24, is a normal f32.
  std::uint32_t field = 113;
  while ((mantissa & 0x400) == 0) {
    mantissa <<= 1;
    --field;
  }
  return sign | (field << 23) | ((mantissa & 0x3ff) << 13);
}

bool IsNanF16(std::uint16_t f16) { return (f16 & 0x7fff) > kInfinity16; }

bool IsNanF32(std::uint32_t f32) { return (f32 & 0x7fffffff) > 0x7f800000; }

float ValueOfF16(std::uint16_t f16) {
  return std::bit_cast<float>(F32FromF16(f16));
}

}  // namespace weightproof::q8_0
