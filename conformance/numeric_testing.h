// Test support: the committed vectors.
#ifndef WEIGHTPROOF_CONFORMANCE_NUMERIC_TESTING_H_
#define WEIGHTPROOF_CONFORMANCE_NUMERIC_TESTING_H_

#include "conformance/numeric_answer.h"

namespace weightproof::conformance {

// The committed set, loaded once.
const VectorSet& CommittedVectors();

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_NUMERIC_TESTING_H_
