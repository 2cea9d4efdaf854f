// The assembler: recipes (corpus/RECIPES.md) to bytes.
//
// Nothing is allocated by a number that a recipe states: repeats, fills and
// holes stay chunks, whatever their length. A text that is not a recipe gives
// a message with its line and column, never anything else.
#ifndef WEIGHTPROOF_CORPUS_ASSEMBLER_H_
#define WEIGHTPROOF_CORPUS_ASSEMBLER_H_

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/recipe.h"

namespace weightproof::corpus {

// line and column count from 1; column in bytes.
struct SyntaxError {
  int line = 0;
  int column = 0;
  std::string message;
};

struct AssembleOptions {
  // Where the files named by `side` lie.
  std::filesystem::path folder = ".";
};

// A text with exactly one recipe. The line "recipe ID" may be missing.
std::expected<Assembly, SyntaxError> Assemble(
    std::string_view text, const AssembleOptions& options = {});

// A text with any number of recipes. A recipe with a `vary` table gives one
// assembly per row, in order.
std::expected<std::vector<Assembly>, SyntaxError> AssembleAll(
    std::string_view text, const AssembleOptions& options = {});

}  // namespace weightproof::corpus

#endif  // WEIGHTPROOF_CORPUS_ASSEMBLER_H_
