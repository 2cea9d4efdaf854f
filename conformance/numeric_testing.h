// Test support: an implementation of the C ABI answers numeric vectors.
#ifndef WEIGHTPROOF_CONFORMANCE_NUMERIC_TESTING_H_
#define WEIGHTPROOF_CONFORMANCE_NUMERIC_TESTING_H_

#include <string>

#include "conformance/classify.h"
#include "conformance/vector.h"
#include "impls/abi.h"

namespace weightproof::conformance {

// The committed set, loaded once.
const VectorSet& CommittedVectors();

// What came of one vector. not_run: what the machine lacks, or empty. wrong:
// why the answer is not spec's, or empty.
struct NumericOutcome {
  std::string not_run;
  std::string wrong;
  NumericAnswer answer;
};
NumericOutcome AnswerVector(const wp_implementation& implementation,
                            const Vector& vector);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_NUMERIC_TESTING_H_
