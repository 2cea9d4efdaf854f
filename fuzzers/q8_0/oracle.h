// What must hold for every numeric input and every kernel.
#ifndef WEIGHTPROOF_FUZZERS_Q8_0_ORACLE_H_
#define WEIGHTPROOF_FUZZERS_Q8_0_ORACLE_H_

#include "fuzzers/q8_0/generator.h"
#include "fuzzers/target.h"

namespace weightproof::fuzzers {

// What one implementation made of a case.
struct Q80Answer {
  bool offered = false;  // the operation is there and ran
  wp_answer answer{};
  Bytes y;  // output image
  std::vector<std::int32_t> isum;
  std::string violation;  // wrote outside y, or left part of it unwritten
};
Q80Answer AskQ80(const wp_implementation& implementation, const char* variant,
                 const Q80Case& input);

// Each tested implementation, by each code path that runs here, agrees with
// the trusted one to the bit (NaN as a class) and in its refusals; writes its
// output and nothing else; says the same when asked again. Quantizing what was
// dequantized changes nothing where that must hold.
Execution CheckQ80Case(const Subjects& subjects, const Q80Case& input,
                       Depth depth);
Execution CheckQ80(const Subjects& subjects, ByteSpan entropy, Depth depth);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_Q8_0_ORACLE_H_
