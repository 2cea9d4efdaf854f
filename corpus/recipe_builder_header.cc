// The statements that declare what a recipe is for.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "corpus/recipe_builder.h"

namespace weightproof::corpus {
namespace {

constexpr std::array<std::string_view, 10> kHeaderWords = {
    "recipe", "rule",    "verdict",   "twin",    "also",
    "masks",  "profile", "operation", "request", "notes"};

// Ids and rule names: no blanks, no comment.
std::optional<std::string> OneWord(const std::string& line) {
  const std::string text = line.substr(0, line.find(" #"));
  std::istringstream in(text);
  std::string word, more;
  in >> word;
  if (word.empty() || (in >> more)) return std::nullopt;
  return word;
}

}  // namespace

bool RecipeBuilder::Header(const std::string& word, std::size_t at,
                           bool& handled) {
  if (std::find(kHeaderWords.begin(), kHeaderWords.end(), word) ==
      kHeaderWords.end()) {
    return true;
  }
  handled = true;
  if (body_started_) {
    return reader_.FailAt(
        at, fmt::format("{} belongs before the first byte", word));
  }
  Recipe& recipe = out_.recipe;
  if (word == "verdict") return Verdict(recipe.verdict, kSpec);
  if (word == "profile") {
    ProfileClaim claim;
    claim.profile = reader_.Word();
    if (claim.profile.empty()) return reader_.Fail("expected a profile");
    recipe.profiles.push_back(claim);
    return Verdict(recipe.profiles.back().verdict, recipe.profiles.size() - 1);
  }
  const std::string line = reader_.RestOfLine();
  if (word == "notes") {
    recipe.notes += (recipe.notes.empty() ? "" : " ") + line;
    return true;
  }
  if (word == "request") {
    recipe.request = line;
    return true;
  }
  const auto value = OneWord(line);
  if (!value) {
    return reader_.FailAt(at, fmt::format("{} takes exactly one word", word));
  }
  if (word == "also" || word == "masks") {
    (word == "also" ? recipe.also : recipe.masks).push_back(*value);
    return true;
  }
  std::string& field = word == "recipe" ? recipe.id
                       : word == "rule" ? recipe.rule
                       : word == "twin" ? recipe.twin
                                        : recipe.operation;
  if (!field.empty()) {
    return reader_.FailAt(at, fmt::format("{} is given twice", word));
  }
  field = *value;
  return true;
}

// VERDICT [RULE] [at PLACE]; a rule only in the claim of a profile.
bool RecipeBuilder::Verdict(std::string& verdict, std::size_t claim) {
  const std::size_t at = reader_.position();
  const std::string value = reader_.Word();
  constexpr std::array<std::string_view, 5> kVerdicts = {
      "accept", "reject", "unsupported", "limit", "policy"};
  if (std::find(kVerdicts.begin(), kVerdicts.end(), value) == kVerdicts.end()) {
    return reader_.FailAt(
        at, "a verdict is accept, reject, unsupported, limit or policy");
  }
  if (!verdict.empty()) return reader_.FailAt(at, "verdict is given twice");
  verdict = value;
  if (claim != kSpec && reader_.PeekWord() != "at") {
    out_.recipe.profiles[claim].rule = reader_.Word();
  }
  if (reader_.TakeWord("at")) {
    reader_.SkipBlanks();
    places_.push_back({reader_.position(), claim});
    if (!reader_.Expression()) return false;
  }
  return reader_.AtStatementEnd() ||
         reader_.Fail("unexpected text after the verdict");
}

bool RecipeBuilder::ResolvePlaces() {
  for (const PendingPlace& pending : places_) {
    reader_.Seek(pending.source);
    const auto number = reader_.Expression();
    if (!number) return false;
    if (!number->known()) {
      return reader_.FailAt(pending.source,
                            fmt::format("no label {}", number->missing));
    }
    if (number->value < 0 || number->value > Wide{Image::kMaxSize}) {
      return reader_.FailAt(pending.source, "not a position in a file");
    }
    const Place place{number->file, static_cast<std::uint64_t>(number->value)};
    if (pending.claim == kSpec) {
      out_.recipe.at = place;
    } else {
      out_.recipe.profiles[pending.claim].at = place;
    }
  }
  return true;
}

}  // namespace weightproof::corpus
