// What callers do wrong: nothing at all, one buffer for two, a floating-point
// environment of their own.
#include <gtest/gtest.h>

#include <cfenv>
#include <cstring>
#include <functional>
#include <string>

#include "impls/cpu/fp_scope.h"
#include "impls/cpu/q8_0_testing.h"
#include "reference/q8_0/environment.h"

namespace weightproof::impls {
namespace {

class Q80BadInputTest
    : public testing::TestWithParam<const wp_implementation*> {
 protected:
  bool Runs() const {
    wp_answer answer = Fresh();
    impl().f16_to_f32(nullptr, nullptr, 0, nullptr, &answer);
    if (answer.status == WP_STATUS_OK) return true;
    EXPECT_EQ(answer.status, WP_STATUS_NOT_RUN);
    std::printf("NOT RUN: %s: %s\n", GetParam()->name, answer.detail);
    return false;
  }
  const wp_implementation& impl() const { return *GetParam(); }
  std::mt19937_64 random_{TestSeed()};
};

INSTANTIATE_TEST_SUITE_P(All, Q80BadInputTest,
                         testing::ValuesIn(NumericImplementations()),
                         [](const auto& info) {
                           return std::string(info.param->name);
                         });

const float* Floats(const Image& image) {
  return reinterpret_cast<const float*>(image.data());
}
float* Floats(Image& image) { return reinterpret_cast<float*>(image.data()); }
std::uint16_t* Halves(Image& image) {
  return reinterpret_cast<std::uint16_t*>(image.data());
}

TEST_P(Q80BadInputTest, NothingAtAllIsAccepted) {
  if (!Runs()) return;
  float y[3] = {1, 1, 1};
  wp_answer a[10];
  for (wp_answer& answer : a) answer = Fresh();
  const auto& i = impl();
  i.q8_0_quantize(nullptr, nullptr, 0, 5, nullptr, &a[0]);
  i.q8_0_quantize(nullptr, nullptr, 64, 0, nullptr, &a[1]);
  i.q8_1_quantize(nullptr, nullptr, 0, 5, nullptr, &a[2]);
  i.q8_0_dequantize(nullptr, nullptr, 64, 0, nullptr, &a[3]);
  i.q8_0_dot(nullptr, nullptr, nullptr, 0, y, nullptr, &a[4]);
  i.q8_0_matvec(nullptr, nullptr, nullptr, nullptr, 0, 2, 1, 4, y + 1, &a[5]);
  i.q8_0_matvec(nullptr, nullptr, nullptr, nullptr, 64, 0, 0, 0, nullptr,
                &a[6]);
  i.f16_from_f32(nullptr, nullptr, 0, nullptr, &a[7]);
  i.q8_0_validate({nullptr, 0}, 0, 3, &a[8]);
  i.q8_1_validate({nullptr, 0}, 32, 0, &a[9]);
  for (const wp_answer& answer : a) {
    EXPECT_EQ(answer.status, WP_STATUS_OK) << &answer - a;
    EXPECT_EQ(answer.verdict, WP_ACCEPT) << &answer - a;
  }
  for (const float value : y) {
    EXPECT_EQ(value, 0);
    EXPECT_FALSE(std::signbit(value));
  }
}

TEST_P(Q80BadInputTest, AnOutputOverAnInputIsRefused) {
  if (!Runs()) return;
  Image x = FloatBlocks(6, 3, random_);
  const Image before = x;
  const auto& i = impl();
  std::vector<std::function<void(wp_answer*)>> calls = {
      [&](auto* a) { i.q8_0_quantize(nullptr, Floats(x), 96, 1, x.data(), a); },
      [&](auto* a) {
        i.q8_1_quantize(nullptr, Floats(x), 96, 1, x.data() + 383, a);
      },
      [&](auto* a) {
        i.q8_0_dequantize(nullptr, x.data() + 200, 64, 1, Floats(x), a);
      },
      [&](auto* a) {
        i.q8_0_dot(nullptr, x.data(), x.data() + 34, 64, Floats(x) + 2, nullptr,
                   a);
      },
      [&](auto* a) {
        float y;
        i.q8_0_dot(nullptr, x.data() + 100, x.data(), 64, &y,
                   reinterpret_cast<std::int32_t*>(x.data() + 164), a);
      },
      [&](auto* a) {
        i.q8_0_matvec(nullptr, x.data(), x.data() + 34, nullptr, 32, 1, 1, 1,
                      Floats(x) + 15, a);
      },
      [&](auto* a) {
        i.f16_from_f32(nullptr, Floats(x), 9, Halves(x) + 17, a);
      },
      [&](auto* a) { i.f16_to_f32(nullptr, Halves(x), 9, Floats(x), a); }};
  for (std::size_t k = 0; k < calls.size(); ++k) {
    wp_answer answer = Fresh();
    calls[k](&answer);
    EXPECT_EQ(answer.status, WP_STATUS_OK) << k;
    EXPECT_EQ(answer.verdict, WP_REJECT) << k;
    EXPECT_STREQ(answer.detail, "the output overlaps an input") << k;
  }
  EXPECT_EQ(x, before);
}

TEST_P(Q80BadInputTest, BuffersThatTouchOrAreReadTwiceAreFine) {
  if (!Runs()) return;
  Image both = FloatBlocks(6, 2, random_);
  both.resize(256 + 68);
  wp_answer answer = Fresh();
  impl().q8_0_quantize(nullptr, Floats(both), 64, 1, both.data() + 256,
                       &answer);
  EXPECT_EQ(answer.verdict, WP_ACCEPT);
  float squared = 0, expected = 1;
  impl().q8_0_dot(nullptr, both.data() + 256, both.data() + 256, 64, &squared,
                  nullptr, &answer);
  EXPECT_EQ(answer.verdict, WP_ACCEPT);
  NumericReference().q8_0_dot(nullptr, both.data() + 256, both.data() + 256, 64,
                              &expected, nullptr, &answer);
  EXPECT_EQ(squared, expected);
}

// ---- the floating-point environment ----

// Environments that callers and their libraries set.
std::vector<std::function<void()>> Foreign() {
  std::vector<std::function<void()>> set = {
      [] { std::fesetround(FE_UPWARD); }, [] { std::fesetround(FE_DOWNWARD); },
      [] { std::fesetround(FE_TOWARDZERO); }};
#if defined(__x86_64__)
  for (const unsigned bits : {0x8000u, 0x0040u, 0x8040u, 0xe040u}) {
    set.emplace_back(
        [bits] { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | bits); });
  }
  // Every exception a trap, as some debuggers of numeric code ask for.
  set.emplace_back([] { __builtin_ia32_ldmxcsr(0x8040); });
#elif defined(__aarch64__)
  for (const int bit : {24, 19, 25}) {
    set.emplace_back([bit] {
      std::uint64_t word;
      __asm__ volatile("mrs %0, fpcr" : "=r"(word));
      word |= std::uint64_t{1} << bit;
      __asm__ volatile("msr fpcr, %0" : : "r"(word));
    });
  }
#endif
  return set;
}

// What all operations make of data that show every mode: ties, subnormals,
// sums that are rounded.
Image AllResults(const wp_implementation& i, const Image& x, wp_answer* a) {
  const std::uint64_t blocks = x.size() / 128, n = 32 * blocks;
  Image q8_0(34 * blocks), q8_1(36 * blocks), back(128 * blocks);
  Image half(64 * blocks), y(4), products(4 * blocks);
  i.q8_0_quantize(nullptr, Floats(x), n, 1, q8_0.data(), &a[0]);
  i.q8_1_quantize(nullptr, Floats(x), n, 1, q8_1.data(), &a[1]);
  i.q8_0_dequantize(nullptr, q8_0.data(), n, 1, Floats(back), &a[2]);
  i.q8_0_dot(nullptr, q8_0.data(), q8_0.data(), n, Floats(y), nullptr, &a[3]);
  i.q8_0_matvec(nullptr, q8_0.data(), nullptr, Floats(x), 32, blocks, 1, 7,
                Floats(products), &a[4]);
  i.f16_from_f32(nullptr, Floats(x), n, Halves(half), &a[5]);
  Image all;
  for (const Image* part : {&q8_0, &q8_1, &back, &half, &y, &products}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

constexpr std::size_t kOperations = 6;

TEST_P(Q80BadInputTest, TheCallersEnvironmentIsSetAsideRestoredAndReported) {
  if (!Runs()) return;
  Image x;
  for (const int kind : {2, 5, 6, 7, 9}) {
    const Image part = FloatBlocks(kind, 40, random_);
    x.insert(x.end(), part.begin(), part.end());
  }
  wp_answer plain[kOperations];
  for (wp_answer& answer : plain) answer = Fresh();
  const Image expected = AllResults(NumericReference(), x, plain);
  for (wp_answer& answer : plain) answer = Fresh();
  EXPECT_EQ(AllResults(impl(), x, plain), expected);
  for (const wp_answer& answer : plain) EXPECT_STREQ(answer.detail, "");
  int number = 0;
  for (const auto& set : Foreign()) {
    SCOPED_TRACE(testing::Message() << "environment " << number++);
    wp_answer answers[kOperations];
    for (wp_answer& answer : answers) answer = Fresh();
    std::uint64_t before = 0, after = 0;
    Image got;
    {
      const q8_0::FpGuard restore;
      set();
      before = q8_0::FpControlWord().value_or(0);
      got = AllResults(impl(), x, answers);
      after = q8_0::FpControlWord().value_or(0);
    }
    EXPECT_EQ(got, expected);
    EXPECT_EQ(before & ~0x3full, after & ~0x3full);
    for (const wp_answer& answer : answers) {
      EXPECT_EQ(answer.verdict, WP_ACCEPT);
      EXPECT_EQ(std::string(answer.detail).substr(0, 8), "build.fp");
    }
  }
  EXPECT_TRUE(q8_0::CheckFpState().empty());
}

}  // namespace
}  // namespace weightproof::impls
