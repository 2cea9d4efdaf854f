// Mutation of GGUF files that knows their structure: one code for libFuzzer's
// custom mutator and cross-over, for AFL++'s, and for the engine of this
// project.
#ifndef WEIGHTPROOF_FUZZERS_GGUF_MUTATOR_H_
#define WEIGHTPROOF_FUZZERS_GGUF_MUTATOR_H_

#include <cstddef>

#include "fuzzers/entropy.h"

namespace weightproof::fuzzers {

// Changes a field (a boundary value, another type, a text, an element), adds,
// drops, repeats or moves an entry, changes version or byte order, cuts the
// file at a field. Seven times of eight what depends on the change (lengths,
// counts, padding, offsets) is repaired; the eighth time it is left as it was.
// Any input, broken or empty; the result has at most max_size bytes.
Bytes MutateGguf(ByteSpan input, Random& random, std::size_t max_size);

// A file with entries of both.
Bytes CrossGguf(ByteSpan a, ByteSpan b, Random& random, std::size_t max_size);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GGUF_MUTATOR_H_
