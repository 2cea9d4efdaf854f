// Quantizing to Q8_0 and Q8_1, by the specification and by every other
// arithmetic that is known in the wild; dequantizing Q8_0.
#ifndef WEIGHTPROOF_REFERENCE_Q8_0_QUANTIZE_H_
#define WEIGHTPROOF_REFERENCE_Q8_0_QUANTIZE_H_

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/q8_0/blocks.h"
#include "reference/rule.h"

namespace weightproof::q8_0 {

// ---- the axes of a quantizer ----

// How an element is divided by the scale. h(d) is the f16 of d, f() its value.
enum class Reciprocal : std::uint8_t {
  kInvD,     // t = fl(x fl(1 / d)), d the unrounded f32: the specification
  kInvAmax,  // t = fl(x fl(127 / amax))
  kDiv,      // t = fl(x / d)
  kInvF16,   // t = fl(x fl(1 / f(h(d)))), 0 if h(d) is 0
};
// How t becomes an integer.
enum class Rounding : std::uint8_t {
  kAway,       // nearest, ties away from zero: the specification
  kEven,       // nearest, ties to even
  kTrunc,      // toward zero
  kFloorHalf,  // floor(fl(t + 0.5))
  kAddTrunc,   // fl(t + 0.5) toward zero
};
// How d becomes an f16.
enum class ScaleRounding : std::uint8_t {
  kRne,  // nearest even: the specification
  kRtz,  // truncated
};
// How the maximum of |x| treats NaN.
enum class Amax : std::uint8_t {
  kNumber,     // NaN is ignored
  kMacro,      // a > b ? a : b, a the running maximum
  kLanes8,     // eight lanes of x86 max instructions, then 4, 2, 1
  kPropagate,  // NaN stays
  kLanes4,     // kPropagate in four lanes, kMacro over pairs of them
};
// How an integral float becomes a byte.
enum class Cast : std::uint8_t {
  kSpec,      // codes of a block with an infinite reciprocal are all 0
  kWrap,      // to int32 (out of range: 80000000), low byte
  kPack,      // to int32, out of range or NaN -128, else saturate to a byte
  kLow8,      // saturate to int32, NaN 0, low byte
  kSaturate,  // saturate to a byte, NaN 0
};
// What the processor does with subnormal f32 numbers.
enum class Subnormals : std::uint8_t { kKept, kFlushed };

struct Quantizer {
  Reciprocal reciprocal = Reciprocal::kInvD;
  Rounding rounding = Rounding::kAway;
  ScaleRounding scale = ScaleRounding::kRne;
  Amax amax = Amax::kNumber;
  Cast cast = Cast::kSpec;
  bool refuses_nonfinite = true;  // only the specification does
  Subnormals subnormals = Subnormals::kKept;
  bool operator==(const Quantizer&) const = default;
};

struct NamedQuantizer {
  std::string_view name;  // "ggml-avx2"
  Quantizer quantizer;
};

// spec, ggml-ref, ggml-avx2, ggml-neon, ggml-wasm, candle, gguf-py, div,
// recip-f16; spec first.
std::span<const NamedQuantizer> Quantizers();
const NamedQuantizer* FindQuantizer(std::string_view name);

// "inv-d", "away", "rne", "number", "spec", ...
std::string_view ToString(Reciprocal value);
std::string_view ToString(Rounding value);
std::string_view ToString(ScaleRounding value);
std::string_view ToString(Amax value);
std::string_view ToString(Cast value);

// The formula of the s field of Q8_1; isum is the sum of the codes.
enum class SumRule : std::uint8_t {
  kSpec,   // h(fl(d isum)), d the unrounded f32
  kInt32,  // kSpec, but isum adds the int32 of t before it is cut to a byte:
           // 80000000 where t is out of range or NaN, wrapping
  kInt32Saturated,  // kInt32, but saturated where t is out of range, NaN 0
  kD16,             // h(fl(f(h(d)) isum))
  kCandle,          // h(fl(f(h(isum)) f(h(d))))
  kFloatSum,  // h of the f32 sum of the inputs, added 16, 8, 4, 2, 1 apart
  kPt,        // isum as an int16 in place of the half
};
struct NamedQ81 {
  std::string_view name;  // "d16"
  Quantizer quantizer;
  SumRule sum;
};
// spec (first), ggml-ref, ggml-avx2, ggml-neon, d16, candle, float-sum, pt.
std::span<const NamedQ81> Q81Variants();
const NamedQ81* FindQ81(std::string_view name);

// ---- operations ----

// Why an operation refused its input.
struct Refusal {
  RuleIndex rule = kNoRule;
  std::optional<std::uint64_t> row;     // the first row refused
  std::optional<std::uint64_t> offset;  // first offending byte of the input
  std::string detail;
};
// Refuses n not a multiple of 32 (q8_0.shape.not_multiple) and, with rule
// kNoRule, a buffer of size bytes that should have expected_size.
std::optional<Refusal> CheckShape(std::uint64_t n, std::uint64_t size,
                                  std::uint64_t expected_size);

using Bytes = std::vector<std::uint8_t>;

// One block of 32 values (finite, if the quantizer refuses anything else),
// s left at 0.
Block QuantizeBlock(std::span<const float> x, const Quantizer& quantizer);
// The same with s.
Block QuantizeBlockQ81(std::span<const float> x, const NamedQ81& variant);

// rows x n f32 -> rows x n / 32 blocks. x is a little-endian byte image of
// rows * n floats. Refuses n not a multiple of 32 (q8_0.shape.not_multiple)
// and, if the quantizer says so, rows with a NaN or infinity
// (q8_0.quantize.nonfinite, q8_1.quantize.nonfinite).
std::expected<Bytes, Refusal> Quantize(std::span<const std::uint8_t> x,
                                       std::uint64_t n, std::uint64_t rows,
                                       const Quantizer& quantizer = {});
std::expected<Bytes, Refusal> QuantizeQ81(
    std::span<const std::uint8_t> x, std::uint64_t n, std::uint64_t rows,
    const NamedQ81& variant = Q81Variants()[0]);

// rows x n / 32 Q8_0 blocks -> rows x n f32: code times scale, exact.
// Refuses n not a multiple of 32. There are no variants.
std::expected<Bytes, Refusal> Dequantize(std::span<const std::uint8_t> x,
                                         std::uint64_t n, std::uint64_t rows);

}  // namespace weightproof::q8_0

#endif  // WEIGHTPROOF_REFERENCE_Q8_0_QUANTIZE_H_
