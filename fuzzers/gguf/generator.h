// Valid GGUF files out of any bytes.
#ifndef WEIGHTPROOF_FUZZERS_GGUF_GENERATOR_H_
#define WEIGHTPROOF_FUZZERS_GGUF_GENERATOR_H_

#include "fuzzers/entropy.h"
#include "fuzzers/gguf/token_tree.h"

namespace weightproof::fuzzers {

// A file that profile spec accepts (some of its rules are policies), for any
// entropy; at most about 64 KiB. Total and deterministic. The first eight
// bytes choose which features the file may have at all (swarm testing): a
// file with few of them goes deeper into each.
Bytes GenerateGguf(ByteSpan entropy);
TokenTree GenerateGgufTree(ByteSpan entropy);

// ---- pieces, for the mutator ----

// A key and value of a GGUF type (0..12) at most levels deep; big_endian: byte
// order of packed elements.
Tokens GenerateKeyValue(Entropy& entropy, std::uint32_t type, bool big_endian);
// Only the value's tokens.
void AppendValue(Entropy& entropy, std::uint32_t type, int depth,
                 bool big_endian, Tokens& out);
// A tensor entry with offset 0.
Tokens GenerateTensor(Entropy& entropy);
// Valid UTF-8, of all lengths of characters.
Bytes GenerateText(Entropy& entropy, std::size_t max_characters);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GGUF_GENERATOR_H_
