// A numeric vector as an input of the oracle.
#ifndef WEIGHTPROOF_FUZZERS_Q8_0_CASE_H_
#define WEIGHTPROOF_FUZZERS_Q8_0_CASE_H_

#include <expected>
#include <string>

#include "conformance/vector.h"
#include "fuzzers/q8_0/generator.h"

namespace weightproof::fuzzers {

// Its operation, shape and buffers, at odd addresses; what it expects is left
// out. The error says what is malformed or of no numeric operation.
std::expected<Q80Case, std::string> Q80CaseOf(
    const conformance::Vector& vector);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_Q8_0_CASE_H_
