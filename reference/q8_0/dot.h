// Dot product and matvec of Q8_0 blocks: the published order of additions,
// the other orders known in the wild, and the exact value.
#ifndef WEIGHTPROOF_REFERENCE_Q8_0_DOT_H_
#define WEIGHTPROOF_REFERENCE_Q8_0_DOT_H_

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/q8_0/blocks.h"
#include "reference/q8_0/quantize.h"

namespace weightproof::q8_0 {

enum class DotOrder : std::uint8_t {
  kSpec,         // 32 lanes, one tree, no fused operation
  kGeneric,      // block after block
  kGenericFma,   // the same, fused
  kCandleUnopt,  // block after block, fl(fl(isum dw) dx)
  kAvx2Fma8,     // eight lanes of four elements, fused, tree 4, 2, 1
  kGgmlNeon,     // four lanes, even and odd blocks apart
  kGgmlNeonFma,
  kCandleNeon,  // four lanes, one accumulator
  kCandleNeonFma,
  kAvx2Fma8Sign,  // kAvx2Fma8 that loses the sign of x = -128 where w < 0
  // Four lanes of even blocks beside four of odd ones, tree 4, 2, 1; an odd
  // last block as kGeneric. Loses signs too, but not in that last block.
  kGgmlAvxSign,
  kGgmlAvxFmaSign,
};
struct NamedDotOrder {
  std::string_view name;  // "avx2-fma8+sign"
  DotOrder order;
};
// spec, generic, generic-fma, candle-unopt, avx2-fma8, ggml-neon,
// ggml-neon-fma, candle-neon, candle-neon-fma, avx2-fma8+sign, ggml-avx+sign,
// ggml-avx-fma+sign; spec first.
std::span<const NamedDotOrder> DotOrders();
const NamedDotOrder* FindDotOrder(std::string_view name);

// The sum of the 32 code products: exact, at most 524288 in magnitude.
std::int32_t IntegerSum(const Block& w, const Block& x);
// The sum as the kernels with the -128 defect have it.
std::int32_t IntegerSumSignDefect(const Block& w, const Block& x);

// w and x hold the same number of Q8_0 blocks.
float Dot(std::span<const Block> w, std::span<const Block> x,
          DotOrder order = DotOrder::kSpec);
std::vector<Block> ReadBlocks(std::span<const std::uint8_t> bytes);

// What the operation q8_0.dot answers.
struct DotResult {
  float y = 0;
  std::vector<std::int32_t> isum;  // per block
};
// Refuses n not a multiple of 32 (q8_0.shape.not_multiple). w and x are
// n / 32 blocks.
std::expected<DotResult, Refusal> DotOperation(
    std::span<const std::uint8_t> w, std::span<const std::uint8_t> x,
    std::uint64_t n, DotOrder order = DotOrder::kSpec);

// The operation q8_0.matvec: rows x n weights, cols columns of x, each n
// values (f32 or blocks, back to back). y column by column, rows inside.
struct MatvecInput {
  std::span<const std::uint8_t> w;
  std::span<const std::uint8_t> x;
  bool x_is_f32 = false;
  std::uint64_t n = 0, rows = 0, cols = 1;
};
std::expected<std::vector<float>, Refusal> Matvec(
    const MatvecInput& input, DotOrder order = DotOrder::kSpec,
    const Quantizer& quantizer = {});

// ---- the oracle ----

// With finite scales the dot product is exactly value * 2^-48, and magnitude *
// 2^-48 is sum |dw dx| sum |w x|. Valid for at most 2^27 blocks.
struct ExactDot {
  __int128 value = 0;
  __int128 magnitude = 0;
  std::uint64_t blocks = 0;
};
// Nothing if a scale is infinite or NaN.
std::optional<ExactDot> Exact(std::span<const Block> w,
                              std::span<const Block> x);
std::string ToDecimal(__int128 value);

// |y - value 2^-48| over the bound for foreign results, (blocks + 16) 2^-24
// 1.01 magnitude 2^-48; accept if <= 1. Infinity for a y that is not finite;
// with magnitude 0, 0 for a zero and infinity for anything else.
double BoundRatio(float y, const ExactDot& exact);
// The same with the tighter bound (ceil(blocks / 32) + 7) 2^-24 1.01
// sum |term| of the published order.
double PublishedBoundRatio(float y, std::span<const Block> w,
                           std::span<const Block> x);

}  // namespace weightproof::q8_0

#endif  // WEIGHTPROOF_REFERENCE_Q8_0_DOT_H_
