#include "reference/q8_0/f16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace weightproof::q8_0 {
namespace {

std::uint32_t Bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(F16FromF32, RoundsAsPublished) {
  const struct {
    std::uint32_t f32;
    std::uint16_t f16;
  } cases[] = {
      {0x3ffff000, 0x4000},  // the carry enters the exponent
      {0x3f801001, 0x3c01},  // truncation gives 3c00
      {0x3f801000, 0x3c00},  // tie, even
      {0x477ff000, 0x7c00},  // 65520
      {0x477fefff, 0x7bff}, {0xc77ff000, 0xfc00}, {0x387fdfff, 0x03ff},
      {0x387fe000, 0x0400}, {0x33c00000, 0x0002}, {0x34200000, 0x0002},
      {0x33000000, 0x0000}, {0x33000001, 0x0001}, {0xb3000000, 0x8000},
      {0x80000000, 0x8000}, {0x00000001, 0x0000}, {0x7f7fffff, 0x7c00},
      {0x7f800000, 0x7c00}, {0xff800000, 0xfc00},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(F16FromF32(c.f32), c.f16) << std::hex << c.f32;
  }
}

TEST(F16FromF32, KeepsEveryNanANan) {
  for (std::uint32_t f32 : {0x7f800001u, 0x7fc00000u, 0xff800001u, 0xffffffffu,
                            0x7f801fffu, 0x7f802000u}) {
    EXPECT_TRUE(IsNanF16(F16FromF32(f32))) << std::hex << f32;
    EXPECT_EQ(F16FromF32(f32) & 0x8000, (f32 >> 16) & 0x8000);
  }
}

// Every border between two neighbouring halves, of either sign: the midpoint
// goes to the even one, its neighbours to the nearer one.
TEST(F16FromF32, IsNearestEvenAtEveryBorder) {
  for (std::uint16_t h = 0; h < 0x7bff; ++h) {
    const float below = ValueOfF16(h);
    const float above = ValueOfF16(static_cast<std::uint16_t>(h + 1));
    const float middle = below + (above - below) / 2;  // exact in f32
    const std::uint16_t even = static_cast<std::uint16_t>(h + (h & 1));
    ASSERT_EQ(F16FromF32(Bits(middle)), even) << h;
    ASSERT_EQ(F16FromF32(Bits(middle) - 1), h);
    ASSERT_EQ(F16FromF32(Bits(middle) + 1), h + 1);
    ASSERT_EQ(F16FromF32(Bits(-middle)), even | 0x8000);
    ASSERT_EQ(F16FromF32Truncated(Bits(middle)), h);
    ASSERT_EQ(F16FromF32Truncated(Bits(above) - 1), h);
    ASSERT_EQ(F16FromF32Truncated(Bits(above)), h + 1);
  }
}

TEST(F32FromF16, IsExactForEveryFinitePattern) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto half = static_cast<std::uint16_t>(h);
    const float value = ValueOfF16(half);
    if ((half & 0x7c00) == 0x7c00) {
      EXPECT_EQ(std::isnan(value), IsNanF16(half));
      EXPECT_EQ(std::isinf(value), !IsNanF16(half));
      continue;
    }
    const int exponent = (half >> 10) & 0x1f;
    const int mantissa = half & 0x3ff;
    const double magnitude = exponent == 0
                                 ? std::ldexp(mantissa, -24)
                                 : std::ldexp(1024 + mantissa, exponent - 25);
    ASSERT_EQ(static_cast<double>(std::fabs(value)), magnitude) << h;
    ASSERT_EQ(std::signbit(value), (half & 0x8000) != 0) << h;
    ASSERT_EQ(F16FromF32(Bits(value)), half);
  }
}

}  // namespace
}  // namespace weightproof::q8_0
