#include "reference/q8_0/dot.h"

#include <cmath>
#include <utility>

#include "reference/q8_0/f16.h"
#include "reference/q8_0/rules.h"

namespace weightproof::q8_0 {
namespace {

constexpr NamedDotOrder kOrders[] = {
    {"spec", DotOrder::kSpec},
    {"generic", DotOrder::kGeneric},
    {"generic-fma", DotOrder::kGenericFma},
    {"candle-unopt", DotOrder::kCandleUnopt},
    {"avx2-fma8", DotOrder::kAvx2Fma8},
    {"ggml-neon", DotOrder::kGgmlNeon},
    {"ggml-neon-fma", DotOrder::kGgmlNeonFma},
    {"candle-neon", DotOrder::kCandleNeon},
    {"candle-neon-fma", DotOrder::kCandleNeonFma},
    {"avx2-fma8+sign", DotOrder::kAvx2Fma8Sign},
    {"ggml-avx+sign", DotOrder::kGgmlAvxSign},
    {"ggml-avx-fma+sign", DotOrder::kGgmlAvxFmaSign},
};

using Row = std::span<const Block>;

// Exact for finite scales: 11 + 11 bits.
float ScaleProduct(const Block& w, const Block& x) {
  return ValueOfF16(w.d) * ValueOfF16(x.d);
}

float MultiplyAdd(float a, float b, float sum, bool fused) {
  if (fused) return std::fma(a, b, sum);
  const float product = a * b;
  return sum + product;
}

// The published order: q8_0.dot.order, .empty, .zero.
float DotSpec(Row w, Row x) {
  std::array<float, 32> lane = {};
  for (std::size_t b = 0; b < w.size(); ++b) {
    const float isum = static_cast<float>(IntegerSum(w[b], x[b]));
    const float p = ScaleProduct(w[b], x[b]);
    const float term = p * isum;
    lane[b % 32] = lane[b % 32] + term;
  }
  for (std::size_t apart = 16; apart > 0; apart /= 2) {
    for (std::size_t i = 0; i < apart; ++i) lane[i] = lane[i] + lane[i + apart];
  }
  return lane[0];
}

float DotGeneric(Row w, Row x, float sum, bool fused) {
  for (std::size_t b = 0; b < w.size(); ++b) {
    const float isum = static_cast<float>(IntegerSum(w[b], x[b]));
    sum = MultiplyAdd(isum, ScaleProduct(w[b], x[b]), sum, fused);
  }
  return sum;
}

float DotCandleUnopt(Row w, Row x) {
  float sum = 0;
  for (std::size_t b = 0; b < w.size(); ++b) {
    const float isum = static_cast<float>(IntegerSum(w[b], x[b]));
    const float scaled = isum * ValueOfF16(w[b].d);
    const float term = scaled * ValueOfF16(x[b].d);
    sum = sum + term;
  }
  return sum;
}

// The product of codes as x86 kernels form it: |w| times x with the sign of
// w, where negating x = -128 wraps.
std::int32_t SignDefectProduct(std::int8_t w, std::int8_t x) {
  const std::int32_t product = std::int32_t{w} * x;
  return x == -128 && w < 0 ? -product : product;
}

// g_j: the products of elements 4j .. 4j+3.
std::array<std::int32_t, 8> GroupSums(const Block& w, const Block& x,
                                      bool sign_defect) {
  std::array<std::int32_t, 8> group = {};
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    group[i / 4] += sign_defect ? SignDefectProduct(w.q[i], x.q[i])
                                : std::int32_t{w.q[i]} * x.q[i];
  }
  return group;
}

float DotAvx2(Row w, Row x, bool sign_defect) {
  std::array<float, 8> lane = {};
  for (std::size_t b = 0; b < w.size(); ++b) {
    const auto group = GroupSums(w[b], x[b], sign_defect);
    const float p = ScaleProduct(w[b], x[b]);
    for (std::size_t j = 0; j < 8; ++j) {
      lane[j] = std::fma(p, static_cast<float>(group[j]), lane[j]);
    }
  }
  for (std::size_t apart = 4; apart > 0; apart /= 2) {
    for (std::size_t j = 0; j < apart; ++j) lane[j] = lane[j] + lane[j + apart];
  }
  return lane[0];
}

using Lanes4 = std::array<float, 4>;

void AddFourLanes(const Block& w, const Block& x, bool fused, bool sign_defect,
                  Lanes4& lane) {
  const auto group = GroupSums(w, x, sign_defect);
  const float p = ScaleProduct(w, x);
  for (std::size_t j = 0; j < 4; ++j) {
    const float sum = static_cast<float>(group[j] + group[j + 4]);
    lane[j] = MultiplyAdd(sum, p, lane[j], fused);
  }
}

float JoinNeon(const Lanes4& lane) {
  const float low = lane[0] + lane[1];
  const float high = lane[2] + lane[3];
  return low + high;
}

float DotGgmlNeon(Row w, Row x, bool fused) {
  Lanes4 even = {}, odd = {};
  const std::size_t pairs = w.size() / 2;
  for (std::size_t b = 0; b < 2 * pairs; ++b) {
    AddFourLanes(w[b], x[b], fused, false, b % 2 == 0 ? even : odd);
  }
  const float sum = JoinNeon(even) + JoinNeon(odd);
  return DotGeneric(w.subspan(2 * pairs), x.subspan(2 * pairs), sum, fused);
}

float DotGgmlAvx(Row w, Row x, bool fused) {
  Lanes4 even = {}, odd = {};
  const std::size_t pairs = w.size() / 2;
  for (std::size_t b = 0; b < 2 * pairs; ++b) {
    AddFourLanes(w[b], x[b], fused, true, b % 2 == 0 ? even : odd);
  }
  for (std::size_t j = 0; j < 4; ++j) even[j] = odd[j] + even[j];
  const float low = even[0] + even[2];
  const float high = even[1] + even[3];
  return DotGeneric(w.subspan(2 * pairs), x.subspan(2 * pairs), low + high,
                    fused);
}

float DotCandleNeon(Row w, Row x, bool fused) {
  Lanes4 lane = {};
  for (std::size_t b = 0; b < w.size(); ++b) {
    AddFourLanes(w[b], x[b], fused, false, lane);
  }
  return JoinNeon(lane);
}

}  // namespace

std::span<const NamedDotOrder> DotOrders() { return kOrders; }

const NamedDotOrder* FindDotOrder(std::string_view name) {
  for (const NamedDotOrder& entry : kOrders) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// q8_0.dot.isum, .isum.neg128
std::int32_t IntegerSum(const Block& w, const Block& x) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    sum += std::int32_t{w.q[i]} * x.q[i];
  }
  return sum;
}

std::int32_t IntegerSumSignDefect(const Block& w, const Block& x) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    sum += SignDefectProduct(w.q[i], x.q[i]);
  }
  return sum;
}

float Dot(Row w, Row x, DotOrder order) {
  switch (order) {
    case DotOrder::kSpec:
      return DotSpec(w, x);
    case DotOrder::kGeneric:
      return DotGeneric(w, x, 0, false);
    case DotOrder::kGenericFma:
      return DotGeneric(w, x, 0, true);
    case DotOrder::kCandleUnopt:
      return DotCandleUnopt(w, x);
    case DotOrder::kAvx2Fma8:
      return DotAvx2(w, x, false);
    case DotOrder::kGgmlNeon:
      return DotGgmlNeon(w, x, false);
    case DotOrder::kGgmlNeonFma:
      return DotGgmlNeon(w, x, true);
    case DotOrder::kCandleNeon:
      return DotCandleNeon(w, x, false);
    case DotOrder::kCandleNeonFma:
      return DotCandleNeon(w, x, true);
    case DotOrder::kAvx2Fma8Sign:
      return DotAvx2(w, x, true);
    case DotOrder::kGgmlAvxSign:
      return DotGgmlAvx(w, x, false);
    case DotOrder::kGgmlAvxFmaSign:
      return DotGgmlAvx(w, x, true);
  }
  return 0;
}

std::vector<Block> ReadBlocks(std::span<const std::uint8_t> bytes) {
  std::vector<Block> blocks(bytes.size() / kQ80Bytes);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    blocks[b] = ReadQ80(bytes.subspan(b * kQ80Bytes, kQ80Bytes));
  }
  return blocks;
}

std::expected<DotResult, Refusal> DotOperation(std::span<const std::uint8_t> w,
                                               std::span<const std::uint8_t> x,
                                               std::uint64_t n,
                                               DotOrder order) {
  const std::uint64_t size = n / kBlockValues * kQ80Bytes;
  if (auto refusal = CheckShape(n, w.size(), size)) {
    return std::unexpected(*refusal);
  }
  if (auto refusal = CheckShape(n, x.size(), size)) {
    return std::unexpected(*refusal);
  }
  const std::vector<Block> left = ReadBlocks(w);
  const std::vector<Block> right = ReadBlocks(x);
  DotResult result;
  result.y = Dot(left, right, order);
  for (std::size_t b = 0; b < left.size(); ++b) {
    result.isum.push_back(order == DotOrder::kAvx2Fma8Sign
                              ? IntegerSumSignDefect(left[b], right[b])
                              : IntegerSum(left[b], right[b]));
  }
  return result;
}

std::expected<std::vector<float>, Refusal> Matvec(const MatvecInput& input,
                                                  DotOrder order,
                                                  const Quantizer& quantizer) {
  const std::uint64_t row_blocks = input.n / kBlockValues;
  const std::uint64_t x_block = input.x_is_f32 ? 4 * kBlockValues : kQ80Bytes;
  if (auto refusal = CheckShape(input.n, input.w.size(),
                                row_blocks * input.rows * kQ80Bytes)) {
    return std::unexpected(*refusal);
  }
  if (auto refusal = CheckShape(input.n, input.x.size(),
                                row_blocks * input.cols * x_block)) {
    return std::unexpected(*refusal);
  }
  Bytes x(input.x.begin(), input.x.end());
  if (input.x_is_f32) {
    auto quantized = Quantize(input.x, input.n, input.cols, quantizer);
    if (!quantized) return std::unexpected(quantized.error());
    x = std::move(*quantized);
  }
  const std::vector<Block> weights = ReadBlocks(input.w);
  const std::vector<Block> columns = ReadBlocks(x);
  std::vector<float> y;
  for (std::uint64_t c = 0; c < input.cols; ++c) {
    const Row column = Row(columns).subspan(c * row_blocks, row_blocks);
    for (std::uint64_t r = 0; r < input.rows; ++r) {
      // q8_0.matvec.row_equals_dot
      y.push_back(
          Dot(Row(weights).subspan(r * row_blocks, row_blocks), column, order));
    }
  }
  return y;
}

}  // namespace weightproof::q8_0
