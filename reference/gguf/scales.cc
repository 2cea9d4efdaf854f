#include "reference/gguf/scales.h"

#include <array>

namespace weightproof::gguf {
namespace {

using enum ScaleEncoding;

constexpr std::array<ScaleField, 37> kFields = {{
    {2, "d", 0, kF16},       // Q4_0
    {3, "d", 0, kF16},       // Q4_1
    {3, "m", 2, kF16},       //
    {6, "d", 0, kF16},       // Q5_0
    {7, "d", 0, kF16},       // Q5_1
    {7, "m", 2, kF16},       //
    {8, "d", 0, kF16},       // Q8_0
    {9, "d", 0, kF16},       // Q8_1
    {9, "s", 2, kF16},       //
    {10, "d", 80, kF16},     // Q2_K
    {10, "dmin", 82, kF16},  //
    {11, "d", 108, kF16},    // Q3_K
    {12, "d", 0, kF16},      // Q4_K
    {12, "dmin", 2, kF16},   //
    {13, "d", 0, kF16},      // Q5_K
    {13, "dmin", 2, kF16},   //
    {14, "d", 208, kF16},    // Q6_K
    {15, "d", 0, kF32},      // Q8_K
    {16, "d", 0, kF16},      // IQ2_XXS
    {17, "d", 0, kF16},      // IQ2_XS
    {18, "d", 0, kF16},      // IQ3_XXS
    {19, "d", 0, kF16},      // IQ1_S
    {20, "d", 0, kF16},      // IQ4_NL
    {21, "d", 0, kF16},      // IQ3_S
    {22, "d", 0, kF16},      // IQ2_S
    {23, "d", 0, kF16},      // IQ4_XS
    {29, "d", 49, kSpread},  // IQ1_M
    {34, "d", 52, kF16},     // TQ1_0
    {35, "d", 64, kF16},     // TQ2_0
    {39, "e", 0, kE8M0},     // MXFP4
    {40, "d", 0, kUe4m3},    // NVFP4: one for 16 values
    {40, "d", 1, kUe4m3},    //
    {40, "d", 2, kUe4m3},    //
    {40, "d", 3, kUe4m3},    //
    {41, "d", 0, kF16},      // Q1_0
    {42, "d", 0, kF16},      // Q2_0
    {143, "d", 26, kF16},    // PTQ1_0
}};

std::uint32_t Word(std::span<const std::uint8_t> bytes, bool big_endian) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint8_t byte =
        big_endian ? bytes[i] : bytes[bytes.size() - 1 - i];
    word = word << 8 | byte;
  }
  return word;
}

ScaleClass ClassifyIeee(std::uint32_t bits, int exponent_bits,
                        int mantissa_bits) {
  const std::uint32_t ones = (1u << exponent_bits) - 1;
  const std::uint32_t exponent = bits >> mantissa_bits & ones;
  const std::uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  if (exponent != ones) return ScaleClass::kFinite;
  return mantissa == 0 ? ScaleClass::kInfinite : ScaleClass::kNan;
}

}  // namespace

std::span<const ScaleField> ScaleFields() { return kFields; }

std::uint64_t ScaleOffset(const ScaleField& field, bool big_endian) {
  // The high byte of a reversed word comes first.
  return field.encoding == kSpread && big_endian ? field.offset - 1
                                                 : field.offset;
}

ScaleClass Classify(const ScaleField& field,
                    std::span<const std::uint8_t> block, bool big_endian) {
  const auto at = block.subspan(ScaleOffset(field, big_endian));
  std::uint32_t half = 0;
  switch (field.encoding) {
    case kF16:
      return ClassifyIeee(Word(at.first(2), big_endian), 5, 10);
    case kF32:
      return ClassifyIeee(Word(at.first(4), big_endian), 8, 23);
    case kSpread:
      for (std::size_t i = 0; i < 4; ++i) {
        half |= static_cast<std::uint32_t>(at[2 * i] >> 4) << (4 * i);
      }
      return ClassifyIeee(half, 5, 10);
    case kE8M0:
      return at[0] == 0xff ? ScaleClass::kNan : ScaleClass::kFinite;
    case kUe4m3:
      return (at[0] & 0x7f) == 0x7f ? ScaleClass::kNan : ScaleClass::kFinite;
  }
  return ScaleClass::kFinite;
}

}  // namespace weightproof::gguf
