// The text of one recipe, ready to be read: its `vary` row filled in, every
// byte remembering where it stood in the source.
#ifndef WEIGHTPROOF_CORPUS_RECIPE_TEXT_H_
#define WEIGHTPROOF_CORPUS_RECIPE_TEXT_H_

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/assembler.h"

namespace weightproof::corpus {

struct RecipeText {
  std::string text;
  std::vector<std::size_t> origin;  // text[i] stood at source[origin[i]]
  std::size_t end = 0;              // source position after the last byte
  std::string row;                  // "n = 8", or empty without `vary`
};

// Line and column of a position in source.
SyntaxError ErrorAt(std::string_view source, std::size_t position,
                    std::string message);

// Splits a source at its lines "recipe ..." and expands `vary` tables. Text
// before the first such line is a recipe of its own if it is not blank or
// comment.
std::expected<std::vector<RecipeText>, SyntaxError> SplitRecipes(
    std::string_view source);

}  // namespace weightproof::corpus

#endif  // WEIGHTPROOF_CORPUS_RECIPE_TEXT_H_
