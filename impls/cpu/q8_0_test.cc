// Every numeric implementation against the reference, bit for bit: one body,
// one instance for each. Inputs end or begin at pages that fault, outputs are
// poisoned and lie at odd addresses.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "impls/cpu/q8_0_testing.h"
#include "reference/q8_0/environment.h"

namespace weightproof::impls {
namespace {

using Side = Guarded::Side;

class Q80Test : public testing::TestWithParam<const wp_implementation*> {
 protected:
  // False where this machine cannot run the implementation: it must say so.
  bool Runs() const {
    wp_answer answer = Fresh();
    GetParam()->q8_0_quantize(nullptr, nullptr, 0, 0, nullptr, &answer);
    if (answer.status == WP_STATUS_OK) return true;
    EXPECT_EQ(answer.status, WP_STATUS_NOT_RUN);
    EXPECT_STRNE(answer.detail, "");
    std::printf("NOT RUN: %s: %s\n", GetParam()->name, answer.detail);
    return false;
  }
  const wp_implementation& impl() const { return *GetParam(); }
  const wp_implementation& reference() const { return NumericReference(); }
  std::mt19937_64 random_{TestSeed()};
};

INSTANTIATE_TEST_SUITE_P(All, Q80Test,
                         testing::ValuesIn(NumericImplementations()),
                         [](const auto& info) {
                           return std::string(info.param->name);
                         });

// Two f32 images are equal, a NaN equal to any other.
void ExpectFloatsEqual(const Image& expected, const Image& got,
                       const std::string& what) {
  ASSERT_EQ(expected.size(), got.size());
  for (std::size_t i = 0; i + 4 <= got.size(); i += 4) {
    std::uint32_t a, b;
    std::memcpy(&a, expected.data() + i, 4);
    std::memcpy(&b, got.data() + i, 4);
    if ((a & 0x7fffffff) > 0x7f800000) {
      ASSERT_GT(b & 0x7fffffff, 0x7f800000u) << what << ", value " << i / 4;
    } else {
      ASSERT_EQ(a, b) << what << ", value " << i / 4;
    }
  }
}

void CheckQuantize(const wp_implementation& reference,
                   const wp_implementation& impl, const Image& x, Side side,
                   bool q8_1) {
  const std::uint64_t n = x.size() / 4;
  const std::size_t size = n / 32 * (q8_1 ? 36 : 34);
  Guarded input(x, side);
  Poisoned expected(size), got(size);
  wp_answer a = Fresh(), b = Fresh();
  const auto call = [&](const wp_implementation& by, std::uint8_t* y,
                        wp_answer* answer) {
    const auto operation = q8_1 ? by.q8_1_quantize : by.q8_0_quantize;
    operation(nullptr, input.As<float>(), n, 1, y, answer);
  };
  call(reference, expected.data(), &a);
  call(impl, got.data(), &b);
  ASSERT_EQ(a.verdict, b.verdict);
  ASSERT_TRUE(got.MarginsIntact());
  if (a.verdict == WP_ACCEPT) {
    ASSERT_EQ(expected.Content(), got.Content());
  }
}

TEST_P(Q80Test, QuantizesAsTheReference) {
  if (!Runs()) return;
  for (const bool q8_1 : {false, true}) {
    for (int kind = 0; kind < kFloatKinds; ++kind) {
      for (std::uint64_t blocks = 0; blocks < 27; ++blocks) {
        SCOPED_TRACE(testing::Message() << "kind " << kind << ", blocks "
                                        << blocks << ", q8_1 " << q8_1);
        const Image x = FloatBlocks(kind, blocks, random_);
        for (const Side side : {Side::kEnd, Side::kBegin}) {
          CheckQuantize(reference(), impl(), x, side, q8_1);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Borders of the reciprocal, of the stored scale and of the code.
TEST_P(Q80Test, QuantizesBordersAsTheReference) {
  if (!Runs()) return;
  for (const std::uint32_t amax :
       {0x00000001u, 0x0000003fu, 0x00000040u, 0x007fffffu, 0x00800000u,
        0x02fe0003u, 0x02fe0004u, 0x03fdffffu, 0x03fe0000u, 0x367dffffu,
        0x367e0000u, 0x367e0001u, 0x36be8000u, 0x371ec000u, 0x4afdf01fu,
        0x4afdf020u, 0x7f7fffffu}) {
    for (int lane = 0; lane < 32; ++lane) {
      Image x = FloatBlocks(0, 9, random_);
      for (std::size_t b = 0; b < 9; ++b) {
        for (std::uint32_t i = 0; i < 32; ++i) {
          const std::uint32_t pattern =
              static_cast<int>(i) == lane
                  ? amax
                  : static_cast<std::uint32_t>(random_() % amax) |
                        (i % 2 << 31);
          std::memcpy(x.data() + 128 * b + 4 * i, &pattern, 4);
        }
      }
      SCOPED_TRACE(testing::Message() << std::hex << amax);
      CheckQuantize(reference(), impl(), x, Side::kEnd, lane % 2 == 0);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Q80Test, RefusesNonFiniteRowsAndNothingElse) {
  if (!Runs()) return;
  for (const std::uint32_t bad :
       {0x7f800000u, 0xff800000u, 0x7f800001u, 0xffc00000u, 0x7fffffffu}) {
    for (std::size_t at = 0; at < 17 * 32; at += 1 + at / 40) {
      Image x = FloatBlocks(6, 17, random_);
      std::memcpy(x.data() + 4 * at, &bad, 4);
      Poisoned y(17 * 34);
      wp_answer answer = Fresh();
      impl().q8_0_quantize(nullptr, reinterpret_cast<const float*>(x.data()),
                           32, 17, y.data(), &answer);
      ASSERT_EQ(answer.status, WP_STATUS_OK);
      ASSERT_EQ(answer.verdict, WP_REJECT);
      ASSERT_STREQ(answer.rule, "q8_0.quantize.nonfinite");
      ASSERT_EQ(answer.row, static_cast<std::int64_t>(at / 32));
      ASSERT_EQ(answer.offset, 4 * at);
      ASSERT_TRUE(y.MarginsIntact());
      // The other rows hold their blocks.
      Poisoned expected(17 * 34);
      const float zero = 0;
      std::memcpy(x.data() + 4 * at, &zero, 4);
      wp_answer unused = Fresh();
      reference().q8_0_quantize(nullptr,
                                reinterpret_cast<const float*>(x.data()), 32,
                                17, expected.data(), &unused);
      Image got = y.Content(), want = expected.Content();
      const auto row = static_cast<long>(at / 32 * 34);
      got.erase(got.begin() + row, got.begin() + row + 34);
      want.erase(want.begin() + row, want.begin() + row + 34);
      ASSERT_EQ(got, want);
    }
  }
}

TEST_P(Q80Test, DequantizesAsTheReference) {
  if (!Runs()) return;
  for (int kind = 0; kind < kBlockKinds; ++kind) {
    for (const std::uint64_t blocks : {0, 1, 2, 3, 7, 8, 9, 31, 70}) {
      const Image x = Q80Blocks(kind, blocks, random_);
      for (const Side side : {Side::kEnd, Side::kBegin}) {
        Guarded input(x, side);
        Poisoned expected(128 * blocks), got(128 * blocks);
        wp_answer a = Fresh(), b = Fresh();
        reference().q8_0_dequantize(nullptr, input.data(), 32 * blocks, 1,
                                    expected.As<float>(), &a);
        impl().q8_0_dequantize(nullptr, input.data(), 32 * blocks, 1,
                               got.As<float>(), &b);
        ASSERT_EQ(b.verdict, WP_ACCEPT);
        ASSERT_TRUE(got.MarginsIntact());
        ExpectFloatsEqual(expected.Content(), got.Content(),
                          "kind " + std::to_string(kind));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Q80Test, ConvertsEveryHalf) {
  if (!Runs()) return;
  Image x;
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    x.push_back(static_cast<std::uint8_t>(h));
    x.push_back(static_cast<std::uint8_t>(h >> 8));
  }
  for (const std::uint64_t count : {0, 1, 3, 7, 8, 9, 65536}) {
    Guarded input(std::span<const std::uint8_t>(x).first(2 * count),
                  Side::kEnd);
    Poisoned expected(4 * count), got(4 * count);
    wp_answer a = Fresh(), b = Fresh();
    reference().f16_to_f32(nullptr, input.As<std::uint16_t>(), count,
                           expected.As<float>(), &a);
    impl().f16_to_f32(nullptr, input.As<std::uint16_t>(), count,
                      got.As<float>(), &b);
    ASSERT_TRUE(got.MarginsIntact());
    ExpectFloatsEqual(expected.Content(), got.Content(), "f16_to_f32");
  }
}

// f32 patterns at and beside every border between two halves, and any bits.
TEST_P(Q80Test, ConvertsToTheNearestHalf) {
  if (!Runs()) return;
  Image x;
  const auto add = [&](std::uint32_t pattern) {
    for (int k = 0; k < 4; ++k) {
      x.push_back(static_cast<std::uint8_t>(pattern >> (8 * k)));
    }
  };
  for (std::uint32_t top = 0x32000000; top < 0x48000000; top += 0x1000) {
    add(top);
    add(top + 1);
    add((top - 1) | 0x80000000);
  }
  for (int i = 0; i < 20000; ++i) add(static_cast<std::uint32_t>(random_()));
  for (const std::uint32_t special :
       {0x7f800000u, 0xff800000u, 0x7f800001u, 0xffffffffu, 1u, 0x807fffffu}) {
    add(special);
  }
  const std::uint64_t count = x.size() / 4;
  Guarded input(x, Side::kEnd);
  Poisoned expected(2 * count), got(2 * count);
  wp_answer a = Fresh(), b = Fresh();
  reference().f16_from_f32(nullptr, input.As<float>(), count,
                           expected.As<std::uint16_t>(), &a);
  impl().f16_from_f32(nullptr, input.As<float>(), count,
                      got.As<std::uint16_t>(), &b);
  ASSERT_TRUE(got.MarginsIntact());
  const Image want = expected.Content(), have = got.Content();
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned e = want[2 * i] | want[2 * i + 1] << 8;
    const unsigned g = have[2 * i] | have[2 * i + 1] << 8;
    const bool nan = (e & 0x7fff) > 0x7c00;
    ASSERT_TRUE(nan ? (g & 0x7fff) > 0x7c00 : g == e)
        << i << std::hex << " " << e << " " << g;
  }
}

TEST_P(Q80Test, ValidatesAsTheReference) {
  for (int round = 0; round < 400; ++round) {
    const bool q8_1 = round % 2 != 0;
    const std::uint64_t blocks = random_() % 5;
    const std::size_t stride = q8_1 ? 36 : 34;
    Image x(stride * blocks);
    for (std::uint64_t b = 0; b < blocks; ++b) {
      x[stride * b + 1] = static_cast<std::uint8_t>(random_());
      x[stride * b] = static_cast<std::uint8_t>(random_() % 2);
      x[stride * b + 3] = static_cast<std::uint8_t>(random_());
      x[stride * b + stride - 1] = static_cast<std::uint8_t>(random_());
    }
    if (round % 7 == 0) x.resize(x.size() + random_() % 4);
    const std::uint64_t n = 32 * blocks + (round % 11 == 0 ? 1 : 0);
    wp_answer a = Fresh(), b = Fresh();
    const auto call = [&](const wp_implementation& by, wp_answer* answer) {
      (q8_1 ? by.q8_1_validate : by.q8_0_validate)({x.data(), x.size()}, n, 1,
                                                   answer);
    };
    call(reference(), &a);
    call(impl(), &b);
    ASSERT_EQ(a.verdict, b.verdict) << round;
    ASSERT_EQ(std::string(a.rule ? a.rule : ""),
              std::string(b.rule ? b.rule : ""));
    ASSERT_EQ(a.offset, b.offset);
    ASSERT_EQ(std::string_view(a.detail).starts_with("not canonical"),
              std::string_view(b.detail).starts_with("not canonical"));
  }
}

TEST_P(Q80Test, RefusesBrokenShapesAndWritesNothing) {
  if (!Runs()) return;
  const Image blocks = Q80Blocks(4, 2, random_);
  const Image floats = FloatBlocks(6, 2, random_);
  Poisoned y(512);
  const auto* f = reinterpret_cast<const float*>(floats.data());
  for (const std::uint64_t n : {1, 31, 33, 48}) {
    wp_answer a[5] = {Fresh(), Fresh(), Fresh(), Fresh(), Fresh()};
    impl().q8_0_quantize(nullptr, f, n, 1, y.data(), &a[0]);
    impl().q8_1_quantize(nullptr, f, n, 1, y.data(), &a[1]);
    impl().q8_0_dequantize(nullptr, blocks.data(), n, 1, y.As<float>(), &a[2]);
    impl().q8_0_dot(nullptr, blocks.data(), blocks.data(), n, y.As<float>(),
                    nullptr, &a[3]);
    impl().q8_0_matvec(nullptr, blocks.data(), blocks.data(), nullptr, n, 1, 1,
                       1, y.As<float>(), &a[4]);
    for (const wp_answer& answer : a) {
      EXPECT_EQ(answer.verdict, WP_REJECT);
      EXPECT_STREQ(answer.rule, "q8_0.shape.not_multiple");
    }
  }
  EXPECT_TRUE(y.Untouched());
}

TEST_P(Q80Test, KnowsNoVariants) {
  wp_answer answer = Fresh();
  impl().q8_0_quantize("avx9", nullptr, 0, 0, nullptr, &answer);
  EXPECT_EQ(answer.status, WP_STATUS_NOT_IMPLEMENTED);
}

TEST_P(Q80Test, LeavesTheFloatingPointEnvironmentAlone) {
  if (!Runs()) return;
  const auto before = q8_0::FpControlWord();
  const Image x = FloatBlocks(7, 9, random_);
  Poisoned y(9 * 34);
  wp_answer answer = Fresh();
  impl().q8_0_quantize(nullptr, reinterpret_cast<const float*>(x.data()), 32, 9,
                       y.data(), &answer);
  // Bits 0 to 5 of MXCSR are sticky exception flags.
  EXPECT_EQ(before.value_or(0) & ~0x3full,
            q8_0::FpControlWord().value_or(0) & ~0x3full);
  EXPECT_TRUE(q8_0::CheckFpState().empty());
}

}  // namespace
}  // namespace weightproof::impls
