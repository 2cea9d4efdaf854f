// An implementation of the C ABI answers a numeric vector, in this process.
#ifndef WEIGHTPROOF_CONFORMANCE_NUMERIC_ANSWER_H_
#define WEIGHTPROOF_CONFORMANCE_NUMERIC_ANSWER_H_

#include <string>

#include "conformance/classify.h"
#include "conformance/vector.h"
#include "impls/abi.h"

namespace weightproof::conformance {

// What came of one vector. not_run: what the machine lacks, or empty. wrong:
// why the answer is not spec's, or empty.
struct NumericOutcome {
  std::string not_run;
  std::string wrong;
  NumericAnswer answer;
};

// Asks once, with input and output at addresses that are no multiple of any
// alignment, as the ABI allows. Compared with spec: verdict, rule, offset,
// output bits, the integer sums of a dot product, whether data are reported as
// canonical; and nothing beside the output may be written.
NumericOutcome AnswerVector(const wp_implementation& implementation,
                            const Vector& vector);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_NUMERIC_ANSWER_H_
