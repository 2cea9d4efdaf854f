// Does this thread, in this build, compute f32 as the numeric contract says?
// Call these at the start, in every thread that computes, and after every
// call into a foreign library. No assumption about the processor.
#ifndef WEIGHTPROOF_REFERENCE_Q8_0_ENVIRONMENT_H_
#define WEIGHTPROOF_REFERENCE_Q8_0_ENVIRONMENT_H_

#include <cfenv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/rule.h"

namespace weightproof::q8_0 {

struct FpFault {
  std::string_view id;  // "fp-08"
  RuleIndex rule = kNoRule;
  std::uint32_t expected = 0;  // f32 pattern
  std::uint32_t got = 0;
  std::string detail;  // "2^-126 / 2 is kept: expected 00400000, got 00000000"
};

// Evaluates fp-01 .. fp-15 on operands the optimiser cannot see: contraction,
// value-changing optimisation, evaluation width, flushing of results and
// operands, rounding mode. Empty if all is well.
std::vector<FpFault> CheckFpEnvironment();

// The subset that a thread can change while it runs, fp-08 .. fp-15 (rule
// build.fp.leak), without allocation if nothing is wrong.
std::vector<FpFault> CheckFpState();

// The control word where it can be read (MXCSR, FPCR), else nothing; and what
// its bits break, empty if nothing.
std::optional<std::uint64_t> FpControlWord();
std::string DescribeFpControlWord();

// Keeps the environment of the thread over a foreign call.
class FpGuard {
 public:
  FpGuard();
  ~FpGuard();  // restores
  FpGuard(const FpGuard&) = delete;
  FpGuard& operator=(const FpGuard&) = delete;
  // What the foreign code left changed; restores the environment.
  std::vector<FpFault> CheckAndRestore();

 private:
  std::fenv_t saved_;
};

}  // namespace weightproof::q8_0

#endif  // WEIGHTPROOF_REFERENCE_Q8_0_ENVIRONMENT_H_
