#include "reference/q8_0/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "reference/q8_0/f16.h"
#include "reference/q8_0/rules.h"

namespace weightproof::q8_0 {
namespace {

float Float(std::uint32_t pattern) { return std::bit_cast<float>(pattern); }

using Values = std::array<float, kBlockValues>;

Values Ramp() {
  Values x;
  std::iota(x.begin(), x.end(), 0.0f);
  return x;
}

Bytes Image(std::span<const float> values) {
  Bytes bytes(4 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    WriteF32(values[i], bytes, i);
  }
  return bytes;
}

Quantizer Named(std::string_view name) {
  return FindQuantizer(name)->quantizer;
}

std::vector<int> Codes(const Block& block, std::size_t count) {
  return {block.q.begin(), block.q.begin() + static_cast<long>(count)};
}

TEST(Quantize, BreaksTiesAwayFromZero) {
  const Values x = {127, .5f, 1.5f, 2.5f, -.5f, -1.5f, -2.5f, .9f};
  const Block spec = QuantizeBlock(x, {});
  EXPECT_EQ(spec.d, 0x3c00);
  EXPECT_EQ(Codes(spec, 8), (std::vector<int>{127, 1, 2, 3, -1, -2, -3, 1}));
  EXPECT_EQ(Codes(QuantizeBlock(x, Named("ggml-neon")), 8),
            (std::vector<int>{127, 0, 2, 2, 0, -2, -2, 1}));
  EXPECT_EQ(Codes(QuantizeBlock(x, Named("ggml-wasm")), 8),
            (std::vector<int>{127, 0, 1, 2, 0, -1, -2, 0}));
}

TEST(Quantize, RoundsTheLargestFloatBelowOneHalfToZero) {
  const Values x = {127, Float(0x3effffff), Float(0xbeffffff)};
  EXPECT_EQ(Codes(QuantizeBlock(x, {}), 3), (std::vector<int>{127, 0, 0}));
  Quantizer floor_half = Named("candle");
  floor_half.rounding = Rounding::kFloorHalf;
  EXPECT_EQ(Codes(QuantizeBlock(x, floor_half), 3),
            (std::vector<int>{127, 1, 0}));
}

TEST(Quantize, InvertsTheUnroundedScale) {
  const Values x = {Float(0x3f799012), Float(0x3dd43a02)};
  EXPECT_EQ(QuantizeBlock(x, {}).d, 0x1fdc);
  EXPECT_EQ(QuantizeBlock(x, {}).q[1], 0x0e);
  EXPECT_EQ(QuantizeBlock(x, Named("ggml-avx2")).q[1], 0x0d);
  EXPECT_EQ(QuantizeBlock(x, Named("div")).q[1], 0x0d);
}

TEST(Quantize, GivesZeroCodesWhereTheReciprocalIsInfinite) {
  const Values last = {Float(0x02fe0003), Float(0x02fe0003) / 2};
  const Block zero = QuantizeBlock(last, {});
  EXPECT_EQ(zero.d, 0);
  EXPECT_EQ(Codes(zero, 2), (std::vector<int>{0, 0}));
  const Values first = {Float(0x02fe0004), std::ldexp(64.0f, -128)};
  EXPECT_EQ(Codes(QuantizeBlock(first, {}), 2), (std::vector<int>{127, 64}));
}

TEST(Quantize, EmitsAnInfiniteScaleWithFiniteCodes) {
  EXPECT_EQ(QuantizeBlock(Values{Float(0x4afdf01f)}, {}).d, 0x7bff);
  EXPECT_EQ(QuantizeBlock(Values{Float(0x4afdf020)}, {}).d, 0x7c00);
  const Values x = {3.4028235e38f, -3.4028235e38f, 1e38f};
  const Block huge = QuantizeBlock(x, {});
  EXPECT_EQ(huge.d, 0x7c00);
  EXPECT_EQ(Codes(huge, 3), (std::vector<int>{127, -127, 37}));
}

TEST(Quantize, ErasesNanByPositionAsEachVariantDoes) {
  Values x = Ramp();
  x[31] = std::nanf("");
  EXPECT_TRUE(IsNanF16(QuantizeBlock(x, Named("ggml-ref")).d));
  EXPECT_EQ(QuantizeBlock(x, Named("ggml-avx2")).d, 0x338f);
  EXPECT_EQ(QuantizeBlock(x, Named("ggml-avx2")).q[31], -128);
  EXPECT_TRUE(IsNanF16(QuantizeBlock(x, Named("gguf-py")).d));
  EXPECT_EQ(QuantizeBlock(x, Named("candle")).q[31], 0);
}

TEST(Quantize, RefusesNonFiniteRowsAndNamesThePlace) {
  std::vector<float> x(96, 1.0f);
  x[70] = -INFINITY;
  const auto y = Quantize(Image(x), 32, 3);
  ASSERT_FALSE(y.has_value());
  EXPECT_EQ(y.error().rule, rules::kQuantizeNonfinite);
  EXPECT_EQ(y.error().row, 2u);
  EXPECT_EQ(y.error().offset, 280u);
  EXPECT_EQ(y.error().detail, "row 2, value 6 is infinite");
  EXPECT_TRUE(Quantize(Image(x), 32, 3, Named("candle")).has_value());
}

TEST(Quantize, RefusesRowsThatAreNoMultipleOf32) {
  const std::vector<float> x(33, 1.0f);
  const auto y = Quantize(Image(x), 33, 1);
  ASSERT_FALSE(y.has_value());
  EXPECT_EQ(y.error().rule, rules::kShapeNotMultiple);
  EXPECT_FALSE(QuantizeQ81(Image(x), 33, 1).has_value());
  EXPECT_FALSE(Dequantize(Bytes(68), 33, 1).has_value());
  EXPECT_TRUE(Quantize({}, 0, 5)->empty());
}

TEST(Quantize, RefusesABufferOfAnotherSize) {
  const auto y = Quantize(Bytes(127), 32, 1);
  ASSERT_FALSE(y.has_value());
  EXPECT_EQ(y.error().rule, kNoRule);
  EXPECT_EQ(y.error().detail, "the input has 127 bytes, not 128");
}

TEST(QuantizeQ81, TakesTheSumByItsRule) {
  Values x;
  x.fill(2047);
  EXPECT_EQ(QuantizeBlockQ81(x, *FindQ81("spec")).s, 0x7bff);
  EXPECT_EQ(QuantizeBlockQ81(x, *FindQ81("d16")).s, 0x7c00);
  EXPECT_EQ(QuantizeBlockQ81(x, *FindQ81("candle")).s, 0x7c00);
  EXPECT_EQ(QuantizeBlockQ81(x, *FindQ81("pt")).s, 4064);
  EXPECT_EQ(QuantizeBlockQ81(x, *FindQ81("float-sum")).s, 0x7bff);
}

// ggml on x86 adds the integers before it cuts them to bytes: a NaN counts
// -2^31 and s becomes -infinity.
TEST(QuantizeQ81, AddsAnInt32ForNanAsGgmlOnX86) {
  Values x = Ramp();
  x[3] = std::nanf("");
  const Block block = QuantizeBlockQ81(x, *FindQ81("ggml-avx2"));
  EXPECT_EQ(block.d, 0x33d0);
  EXPECT_EQ(block.s, 0xfc00);
  EXPECT_EQ(block.q[3], -128);
  EXPECT_EQ(QuantizeBlockQ81(x, *FindQ81("ggml-ref")).s, 0x5fb4);
}

TEST(Dequantize, IsCodeTimesScaleForAllCodesAndScales) {
  for (std::uint32_t h = 0; h < 0x10000; h += 7) {
    Bytes bytes(kQ80Bytes);
    Block block;
    block.d = static_cast<std::uint16_t>(h);
    for (int start = -128; start < 128; start += 32) {
      for (int i = 0; i < 32; ++i) {
        block.q[static_cast<std::size_t>(i)] =
            static_cast<std::int8_t>(start + i);
      }
      WriteQ80(block, bytes);
      const Bytes y = *Dequantize(bytes, 32, 1);
      for (int i = 0; i < 32; ++i) {
        const double exact =
            double{1} * (start + i) * double{ValueOfF16(block.d)};
        const float got = ReadF32(y, static_cast<std::size_t>(i));
        if (std::isnan(exact)) {
          ASSERT_TRUE(std::isnan(got)) << h;
        } else {
          ASSERT_EQ(double{got}, exact) << h << " " << start + i;
          ASSERT_EQ(std::signbit(got), std::signbit(exact));
        }
      }
    }
  }
}

TEST(Variants, AreFoundByNameAndSpecIsFirst) {
  EXPECT_EQ(Quantizers().size(), 9u);
  EXPECT_EQ(Quantizers()[0].name, "spec");
  EXPECT_EQ(Quantizers()[0].quantizer, Quantizer{});
  EXPECT_EQ(FindQuantizer("avx2"), nullptr);
  EXPECT_EQ(FindQ81("cuda"), nullptr);
}

}  // namespace
}  // namespace weightproof::q8_0
