// A crash becomes a recipe, a vector and a regression.
#ifndef WEIGHTPROOF_FUZZERS_LIFE_PROMOTE_H_
#define WEIGHTPROOF_FUZZERS_LIFE_PROMOTE_H_

#include <expected>
#include <string>
#include <vector>

#include "conformance/vector.h"
#include "fuzzers/entropy.h"

namespace weightproof::fuzzers {

struct PromoteOptions {
  // The rule that the file exercises; by default the one that spec finds
  // broken. Needed for a file that spec accepts.
  std::string rule;
  std::string notes;  // how it was found
};

struct Promoted {
  std::string id;  // "gguf.kv.key.empty-found_5f2c0a91"
  std::string rule;
  std::string recipe;          // its text
  conformance::Vector vector;  // what the recipe builds
};

// A recipe for the file: named by its rule and its bytes, with the rule's own
// clean file as its twin, and judged sound by the builder of vectors. The error
// says why it cannot be one: the rule is missing, or what the builder found
// wrong (a line each), such as a second fault.
std::expected<Promoted, std::string> Promote(ByteSpan file,
                                             const conformance::VectorSet& set,
                                             const PromoteOptions& options);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_LIFE_PROMOTE_H_
