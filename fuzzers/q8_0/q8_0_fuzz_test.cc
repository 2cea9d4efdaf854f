// The generators and oracles of Q8_0.
#include <gtest/gtest.h>

#include <set>

#include "fuzzers/engine.h"
#include "fuzzers/q8_0/oracle.h"
#include "impls/registry.h"

namespace weightproof::fuzzers {
namespace {

TEST(Q80Generator, IsTotalAndReachesEveryOperation) {
  EXPECT_EQ(GenerateQ80({}).n, 0u);
  Random random(1);
  std::set<Q80Operation> operations;
  std::set<std::uint64_t> skews;
  bool odd = false, lanes_twice = false;
  for (int i = 0; i < 2000; ++i) {
    const Q80Case made = GenerateQ80(random.Take(random.Below(200)));
    operations.insert(made.operation);
    skews.insert(made.x_skew);
    odd |= made.n % 32 != 0;
    lanes_twice |= made.n > 32 * 64;
  }
  EXPECT_EQ(operations.size(), static_cast<std::size_t>(kQ80Operations));
  EXPECT_EQ(skews.size(), 64u);
  EXPECT_TRUE(odd);
  EXPECT_TRUE(lanes_twice);
}

TEST(Q80Oracle, AgreesWithEveryKernelInAShortRun) {
  const Target* target = FindTarget("q8_0_diff");
  ASSERT_NE(target, nullptr);
  ASSERT_FALSE(target->subjects().tested.empty());
  const auto hunted = Hunt(*target, target->subjects(), 2, 8000);
  if (hunted) {
    ADD_FAILURE() << BucketOf(hunted->finding) << "\n"
                  << hunted->finding.description;
  }
}

// Implementations that are wrong on purpose: the scalar one but for one thing.
wp_implementation Scalar() { return *impls::FindBuiltIn("q8_0_scalar"); }

Finding HuntIn(const wp_implementation& wrong) {
  const Subjects subjects = {impls::FindBuiltIn("reference"), {&wrong}};
  const auto hunted = Hunt(*FindTarget("q8_0_diff"), subjects, 3, 30000);
  EXPECT_TRUE(hunted.has_value());
  return hunted ? hunted->finding : Finding{};
}

TEST(Q80Oracle, FindsAWrongBit) {
  wp_implementation wrong = Scalar();
  wrong.q8_0_dequantize = [](const char* variant, const uint8_t* x, uint64_t n,
                             uint64_t rows, float* y, wp_answer* answer) {
    impls::FindBuiltIn("q8_0_scalar")
        ->q8_0_dequantize(variant, x, n, rows, y, answer);
    auto* bytes = reinterpret_cast<uint8_t*>(y);
    if (n * rows >= 96 && answer->verdict == WP_ACCEPT) bytes[4 * 95] ^= 1;
  };
  EXPECT_EQ(HuntIn(wrong).kind, FindingKind::kOutput);
}

TEST(Q80Oracle, FindsAByteWrittenBehindTheOutput) {
  wp_implementation wrong = Scalar();
  wrong.q8_0_quantize = [](const char* variant, const float* x, uint64_t n,
                           uint64_t rows, uint8_t* y, wp_answer* answer) {
    impls::FindBuiltIn("q8_0_scalar")
        ->q8_0_quantize(variant, x, n, rows, y, answer);
    y[n / 32 * rows * 34] = 7;
  };
  EXPECT_EQ(HuntIn(wrong).kind, FindingKind::kOverwrite);
}

TEST(Q80Oracle, FindsAnOutputLeftUnwritten) {
  wp_implementation wrong = Scalar();
  wrong.f16_to_f32 = [](const char* variant, const uint16_t* x, uint64_t count,
                        float* y, wp_answer* answer) {
    impls::FindBuiltIn("q8_0_scalar")
        ->f16_to_f32(variant, x, count > 0 ? count - 1 : 0, y, answer);
  };
  EXPECT_EQ(HuntIn(wrong).kind, FindingKind::kOverwrite);
}

TEST(Q80Oracle, FindsARefusalThatIsMissing) {
  wp_implementation wrong = Scalar();
  wrong.q8_0_validate = [](wp_slice, uint64_t, uint64_t, wp_answer* answer) {
    answer->verdict = WP_ACCEPT;
  };
  EXPECT_EQ(HuntIn(wrong).kind, FindingKind::kVerdict);
}

}  // namespace
}  // namespace weightproof::fuzzers
