// Changes of a file that take several fields at once to reach a border.
#ifndef WEIGHTPROOF_FUZZERS_GGUF_MUTATOR_EDGES_H_
#define WEIGHTPROOF_FUZZERS_GGUF_MUTATOR_EDGES_H_

#include "fuzzers/entropy.h"
#include "fuzzers/gguf/token_tree.h"

namespace weightproof::fuzzers {

// One of: another spelling of the magic or the other byte order of any
// version; tensors whose bytes come near a power of two, up to all of 64 bits;
// arrays in arrays around limits of depth; a character that the border of two
// strings cuts; dozens of entries, one named like an earlier one, whole or up
// to a NUL; an array around a page; data that are no numbers, or nothing.
// Whether lengths and layout should be repaired.
bool MoveToEdge(TokenTree& tree, Random& random);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GGUF_MUTATOR_EDGES_H_
