// Every numeric implementation under guard; and planted offenders, each of
// which the same body must catch.
#include "impls/cpu/q8_0_checked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <cstring>
#include <string>

#include "impls/cpu/checked_call.h"
#include "impls/cpu/q8_0.h"
#include "impls/cpu/q8_0_testing.h"

namespace weightproof::impls {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class Q80CheckedTest : public testing::TestWithParam<const wp_implementation*> {
};

INSTANTIATE_TEST_SUITE_P(All, Q80CheckedTest,
                         testing::ValuesIn(NumericImplementations()),
                         [](const auto& info) {
                           return std::string(info.param->name);
                         });

TEST_P(Q80CheckedTest, IsRightEverywhereAndTouchesNothingElse) {
  wp_answer answer = Fresh();
  GetParam()->q8_0_quantize(nullptr, nullptr, 0, 0, nullptr, &answer);
  if (answer.status == WP_STATUS_NOT_RUN) {
    std::printf("NOT RUN: %s: %s\n", GetParam()->name, answer.detail);
    return;
  }
  std::mt19937_64 random(TestSeed());
  const CheckReport report =
      CheckUnderGuard(*GetParam(), NumericReference(), random);
  EXPECT_GT(report.calls, 20000u);
  for (const std::string& problem : report.problems) ADD_FAILURE() << problem;
}

// ---- offenders: the scalar implementation with one sin each ----

const wp_implementation& Good() { return *Q80ScalarImplementation(); }

std::vector<std::string> ProblemsOf(const wp_implementation& offender) {
  std::mt19937_64 random(TestSeed());
  return CheckUnderGuard(offender, NumericReference(), random).problems;
}

wp_implementation Offender(decltype(wp_implementation::q8_0_dequantize) sin) {
  wp_implementation table{};
  table.name = "offender";
  table.q8_0_dequantize = sin;
  return table;
}

TEST(Offenders, TheirDecentRelativePasses) {
  EXPECT_THAT(ProblemsOf(Offender(Good().q8_0_dequantize)), testing::IsEmpty());
}

extern "C" {
// The good function, for the tail calls below.
decltype(wp_implementation::q8_0_dequantize) wp_offender_target;
void wp_clobbers_first(const char*, const std::uint8_t*, std::uint64_t,
                       std::uint64_t, float*, wp_answer*);
void wp_clobbers_second(const char*, const std::uint8_t*, std::uint64_t,
                        std::uint64_t, float*, wp_answer*);
}

#if defined(__x86_64__)
constexpr const char* kFirst = "clobbered rbx";
constexpr const char* kSecond = "clobbered r12";
__asm__(R"(
  .text
  .hidden wp_offender_target
  .globl wp_clobbers_first, wp_clobbers_second
  .hidden wp_clobbers_first, wp_clobbers_second
wp_clobbers_first:
  xor %ebx, %ebx
  jmp *wp_offender_target(%rip)
wp_clobbers_second:
  inc %r12
  jmp *wp_offender_target(%rip)
)");
#elif defined(__aarch64__)
constexpr const char* kFirst = "clobbered x19";
constexpr const char* kSecond = "clobbered d9";
__asm__(R"(
  .text
  .hidden wp_offender_target
  .globl wp_clobbers_first, wp_clobbers_second
  .hidden wp_clobbers_first, wp_clobbers_second
wp_clobbers_first:
  mov x19, #0
  adrp x16, wp_offender_target
  ldr x16, [x16, #:lo12:wp_offender_target]
  br x16
wp_clobbers_second:
  fmov d9, x0
  adrp x16, wp_offender_target
  ldr x16, [x16, #:lo12:wp_offender_target]
  br x16
)");
#endif

TEST(Offenders, ClobberingRegistersIsCaught) {
  wp_offender_target = Good().q8_0_dequantize;
  EXPECT_THAT(ProblemsOf(Offender(wp_clobbers_first)),
              Contains(HasSubstr(kFirst)));
  EXPECT_THAT(ProblemsOf(Offender(wp_clobbers_second)),
              Contains(HasSubstr(kSecond)));
}

void FlushSubnormals() {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8000);
#elif defined(__aarch64__)
  std::uint64_t word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  word |= std::uint64_t{1} << 24;
  __asm__ volatile("msr fpcr, %0" : : "r"(word));
#endif
}

TEST(Offenders, ChangingTheEnvironmentIsCaught) {
  const auto flushing =
      Offender([](const char* variant, const std::uint8_t* x, std::uint64_t n,
                  std::uint64_t rows, float* y, wp_answer* answer) {
        Good().q8_0_dequantize(variant, x, n, rows, y, answer);
        FlushSubnormals();
      });
  EXPECT_THAT(ProblemsOf(flushing), Contains(HasSubstr("left the control")));
  const auto rounding =
      Offender([](const char* variant, const std::uint8_t* x, std::uint64_t n,
                  std::uint64_t rows, float* y, wp_answer* answer) {
        Good().q8_0_dequantize(variant, x, n, rows, y, answer);
        std::fesetround(FE_UPWARD);
      });
  EXPECT_THAT(ProblemsOf(rounding), Contains(HasSubstr("left the ")));
  // What they did ended with the call.
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

#if defined(__x86_64__)
TEST(Offenders, LeavingMmxOnIsCaught) {
  const auto offender =
      Offender([](const char* variant, const std::uint8_t* x, std::uint64_t n,
                  std::uint64_t rows, float* y, wp_answer* answer) {
        Good().q8_0_dequantize(variant, x, n, rows, y, answer);
        __asm__ volatile("movd %0, %%mm0" : : "r"(1) : "mm0");
      });
  EXPECT_THAT(ProblemsOf(offender), Contains(HasSubstr("x87")));
}

TEST(Offenders, LeavingTheDirectionFlagIsCaught) {
  const auto offender =
      Offender([](const char* variant, const std::uint8_t* x, std::uint64_t n,
                  std::uint64_t rows, float* y, wp_answer* answer) {
        Good().q8_0_dequantize(variant, x, n, rows, y, answer);
        __asm__ volatile("std");
      });
  EXPECT_THAT(ProblemsOf(offender), Contains(HasSubstr("direction flag")));
}
#endif

// What happens here on purpose is not for a sanitizer to judge.
#define WP_UNCHECKED __attribute__((no_sanitize("address", "undefined")))

WP_UNCHECKED std::uint8_t Peek(const volatile std::uint8_t* at) { return *at; }
WP_UNCHECKED void Poke(volatile std::uint8_t* at, std::uint8_t value) {
  *at = value;
}

TEST(Offenders, ReadingOneByteOutsideIsCaught) {
  const auto past =
      Offender([](const char* variant, const std::uint8_t* x, std::uint64_t n,
                  std::uint64_t rows, float* y, wp_answer* answer) {
        Peek(x + n / 32 * rows * 34);
        Good().q8_0_dequantize(variant, x, n, rows, y, answer);
      });
  EXPECT_THAT(ProblemsOf(past), Contains(HasSubstr("fault at")));
  const auto before =
      Offender([](const char* variant, const std::uint8_t* x, std::uint64_t n,
                  std::uint64_t rows, float* y, wp_answer* answer) {
        Peek(x - 1);
        Good().q8_0_dequantize(variant, x, n, rows, y, answer);
      });
  EXPECT_THAT(ProblemsOf(before), Contains(HasSubstr("fault at")));
}

// Only at addresses that are no multiple of 16, so that no guard page is near.
TEST(Offenders, WritingOutsideIsCaught) {
  const auto past =
      Offender([](const char* variant, const std::uint8_t* x, std::uint64_t n,
                  std::uint64_t rows, float* y, wp_answer* answer) {
        Good().q8_0_dequantize(variant, x, n, rows, y, answer);
        if (reinterpret_cast<std::uintptr_t>(y) % 16 == 0) return;
        Poke(reinterpret_cast<std::uint8_t*>(y) + 4 * n * rows, 0);
      });
  EXPECT_THAT(ProblemsOf(past), Contains(HasSubstr("wrote outside y")));
  const auto input =
      Offender([](const char* variant, const std::uint8_t* x, std::uint64_t n,
                  std::uint64_t rows, float* y, wp_answer* answer) {
        Good().q8_0_dequantize(variant, x, n, rows, y, answer);
        if (n > 0) Poke(const_cast<std::uint8_t*>(x), 0xee);
      });
  EXPECT_THAT(ProblemsOf(input), Contains(HasSubstr("changed its input")));
}

// The byte left out is right by chance where it is one of the poisons.
TEST(Offenders, LeavingOneOutputUnwrittenIsCaught) {
  const auto offender =
      Offender([](const char* variant, const std::uint8_t* x, std::uint64_t n,
                  std::uint64_t rows, float* y, wp_answer* answer) {
        float last;
        float* const at = y + (n * rows == 0 ? 0 : n * rows - 1);
        if (n * rows > 0) std::memcpy(&last, at, sizeof(last));
        Good().q8_0_dequantize(variant, x, n, rows, y, answer);
        if (n * rows > 0) std::memcpy(at, &last, sizeof(last));
      });
  EXPECT_THAT(ProblemsOf(offender), Contains(HasSubstr("y differs at byte")));
}

TEST(CheckedCall, PassesTwelveWordsAndGivesTheResult) {
  using U = std::uint64_t;
  const auto digits =
      +[](U a, U b, U c, U d, U e, U f, U g, U h, U i, U j, U k, U l) {
        U value = 0;
        for (const U digit : {a, b, c, d, e, f, g, h, i, j, k, l}) {
          value = 16 * value + digit;
        }
        return value;
      };
  const CallResult result =
      CallChecked(digits, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.integer, 0x123456789abcu);
  EXPECT_EQ(CallChecked(+[] { return 1.5f; }).real, 1.5f);
}

}  // namespace
}  // namespace weightproof::impls
