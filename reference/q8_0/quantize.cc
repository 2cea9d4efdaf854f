#include "reference/q8_0/quantize.h"

#include <bit>
#include <cmath>
#include <limits>

#include "reference/q8_0/f16.h"
#include "reference/q8_0/rules.h"

namespace weightproof::q8_0 {
namespace {

constexpr float kSmallestNormal = std::numeric_limits<float>::min();

float Flush(float value, Subnormals subnormals) {
  if (subnormals == Subnormals::kKept) return value;
  return std::fabs(value) < kSmallestNormal ? std::copysign(0.0f, value)
                                            : value;
}

// a > b ? a : b, whatever a and b are.
float MacroMax(float a, float b) { return a > b ? a : b; }

// An x86 max instruction: the second operand if either is NaN.
float SecondMax(float a, float b) { return a > b ? a : b; }

float PropagatingMax(float a, float b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  return a > b ? a : b;
}

float AmaxNumber(std::span<const float> x) {
  float amax = 0;
  for (float value : x) {
    if (std::fabs(value) > amax) amax = std::fabs(value);
  }
  return amax;
}

float AmaxMacro(std::span<const float> x) {
  float amax = 0;
  for (float value : x) amax = MacroMax(amax, std::fabs(value));
  return amax;
}

float AmaxLanes8(std::span<const float> x) {
  float lane[8];
  for (int j = 0; j < 8; ++j) lane[j] = std::fabs(x[j]);
  for (int i = 8; i < 32; ++i) {
    lane[i % 8] = SecondMax(lane[i % 8], std::fabs(x[i]));
  }
  for (int j = 0; j < 4; ++j) lane[j] = SecondMax(lane[j + 4], lane[j]);
  for (int j = 0; j < 2; ++j) lane[j] = SecondMax(lane[j], lane[j + 2]);
  return SecondMax(lane[0], lane[1]);
}

float AmaxPropagate(std::span<const float> x) {
  float amax = 0;
  for (float value : x) amax = PropagatingMax(amax, std::fabs(value));
  return amax;
}

float AmaxLanes4(std::span<const float> x) {
  float lane[4] = {0, 0, 0, 0};
  for (int i = 0; i < 32; ++i) {
    lane[i % 4] = PropagatingMax(lane[i % 4], std::fabs(x[i]));
  }
  return MacroMax(MacroMax(lane[0], lane[1]), MacroMax(lane[2], lane[3]));
}

float AmaxOf(std::span<const float> x, Amax rule) {
  switch (rule) {
    case Amax::kNumber:
      return AmaxNumber(x);
    case Amax::kMacro:
      return AmaxMacro(x);
    case Amax::kLanes8:
      return AmaxLanes8(x);
    case Amax::kPropagate:
      return AmaxPropagate(x);
    case Amax::kLanes4:
      return AmaxLanes4(x);
  }
  return 0;
}

std::uint16_t StoredScale(float d, ScaleRounding rule) {
  const std::uint32_t pattern = std::bit_cast<std::uint32_t>(d);
  return rule == ScaleRounding::kRne ? F16FromF32(pattern)
                                     : F16FromF32Truncated(pattern);
}

// What the elements of a block are multiplied with; for kDiv the divisor.
float Factor(float amax, float d, std::uint16_t stored,
             const Quantizer& quantizer) {
  const Subnormals subnormals = quantizer.subnormals;
  switch (quantizer.reciprocal) {
    case Reciprocal::kInvD:
      return d == 0 ? 0 : Flush(1.0f / d, subnormals);
    case Reciprocal::kInvAmax:
      return amax == 0 ? 0 : Flush(127.0f / amax, subnormals);
    case Reciprocal::kDiv:
      return d;
    case Reciprocal::kInvF16: {
      const float value = ValueOfF16(stored);
      return value == 0 ? 0 : Flush(1.0f / value, subnormals);
    }
  }
  return 0;
}

// q8_0.quantize.reciprocal
float Scaled(float x, float factor, Reciprocal reciprocal) {
  if (reciprocal != Reciprocal::kDiv) return x * factor;
  return factor == 0 ? 0 : x / factor;
}

// q8_0.quantize.tie, .near_tie, .round
float Round(float t, Rounding rounding) {
  switch (rounding) {
    case Rounding::kAway:
      return std::round(t);
    case Rounding::kEven: {
      const float below = std::floor(t);
      const float above = std::ceil(t);
      if (t - below < above - t) return below;
      if (t - below > above - t) return above;
      // A tie, an integer, or not finite.
      return std::fmod(below, 2.0f) == 0 ? below : above;
    }
    case Rounding::kTrunc:
      return std::trunc(t);
    case Rounding::kFloorHalf:
      return std::floor(t + 0.5f);
    case Rounding::kAddTrunc:
      return std::trunc(t + 0.5f);
  }
  return t;
}

constexpr float kTwo31 = 2147483648.0f;

bool FitsInt32(float t) { return t >= -kTwo31 && t < kTwo31; }

std::int8_t LowByte(std::int32_t value) {
  return static_cast<std::int8_t>(static_cast<std::uint8_t>(value & 0xff));
}

std::int8_t Clamp(float t) {
  if (t > 127) return 127;
  if (t < -128) return -128;
  return static_cast<std::int8_t>(t);
}

std::int8_t ToCode(float t, Cast cast) {
  switch (cast) {
    case Cast::kSpec:
    case Cast::kWrap:
      return FitsInt32(t) ? LowByte(static_cast<std::int32_t>(t)) : 0;
    case Cast::kPack:
      return FitsInt32(t) ? Clamp(t) : -128;
    case Cast::kLow8:
      if (std::isnan(t)) return 0;
      if (t >= kTwo31) return LowByte(std::numeric_limits<std::int32_t>::max());
      return FitsInt32(t) ? LowByte(static_cast<std::int32_t>(t)) : 0;
    case Cast::kSaturate:
      return std::isnan(t) ? 0 : Clamp(t);
  }
  return 0;
}

// The unrounded scale and the integral floats before they become codes, which
// the s field of Q8_1 needs.
struct Quantized {
  Block block;
  float d = 0;
  std::array<float, kBlockValues> rounded = {};
};

Quantized QuantizeValues(std::span<const float> input,
                         const Quantizer& quantizer) {
  std::array<float, kBlockValues> x;
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    x[i] = Flush(input[i], quantizer.subnormals);
  }
  const float amax = AmaxOf(x, quantizer.amax);
  Quantized result;
  result.d = Flush(amax / 127.0f, quantizer.subnormals);
  result.block.d = StoredScale(result.d, quantizer.scale);
  const float factor = Factor(amax, result.d, result.block.d, quantizer);
  if (quantizer.cast == Cast::kSpec && std::isinf(factor)) {
    return result;  // q8_0.quantize.reciprocal_inf
  }
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    const float t = Scaled(x[i], factor, quantizer.reciprocal);
    result.rounded[i] =
        Round(Flush(t, quantizer.subnormals), quantizer.rounding);
    result.block.q[i] = ToCode(result.rounded[i], quantizer.cast);
  }
  return result;
}

// The tree of a warp: halves 16, 8, 4, 2, 1 apart.
float FloatSum(std::span<const float> x) {
  std::array<float, kBlockValues> lane;
  for (std::size_t i = 0; i < kBlockValues; ++i) lane[i] = x[i];
  for (std::size_t apart = 16; apart > 0; apart /= 2) {
    for (std::size_t i = 0; i < apart; ++i) lane[i] = lane[i] + lane[i + apart];
  }
  return lane[0];
}

std::uint16_t Half(float value) {
  return F16FromF32(std::bit_cast<std::uint32_t>(value));
}

// The sum of int32 conversions as an x86 processor makes and adds them.
std::int32_t SumOfInt32(const Quantized& quantized) {
  std::uint32_t sum = 0;
  for (const float t : quantized.rounded) {
    sum += FitsInt32(t)
               ? static_cast<std::uint32_t>(static_cast<std::int32_t>(t))
               : 0x80000000u;
  }
  return std::bit_cast<std::int32_t>(sum);
}

// As an AArch64 processor does.
std::int32_t SumOfSaturatedInt32(const Quantized& quantized) {
  std::uint32_t sum = 0;
  for (const float t : quantized.rounded) {
    if (FitsInt32(t)) {
      sum += static_cast<std::uint32_t>(static_cast<std::int32_t>(t));
    } else if (t == t) {
      sum += t > 0 ? 0x7fffffffu : 0x80000000u;
    }
  }
  return std::bit_cast<std::int32_t>(sum);
}

// q8_1.quantize.sum
std::uint16_t SumField(const Quantized& quantized, std::span<const float> x,
                       SumRule rule) {
  std::int32_t isum = 0;
  for (std::int8_t code : quantized.block.q) isum += code;
  const float sum = static_cast<float>(isum);
  switch (rule) {
    case SumRule::kSpec:
      return Half(quantized.d * sum);
    case SumRule::kInt32:
      return Half(quantized.d * static_cast<float>(SumOfInt32(quantized)));
    case SumRule::kInt32Saturated:
      return Half(quantized.d *
                  static_cast<float>(SumOfSaturatedInt32(quantized)));
    case SumRule::kD16:
      return Half(ValueOfF16(quantized.block.d) * sum);
    case SumRule::kCandle:
      return Half(ValueOfF16(Half(sum)) * ValueOfF16(quantized.block.d));
    case SumRule::kFloatSum:
      return Half(FloatSum(x));
    case SumRule::kPt:
      return static_cast<std::uint16_t>(isum & 0xffff);
  }
  return 0;
}

// q8_0.quantize.nonfinite: integer test on the bit patterns.
std::optional<Refusal> CheckFinite(std::span<const std::uint8_t> x,
                                   std::uint64_t n, RuleIndex rule) {
  for (std::uint64_t i = 0; i < x.size() / 4; ++i) {
    const auto pattern = std::bit_cast<std::uint32_t>(ReadF32(x, i));
    if ((pattern & 0x7f800000) != 0x7f800000) continue;
    Refusal refusal;
    refusal.rule = rule;
    refusal.row = i / n;
    refusal.offset = 4 * i;
    refusal.detail = "row " + std::to_string(i / n) + ", value " +
                     std::to_string(i % n) +
                     (IsNanF32(pattern) ? " is NaN" : " is infinite");
    return refusal;
  }
  return std::nullopt;
}

std::array<float, kBlockValues> ReadValues(std::span<const std::uint8_t> x,
                                           std::uint64_t block) {
  std::array<float, kBlockValues> values;
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    values[i] = ReadF32(x, block * kBlockValues + i);
  }
  return values;
}

}  // namespace

// q8_0.shape.not_multiple
std::optional<Refusal> CheckShape(std::uint64_t n, std::uint64_t size,
                                  std::uint64_t expected_size) {
  Refusal refusal;
  if (n % kBlockValues != 0) {
    refusal.rule = rules::kShapeNotMultiple;
    refusal.detail =
        "row length " + std::to_string(n) + " is not a multiple of 32";
    return refusal;
  }
  if (size == expected_size) return std::nullopt;
  refusal.detail = "the input has " + std::to_string(size) + " bytes, not " +
                   std::to_string(expected_size);
  return refusal;
}

Block QuantizeBlock(std::span<const float> x, const Quantizer& quantizer) {
  return QuantizeValues(x, quantizer).block;
}

Block QuantizeBlockQ81(std::span<const float> x, const NamedQ81& variant) {
  Quantized quantized = QuantizeValues(x, variant.quantizer);
  quantized.block.s = SumField(quantized, x, variant.sum);
  return quantized.block;
}

std::expected<Bytes, Refusal> Quantize(std::span<const std::uint8_t> x,
                                       std::uint64_t n, std::uint64_t rows,
                                       const Quantizer& quantizer) {
  const std::uint64_t blocks = n / kBlockValues * rows;
  if (auto refusal = CheckShape(n, x.size(), blocks * 4 * kBlockValues)) {
    return std::unexpected(*refusal);
  }
  if (quantizer.refuses_nonfinite) {
    if (auto refusal = CheckFinite(x, n, rules::kQuantizeNonfinite)) {
      return std::unexpected(*refusal);
    }
  }
  Bytes y(blocks * kQ80Bytes);
  for (std::uint64_t b = 0; b < blocks; ++b) {
    WriteQ80(QuantizeBlock(ReadValues(x, b), quantizer),
             std::span(y).subspan(b * kQ80Bytes, kQ80Bytes));
  }
  return y;
}

std::expected<Bytes, Refusal> QuantizeQ81(std::span<const std::uint8_t> x,
                                          std::uint64_t n, std::uint64_t rows,
                                          const NamedQ81& variant) {
  const std::uint64_t blocks = n / kBlockValues * rows;
  if (auto refusal = CheckShape(n, x.size(), blocks * 4 * kBlockValues)) {
    return std::unexpected(*refusal);
  }
  if (variant.quantizer.refuses_nonfinite) {
    if (auto refusal = CheckFinite(x, n, rules::kQ81QuantizeNonfinite)) {
      return std::unexpected(*refusal);
    }
  }
  Bytes y(blocks * kQ81Bytes);
  for (std::uint64_t b = 0; b < blocks; ++b) {
    WriteQ81(QuantizeBlockQ81(ReadValues(x, b), variant),
             std::span(y).subspan(b * kQ81Bytes, kQ81Bytes));
  }
  return y;
}

std::expected<Bytes, Refusal> Dequantize(std::span<const std::uint8_t> x,
                                         std::uint64_t n, std::uint64_t rows) {
  const std::uint64_t blocks = n / kBlockValues * rows;
  if (auto refusal = CheckShape(n, x.size(), blocks * kQ80Bytes)) {
    return std::unexpected(*refusal);
  }
  Bytes y(blocks * kBlockValues * 4);
  for (std::uint64_t b = 0; b < blocks; ++b) {
    const Block block = ReadQ80(x.subspan(b * kQ80Bytes, kQ80Bytes));
    const float d = ValueOfF16(block.d);
    for (std::size_t i = 0; i < kBlockValues; ++i) {
      WriteF32(static_cast<float>(block.q[i]) * d, y, b * kBlockValues + i);
    }
  }
  return y;
}

}  // namespace weightproof::q8_0
