// Any GGUF file as a vector.
#ifndef WEIGHTPROOF_FUZZERS_LIFE_FILE_VECTOR_H_
#define WEIGHTPROOF_FUZZERS_LIFE_FILE_VECTOR_H_

#include <expected>
#include <string>

#include "conformance/vector.h"
#include "fuzzers/entropy.h"

namespace weightproof::fuzzers {

// A vector whose expectations are what the trusted reader says of the file
// under every profile. Its rule is the one spec finds broken; of an accepted
// file the one about files as such. The error says why there is no verdict.
std::expected<conformance::Vector, std::string> FileVector(Bytes file);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_LIFE_FILE_VECTOR_H_
