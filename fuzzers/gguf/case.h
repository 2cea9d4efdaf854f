// A GGUF file that fuzzing made, as a case that the judge can judge.
#ifndef WEIGHTPROOF_FUZZERS_GGUF_CASE_H_
#define WEIGHTPROOF_FUZZERS_GGUF_CASE_H_

#include <string>
#include <vector>

#include "conformance/vector.h"
#include "fuzzers/entropy.h"

namespace weightproof::fuzzers {

// gguf.parse of the file, with the trusted reader's answer under every
// profile. False if it has none.
bool GgufVector(ByteSpan file, conformance::Vector& out);

// The rules that a file is about, most telling first: those it breaks under
// spec, one after another as if each were waived; those that other profiles
// refuse it for; those of features that must be accepted.
std::vector<std::string> GgufRules(ByteSpan file);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GGUF_CASE_H_
