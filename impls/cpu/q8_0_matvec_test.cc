// Dot and matvec of every numeric implementation against the reference.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "impls/cpu/q8_0_testing.h"

namespace weightproof::impls {
namespace {

using Side = Guarded::Side;

class Q80MatvecTest : public testing::TestWithParam<const wp_implementation*> {
 protected:
  bool Runs() const {
    float y = 0;
    wp_answer answer = Fresh();
    GetParam()->q8_0_dot(nullptr, nullptr, nullptr, 0, &y, nullptr, &answer);
    if (answer.status == WP_STATUS_OK) return true;
    EXPECT_EQ(answer.status, WP_STATUS_NOT_RUN);
    std::printf("NOT RUN: %s: %s\n", GetParam()->name, answer.detail);
    return false;
  }
  const wp_implementation& impl() const { return *GetParam(); }
  const wp_implementation& reference() const { return NumericReference(); }
  std::mt19937_64 random_{TestSeed()};
};

INSTANTIATE_TEST_SUITE_P(All, Q80MatvecTest,
                         testing::ValuesIn(NumericImplementations()),
                         [](const auto& info) {
                           return std::string(info.param->name);
                         });

bool SameFloat(float a, float b) {
  const auto p = std::bit_cast<std::uint32_t>(a);
  const auto q = std::bit_cast<std::uint32_t>(b);
  const bool nan = (p & 0x7fffffff) > 0x7f800000;
  return nan ? (q & 0x7fffffff) > 0x7f800000 : p == q;
}

void CheckDot(const wp_implementation& reference, const wp_implementation& impl,
              const Image& w, const Image& x, Side side) {
  const std::uint64_t blocks = w.size() / 34;
  Guarded left(w, side), right(x, side);
  Poisoned expected(4 * blocks), got(4 * blocks);
  float a = 1, b = 2, alone = 3;
  wp_answer answer = Fresh();
  reference.q8_0_dot(nullptr, left.data(), right.data(), 32 * blocks, &a,
                     expected.As<std::int32_t>(), &answer);
  impl.q8_0_dot(nullptr, left.data(), right.data(), 32 * blocks, &b,
                got.As<std::int32_t>(), &answer);
  impl.q8_0_dot(nullptr, left.data(), right.data(), 32 * blocks, &alone,
                nullptr, &answer);
  ASSERT_EQ(answer.verdict, WP_ACCEPT);
  ASSERT_TRUE(got.MarginsIntact());
  ASSERT_EQ(expected.Content(), got.Content()) << "integer sums";
  ASSERT_TRUE(SameFloat(a, b)) << a << " " << b;
  ASSERT_TRUE(SameFloat(a, alone)) << a << " " << alone;
}

TEST_P(Q80MatvecTest, DotsAsTheReference) {
  if (!Runs()) return;
  for (int kind = 0; kind < kBlockKinds; ++kind) {
    for (int other = 0; other < kBlockKinds; other += kind % 2 + 1) {
      for (std::uint64_t blocks = 0; blocks <= 70; ++blocks) {
        SCOPED_TRACE(testing::Message()
                     << kind << " x " << other << ", blocks " << blocks);
        const Image w = Q80Blocks(kind, blocks, random_);
        const Image x = Q80Blocks(other, blocks, random_);
        CheckDot(reference(), impl(), w, x,
                 blocks % 2 != 0 ? Side::kEnd : Side::kBegin);
        if (HasFatalFailure()) return;
      }
    }
  }
  for (const std::uint64_t blocks : {96, 127, 128, 200, 545, 1030}) {
    for (int kind = 0; kind < kBlockKinds; ++kind) {
      CheckDot(reference(), impl(), Q80Blocks(kind, blocks, random_),
               Q80Blocks(4, blocks, random_), Side::kEnd);
      if (HasFatalFailure()) return;
    }
  }
}

struct Shape {
  std::uint64_t blocks, rows, cols;
  std::uint32_t threads;
  bool f32;
};

void CheckMatvec(const wp_implementation& reference,
                 const wp_implementation& impl, const Shape& shape,
                 std::mt19937_64& random) {
  const Image w = Q80Blocks(6, shape.blocks * shape.rows, random);
  const Image x = shape.f32 ? FloatBlocks(5, shape.blocks * shape.cols, random)
                            : Q80Blocks(2 + static_cast<int>(shape.rows % 5),
                                        shape.blocks * shape.cols, random);
  Guarded left(w, Side::kEnd), right(x, Side::kEnd);
  const std::size_t size = 4 * shape.rows * shape.cols;
  Poisoned expected(size), got(size);
  wp_answer a = Fresh(), b = Fresh();
  const auto call = [&](const wp_implementation& by, float* y,
                        wp_answer* answer) {
    by.q8_0_matvec(nullptr, left.data(), shape.f32 ? nullptr : right.data(),
                   shape.f32 ? right.As<float>() : nullptr, 32 * shape.blocks,
                   shape.rows, shape.cols, shape.threads, y, answer);
  };
  call(reference, expected.As<float>(), &a);
  call(impl, got.As<float>(), &b);
  ASSERT_EQ(a.verdict, WP_ACCEPT);
  ASSERT_EQ(b.verdict, WP_ACCEPT);
  ASSERT_TRUE(got.MarginsIntact());
  ASSERT_EQ(expected.Content(), got.Content());
}

TEST_P(Q80MatvecTest, MultipliesAsTheReferenceWithAnyThreads) {
  if (!Runs()) return;
  for (const std::uint64_t blocks : {0, 1, 2, 7, 8, 9, 18, 33, 64, 70}) {
    for (const std::uint64_t rows : {0, 1, 2, 3, 4, 5, 9}) {
      for (const std::uint32_t threads : {0, 1, 2, 7}) {
        for (const bool f32 : {false, true}) {
          const std::uint64_t cols = 1 + (rows + blocks + threads) % 3;
          SCOPED_TRACE(testing::Message()
                       << "blocks " << blocks << ", rows " << rows << ", cols "
                       << cols << ", threads " << threads << ", f32 " << f32);
          CheckMatvec(reference(), impl(), {blocks, rows, cols, threads, f32},
                      random_);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(Q80MatvecTest, RefusesNonFiniteActivations) {
  if (!Runs()) return;
  Image x = FloatBlocks(6, 6, random_);
  const std::uint32_t nan = 0x7fc00000;
  std::memcpy(x.data() + 4 * (64 + 5), &nan, 4);
  const Image w = Q80Blocks(4, 2, random_);
  float y[3];
  wp_answer answer = Fresh();
  impl().q8_0_matvec(nullptr, w.data(), nullptr,
                     reinterpret_cast<const float*>(x.data()), 64, 1, 3, 1, y,
                     &answer);
  EXPECT_EQ(answer.verdict, WP_REJECT);
  EXPECT_STREQ(answer.rule, "q8_0.quantize.nonfinite");
  EXPECT_EQ(answer.row, 1);
}

}  // namespace
}  // namespace weightproof::impls
