#include "reference/q8_0/environment.h"

#include <bit>
#include <cfloat>
#include <span>

#include "reference/q8_0/rules.h"

#if FLT_EVAL_METHOD != 0
#error "build.fp.eval: f32 expressions must be evaluated in f32"
#endif
#if defined(__FAST_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0)
#error "build.fp.fast_math: value-changing optimisation is on"
#endif

namespace weightproof::q8_0 {
namespace {

enum class Expression {
  kMultiply,     // fl(a b)
  kDivide,       // fl(a / b)
  kAdd,          // fl(a + b)
  kMultiplyAdd,  // fl(fl(a b) + c)
  kAddSubtract,  // fl(fl(a + b) - c)
  kUnequalSelf,  // a != a, 1 or 0
};

struct Case {
  std::string_view id;
  RuleIndex rule;
  Expression expression;
  std::uint32_t a, b, c, expected;
  std::string_view note;
};

using enum Expression;
constexpr Case kBuild[] = {
    {"fp-01", rules::kBuildFpContract, kMultiplyAdd, 0x3f800800, 0x3f800800,
     0xbf801000, 0x00000000, "(1 + 2^-12)^2 - (1 + 2^-11), not fused"},
    {"fp-02", rules::kBuildFpContract, kMultiplyAdd, 0x3f800001, 0x3f7ffffe,
     0xbf800000, 0x00000000, "1 - 2^-46 - 1, not fused"},
    {"fp-03", rules::kBuildFpFastMath, kAddSubtract, 0x4b800000, 0x3f800000,
     0x4b800000, 0x00000000, "(2^24 + 1) - 2^24, not reassociated"},
    {"fp-04", rules::kBuildFpFastMath, kAdd, 0x80000000, 0x00000000, 0,
     0x00000000, "-0 + 0 is +0"},
    {"fp-05", rules::kBuildFpFastMath, kDivide, 0x41100000, 0x42fe0000, 0,
     0x3d912245, "9 / 127, not times the reciprocal"},
    {"fp-06", rules::kBuildFpFastMath, kUnequalSelf, 0x7fc00000, 0, 0,
     0x3f800000, "NaN is unequal to itself"},
    {"fp-07", rules::kBuildFpEval, kAddSubtract, 0x3f800000, 0x33800000,
     0x3f800000, 0x00000000, "(1 + 2^-24) - 1 in f32"},
};
constexpr Case kState[] = {
    {"fp-08", rules::kBuildFpFtz, kMultiply, 0x00800000, 0x3f000000, 0,
     0x00400000, "2^-126 / 2 is kept"},
    {"fp-09", rules::kBuildFpFtz, kMultiply, 0x80800000, 0x3f000000, 0,
     0x80400000, "-2^-126 / 2 is kept"},
    {"fp-10", rules::kBuildFpDaz, kMultiply, 0x00400000, 0x40000000, 0,
     0x00800000, "a subnormal operand is read"},
    {"fp-11", rules::kBuildFpDaz, kAdd, 0x00000001, 0x00800000, 0, 0x00800001,
     "the smallest subnormal is read"},
    {"fp-12", rules::kBuildFpRounding, kAdd, 0x3f800000, 0x33800000, 0,
     0x3f800000, "1 + 2^-24 is a tie to even"},
    {"fp-13", rules::kBuildFpRounding, kAdd, 0x3f800000, 0x34400000, 0,
     0x3f800002, "1 + 3 x 2^-24"},
    {"fp-14", rules::kBuildFpRounding, kAdd, 0xbf800000, 0xb3800000, 0,
     0xbf800000, "-1 - 2^-24 is a tie to even"},
    {"fp-15", rules::kBuildFpRounding, kAdd, 0xbf800000, 0xb4400000, 0,
     0xbf800002, "-1 - 3 x 2^-24"},
};

// Operands pass through volatile objects; the expressions themselves are plain
// code, so that a compiler allowed to fuse or reassociate them does.
std::uint32_t Evaluate(const Case& test) {
  const volatile float va = std::bit_cast<float>(test.a);
  const volatile float vb = std::bit_cast<float>(test.b);
  const volatile float vc = std::bit_cast<float>(test.c);
  const float a = va, b = vb, c = vc;
  float result = 0;
  switch (test.expression) {
    case kMultiply:
      result = a * b;
      break;
    case kDivide:
      result = a / b;
      break;
    case kAdd:
      result = a + b;
      break;
    case kMultiplyAdd:
      result = a * b + c;
      break;
    case kAddSubtract:
      result = (a + b) - c;
      break;
    case kUnequalSelf:
      result = a != a ? 1.0f : 0.0f;
      break;
  }
  const volatile float out = result;
  return std::bit_cast<std::uint32_t>(float{out});
}

std::string Hex(std::uint32_t value) {
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[(value >> shift) & 0xf];
  }
  return text;
}

void Run(std::span<const Case> cases, std::vector<FpFault>& faults) {
  for (const Case& test : cases) {
    const std::uint32_t got = Evaluate(test);
    if (got == test.expected) continue;
    faults.push_back({test.id, test.rule, test.expected, got,
                      std::string(test.note) + ": expected " +
                          Hex(test.expected) + ", got " + Hex(got)});
  }
}

}  // namespace

std::vector<FpFault> CheckFpEnvironment() {
  std::vector<FpFault> faults;
  Run(kBuild, faults);
  Run(kState, faults);
  return faults;
}

std::vector<FpFault> CheckFpState() {
  std::vector<FpFault> faults;
  Run(kState, faults);
  return faults;
}

std::optional<std::uint64_t> FpControlWord() {
#if defined(__x86_64__) || defined(__SSE__)
  return __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
  std::uint64_t word = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  return word;
#else
  return std::nullopt;
#endif
}

std::string DescribeFpControlWord() {
  struct Bit {
    int bit;
    std::string_view name;
  };
#if defined(__aarch64__)
  constexpr Bit kBits[] = {{24, "FZ"},    {19, "FZ16"},  {25, "DN"}, {1, "AH"},
                           {22, "RMode"}, {23, "RMode"}, {0, "FIZ"}};
#else
  constexpr Bit kBits[] = {{15, "FTZ"}, {6, "DAZ"}, {13, "RC"}, {14, "RC"}};
#endif
  std::string text;
  const auto word = FpControlWord();
  if (!word) return text;
  for (const Bit& bit : kBits) {
    if ((*word >> bit.bit & 1) == 0) continue;
    if (!text.empty()) text += ' ';
    text += bit.name;
  }
  return text;
}

FpGuard::FpGuard() { std::fegetenv(&saved_); }

FpGuard::~FpGuard() { std::fesetenv(&saved_); }

std::vector<FpFault> FpGuard::CheckAndRestore() {
  std::vector<FpFault> faults = CheckFpState();
  std::fesetenv(&saved_);
  for (FpFault& fault : faults) fault.rule = rules::kBuildFpLeak;
  return faults;
}

}  // namespace weightproof::q8_0
