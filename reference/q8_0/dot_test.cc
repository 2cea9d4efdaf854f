#include "reference/q8_0/dot.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "reference/q8_0/f16.h"
#include "reference/q8_0/generator.h"
#include "reference/q8_0/rules.h"

namespace weightproof::q8_0 {
namespace {

Block Filled(std::uint16_t d, int code) {
  Block block;
  block.d = d;
  block.q.fill(static_cast<std::int8_t>(code));
  return block;
}

std::uint32_t Bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(Dot, SumsMinus128Exactly) {
  const std::vector<Block> w(3, Filled(0x3c00, -1));
  const std::vector<Block> x(3, Filled(0x3c00, -128));
  EXPECT_EQ(Dot(w, x), 12288.0f);
  EXPECT_EQ(Dot(w, x, DotOrder::kAvx2Fma8Sign), -12288.0f);
  EXPECT_EQ(Dot(x, x), 1572864.0f);
  EXPECT_EQ(Dot(x, x, DotOrder::kAvx2Fma8Sign), -1572864.0f);
  // On the left alone the sign trick is right.
  EXPECT_EQ(Dot(x, w, DotOrder::kAvx2Fma8Sign), 12288.0f);
}

// ggml on x86 with AVX alone takes blocks by twos, an odd last one exactly.
TEST(Dot, AvxLosesSignsButNotInAnOddLastBlock) {
  const std::vector<Block> w(3, Filled(0x3c00, -1));
  const std::vector<Block> x(3, Filled(0x3c00, -128));
  EXPECT_EQ(Dot(w, x, DotOrder::kGgmlAvxSign), -4096.0f);
  EXPECT_EQ(Dot(w, x, DotOrder::kGgmlAvxFmaSign), -4096.0f);
}

TEST(Dot, AddsInThirtyTwoLanes) {
  std::vector<Block> w(33, Filled(0x3c00, 0));
  std::vector<Block> x(33, Filled(0x3c00, 1));
  // Block 0 is 2^24, block 16 -2^24, block 32 is 1.
  w[0].d = w[16].d = 0x5c00;
  x[0].d = x[16].d = 0x4c00;
  w[0].q[0] = 64;
  w[16].q[0] = -64;
  x[0].q[0] = x[16].q[0] = 64;
  w[32].q[0] = 1;
  EXPECT_EQ(Bits(Dot(w, x)), 0u);
  EXPECT_EQ(Dot(w, x, DotOrder::kGeneric), 1.0f);
}

TEST(Dot, NoBlocksAndNegativeZerosGivePositiveZero) {
  EXPECT_EQ(Bits(Dot({}, {})), 0u);
  const std::vector<Block> w(1, Filled(0x8000, 1));
  const std::vector<Block> x(1, Filled(0x3c00, 1));
  EXPECT_EQ(Bits(Dot(w, x)), 0u);
}

TEST(DotOperation, RefusesBrokenShapes) {
  const auto odd = DotOperation(Bytes(68), Bytes(68), 33);
  ASSERT_FALSE(odd.has_value());
  EXPECT_EQ(odd.error().rule, rules::kShapeNotMultiple);
  EXPECT_FALSE(DotOperation(Bytes(34), Bytes(33), 32).has_value());
  EXPECT_TRUE(DotOperation({}, {}, 0).has_value());
}

TEST(Matvec, IsTheDotOfEachRowAndColumn) {
  const std::uint64_t n = 96, rows = 5, cols = 3;
  const Bytes w = *ExpandGenerator({7, 's', n / 32 * rows});
  const Bytes x = *ExpandGenerator({8, 'f', n / 32 * cols});
  MatvecInput input{w, x, false, n, rows, cols};
  const auto y = Matvec(input);
  ASSERT_TRUE(y.has_value());
  const auto left = ReadBlocks(w), right = ReadBlocks(x);
  for (std::size_t c = 0; c < cols; ++c) {
    for (std::size_t r = 0; r < rows; ++r) {
      const float dot = Dot(std::span(left).subspan(3 * r, 3),
                            std::span(right).subspan(3 * c, 3));
      EXPECT_EQ(Bits((*y)[c * rows + r]), Bits(dot));
    }
  }
  input.rows = 0;
  input.w = {};
  EXPECT_TRUE(Matvec(input)->empty());
  input.cols = 4;
  EXPECT_FALSE(Matvec(input).has_value());
}

TEST(Matvec, RefusesNonFiniteActivations) {
  Bytes x(128);
  WriteF32(std::numeric_limits<float>::infinity(), x, 3);
  const Bytes w(34);
  const MatvecInput input{w, x, true, 32, 1, 1};
  const auto y = Matvec(input);
  ASSERT_FALSE(y.has_value());
  EXPECT_EQ(y.error().rule, rules::kQuantizeNonfinite);
}

TEST(Exact, IsAnIntegerOfTwoToTheMinus48) {
  const std::vector<Block> w(2, Filled(0x7bff, 127));
  const auto exact = Exact(w, w);
  ASSERT_TRUE(exact.has_value());
  EXPECT_EQ(ToDecimal(exact->value), "1246702555595618546104429182976");
  EXPECT_EQ(exact->magnitude, exact->value);
  const std::vector<Block> tiny(1, Filled(0x0001, -128));
  EXPECT_EQ(ToDecimal(Exact(tiny, tiny)->value), "524288");
  const std::vector<Block> infinite(1, Filled(0x7c00, 1));
  EXPECT_FALSE(Exact(infinite, tiny).has_value());
}

TEST(ToDecimal, PrintsAllValues) {
  EXPECT_EQ(ToDecimal(0), "0");
  EXPECT_EQ(ToDecimal(-1), "-1");
  EXPECT_EQ(ToDecimal(-120), "-120");
  const __int128 lowest = static_cast<__int128>(1) << 126;
  EXPECT_EQ(ToDecimal(-lowest - lowest),
            "-170141183460469231731687303715884105728");
}

TEST(BoundRatio, AcceptsEveryOrderAndRefusesWrongSums) {
  const auto w = ReadBlocks(*ExpandGenerator({1027, 's', 544}));
  const auto x = ReadBlocks(*ExpandGenerator({1028, 's', 544}));
  const auto exact = Exact(w, x);
  for (const NamedDotOrder& named : DotOrders()) {
    if (named.name.ends_with("+sign")) continue;  // codes -128 are drawn
    EXPECT_LT(BoundRatio(Dot(w, x, named.order), *exact), 0.1) << named.name;
  }
  EXPECT_LT(PublishedBoundRatio(Dot(w, x), w, x), 1);
  const float y = Dot(w, x);
  EXPECT_GT(BoundRatio(y + std::fabs(y), *exact), 1);
  EXPECT_GT(BoundRatio(std::nanf(""), *exact), 1);
  EXPECT_GT(BoundRatio(INFINITY, *exact), 1);
  EXPECT_GT(BoundRatio(-3e38f, *exact), 1);
}

TEST(BoundRatio, WantsAZeroWhereNothingIsAdded) {
  const ExactDot zero{0, 0, 4};
  EXPECT_EQ(BoundRatio(0.0f, zero), 0);
  EXPECT_EQ(BoundRatio(-0.0f, zero), 0);
  EXPECT_GT(BoundRatio(1e-45f, zero), 1);
}

}  // namespace
}  // namespace weightproof::q8_0
