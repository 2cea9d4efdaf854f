// What a recipe says and what it makes: the result of the assembler.
// The language itself is described in corpus/RECIPES.md.
#ifndef WEIGHTPROOF_CORPUS_RECIPE_H_
#define WEIGHTPROOF_CORPUS_RECIPE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "corpus/bytes.h"

namespace weightproof::corpus {

// A place in one of the files that a recipe makes.
struct Place {
  std::size_t file = 0;  // index into Assembly::files; 0 if there are none
  std::uint64_t position = 0;  // byte offset in that file
  bool operator==(const Place&) const = default;
};

// What one profile is expected to say, where the author states it by hand.
struct ProfileClaim {
  std::string profile;  // "ggml"
  std::string verdict;  // a registry cell
  std::string rule;     // empty: none stated
  std::optional<Place> at;
};

// The declared header of a recipe. Fields that the text leaves out are empty.
struct Recipe {
  std::string id;
  std::string operation;  // empty: gguf.parse, or gguf.open_set with files
  std::string rule;
  std::string verdict;      // under spec
  std::optional<Place> at;  // where the finding points under spec
  std::string twin;
  std::vector<std::string> also;
  std::vector<std::string> masks;  // found in the same bytes without the rule
  std::vector<ProfileClaim> profiles;
  std::string request;  // JSON text of further request fields
  std::string notes;
  int line = 0;  // of the recipe's first line in its source
};

struct AssembledFile {
  std::string name;
  Bytes bytes;
};

struct Assembly {
  Recipe recipe;
  Bytes bytes;                       // the file, unless the recipe makes a set
  std::vector<AssembledFile> files;  // the set, in order
  std::map<std::string, Place> labels;
};

}  // namespace weightproof::corpus

#endif  // WEIGHTPROOF_CORPUS_RECIPE_H_
