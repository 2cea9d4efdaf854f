// Properties that hold for any input. RapidCheck prints its seed; repeat a
// run with RC_PARAMS="seed=N".
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/q8_0/dot.h"
#include "reference/q8_0/f16.h"
#include "reference/q8_0/quantize.h"

namespace weightproof::q8_0 {
namespace {

using Values = std::vector<float>;

float Amax(const Values& x) {
  float amax = 0;
  for (float value : x) amax = std::max(amax, std::fabs(value));
  return amax;
}

// A finite float whose exponent field is first .. first + span - 1.
rc::Gen<float> FloatIn(int first, int span) {
  return rc::gen::map(
      rc::gen::arbitrary<std::uint32_t>(), [=](std::uint32_t r) {
        const std::uint32_t exponent = static_cast<std::uint32_t>(
            first + static_cast<int>((r >> 24) % 128) % span);
        return std::bit_cast<float>((r << 31) | (exponent << 23) |
                                    ((r >> 1) & 0x7fffff));
      });
}

// Blocks of one magnitude, of bf16 numbers, of halves, of any bits, with
// zeros.
rc::Gen<Values> AnyBlock() {
  const auto element = rc::gen::oneOf(
      FloatIn(118, 10), FloatIn(0, 255), FloatIn(100, 30),
      rc::gen::map(FloatIn(118, 10),
                   [](float x) {
                     return std::bit_cast<float>(
                         std::bit_cast<std::uint32_t>(x) & 0xffff0000);
                   }),
      rc::gen::map(rc::gen::inRange(-254, 255),
                   [](int i) { return static_cast<float>(i) / 2; }),
      rc::gen::just(0.0f), rc::gen::just(-0.0f));
  return rc::gen::container<Values>(kBlockValues, element);
}

// Blocks whose scale stays a normal f16 when doubled or halved a few times.
rc::Gen<Values> OrdinaryBlock() {
  return rc::gen::container<Values>(kBlockValues, FloatIn(125, 6));
}

// d is no NaN and not infinite; no code is -128 unless wanted.
rc::Gen<std::vector<Block>> Blocks(std::size_t count, bool neg128) {
  const auto block = rc::gen::map(rc::gen::container<std::vector<std::uint8_t>>(
                                      34, rc::gen::arbitrary<std::uint8_t>()),
                                  [=](std::vector<std::uint8_t> bytes) {
                                    Block out = ReadQ80(bytes);
                                    if ((out.d & 0x7c00) == 0x7c00)
                                      out.d &= 0x83ff;
                                    for (std::int8_t& code : out.q) {
                                      if (code == -128 && !neg128) code = 1;
                                    }
                                    return out;
                                  });
  return rc::gen::container<std::vector<Block>>(count, block);
}

std::uint32_t Bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(Properties, CodesStayWithin127AndAmaxGetsIt) {
  EXPECT_TRUE(rc::check([] {
    const Values x = *AnyBlock();
    const Block block = QuantizeBlock(x, {});
    const float amax = Amax(x);
    const float d = amax / 127.0f;
    RC_ASSERT((block.d & 0x8000) == 0);
    RC_ASSERT(block.d == F16FromF32(Bits(d)));
    for (std::size_t i = 0; i < kBlockValues; ++i) {
      RC_ASSERT(block.q[i] >= -127);
      if (d > 0 && std::isfinite(1.0f / d) && std::fabs(x[i]) == amax) {
        RC_ASSERT(block.q[i] == (std::signbit(x[i]) ? -127 : 127));
      }
    }
  }));
}

TEST(Properties, NegatedInputNegatesTheCodes) {
  EXPECT_TRUE(rc::check([] {
    Values x = *AnyBlock();
    const Block plain = QuantizeBlock(x, {});
    for (float& value : x) value = -value;
    const Block negated = QuantizeBlock(x, {});
    RC_ASSERT(negated.d == plain.d);
    for (std::size_t i = 0; i < kBlockValues; ++i) {
      RC_ASSERT(negated.q[i] == -plain.q[i]);
    }
  }));
}

TEST(Properties, PowersOfTwoMoveTheScaleOnly) {
  EXPECT_TRUE(rc::check([] {
    Values x = *OrdinaryBlock();
    const int k = *rc::gen::inRange(-4, 8);
    const Block plain = QuantizeBlock(x, {});
    for (float& value : x) value = std::ldexp(value, k);
    const Block scaled = QuantizeBlock(x, {});
    RC_ASSERT(scaled.q == plain.q);
    RC_ASSERT(ValueOfF16(scaled.d) == std::ldexp(ValueOfF16(plain.d), k));
  }));
}

TEST(Properties, OrderOfTheBlockDoesNotMatter) {
  EXPECT_TRUE(rc::check([] {
    Values x = *AnyBlock();
    const auto turn = *rc::gen::inRange<std::size_t>(0, kBlockValues);
    Block plain = QuantizeBlock(x, {});
    std::rotate(x.begin(), x.begin() + static_cast<long>(turn), x.end());
    const Block turned = QuantizeBlock(x, {});
    std::rotate(plain.q.begin(), plain.q.begin() + static_cast<long>(turn),
                plain.q.end());
    RC_ASSERT(turned.d == plain.d);
    RC_ASSERT(turned.q == plain.q);
  }));
}

TEST(Properties, CanonicalBlocksSurviveARoundTrip) {
  EXPECT_TRUE(rc::check([] {
    Block block = (*Blocks(1, false))[0];
    block.d = *rc::gen::inRange<std::uint16_t>(1, 0x7c00);
    block.q[*rc::gen::inRange<std::size_t>(0, kBlockValues)] = -127;
    Bytes bytes(kQ80Bytes);
    WriteQ80(block, bytes);
    RC_ASSERT(*Quantize(*Dequantize(bytes, 32, 1), 32, 1) == bytes);
  }));
}

// All scales, once each.
TEST(Properties, EveryPositiveScaleSurvivesARoundTrip) {
  for (std::uint16_t d = 1; d < 0x7c00; ++d) {
    Block block;
    block.d = d;
    for (std::size_t i = 0; i < kBlockValues; ++i) {
      block.q[i] = static_cast<std::int8_t>(127 - 8 * static_cast<int>(i));
    }
    Bytes bytes(kQ80Bytes);
    WriteQ80(block, bytes);
    ASSERT_EQ(*Quantize(*Dequantize(bytes, 32, 1), 32, 1), bytes) << d;
  }
}

TEST(Properties, ErrorIsWithinHalfAStep) {
  EXPECT_TRUE(rc::check([] {
    const Values x = *rc::gen::oneOf(OrdinaryBlock(), AnyBlock());
    const double d = Amax(x) / 127.0f;
    const Block block = QuantizeBlock(x, {});
    const double stored = ValueOfF16(block.d);
    RC_PRE(d >= 0x1p-126 && std::isfinite(stored));
    const double bound = (0.5 + 0x1p-15) * d + 127 * std::fabs(d - stored);
    for (std::size_t i = 0; i < kBlockValues; ++i) {
      RC_ASSERT(std::fabs(x[i] - block.q[i] * stored) <= bound);
    }
  }));
}

TEST(Properties, DotIsSymmetricOddAndPaddable) {
  EXPECT_TRUE(rc::check([] {
    const auto count = *rc::gen::inRange<std::size_t>(0, 71);
    auto w = *Blocks(count, false);
    auto x = *Blocks(count, true);
    const float y = Dot(w, x);
    RC_ASSERT(Bits(Dot(x, w)) == Bits(y));
    auto negated = w;
    for (Block& block : negated) {
      for (std::int8_t& code : block.q) {
        code = static_cast<std::int8_t>(-code);
      }
    }
    RC_ASSERT(Dot(negated, x) == -y);
    w.resize(count + 5);
    x.resize(count + 5);
    RC_ASSERT(Bits(Dot(w, x)) == Bits(y));
    RC_ASSERT(PublishedBoundRatio(y, w, x) <= 1);
    for (const NamedDotOrder& named : DotOrders()) {
      if (named.name.ends_with("+sign")) continue;
      RC_LOG() << named.name << "\n";
      RC_ASSERT(BoundRatio(Dot(w, x, named.order), *Exact(w, x)) <= 1);
    }
  }));
}

}  // namespace
}  // namespace weightproof::q8_0
