#include "corpus/assembler.h"

#include <utility>

#include "corpus/recipe_builder.h"
#include "corpus/recipe_text.h"

namespace weightproof::corpus {
namespace {

SyntaxError Located(std::string_view source, const RecipeText& part,
                    const Reader& reader) {
  const std::size_t at = reader.error_position();
  const std::size_t origin =
      at < part.origin.size() ? part.origin[at] : part.end;
  std::string message = reader.error();
  if (!part.row.empty()) message += " (with " + part.row + ")";
  return ErrorAt(source, origin, std::move(message));
}

}  // namespace

std::expected<std::vector<Assembly>, SyntaxError> AssembleAll(
    std::string_view text, const AssembleOptions& options) {
  const auto parts = SplitRecipes(text);
  if (!parts) return std::unexpected(parts.error());
  std::vector<Assembly> out;
  for (const RecipeText& part : *parts) {
    RecipeBuilder builder(part.text, options.folder);
    auto assembly = builder.Run();
    if (!assembly) {
      return std::unexpected(Located(text, part, builder.reader()));
    }
    const std::size_t begin = part.origin.empty() ? part.end : part.origin[0];
    assembly->recipe.line = ErrorAt(text, begin, "").line;
    out.push_back(std::move(*assembly));
  }
  return out;
}

std::expected<Assembly, SyntaxError> Assemble(std::string_view text,
                                              const AssembleOptions& options) {
  auto all = AssembleAll(text, options);
  if (!all) return std::unexpected(all.error());
  if (all->size() != 1) {
    return std::unexpected(
        SyntaxError{all->size() > 1 ? (*all)[1].recipe.line : 1, 1,
                    "expected exactly one recipe"});
  }
  return std::move(all->front());
}

}  // namespace weightproof::corpus
