// From recipes to vectors: assembles, asks both built-in readers in every
// profile, and refuses whatever is not agreed.
//
// A recipe becomes a vector only if
// - both readers answer alike in every profile: verdict, rule, offset,
//   policies, dump;
// - the answer under spec is the one the recipe states by hand, and what the
//   other profiles say fits the registry (another rule only if the recipe
//   lists it under `also`);
// - the fault is the only one: the trusted reader accepts the file once the
//   rule is waived, or finds what the recipe lists under `masks`;
// - its twin exists and, where the vector breaks a rule, is clean.
// Rules that are judged on a run name the rule of the file, if any, as
// `profile spec VERDICT RULE at PLACE`.
#ifndef WEIGHTPROOF_CONFORMANCE_VECTOR_BUILD_H_
#define WEIGHTPROOF_CONFORMANCE_VECTOR_BUILD_H_

#include <expected>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "conformance/vector.h"
#include "corpus/recipe.h"

namespace weightproof::conformance {

struct RecipeSource {
  std::string file;  // name, for messages
  corpus::Assembly assembly;
};

// All *.recipe files of a folder and those below it, in name order. The error names file, line
// and column.
std::expected<std::vector<RecipeSource>, std::string> LoadRecipes(
    const std::filesystem::path& folder);

struct BuildResult {
  std::vector<Vector> vectors;        // in recipe order
  std::vector<std::string> problems;  // "FILE:LINE: ID: what differs"
};

BuildResult BuildVectors(const std::vector<RecipeSource>& recipes);

// Rules of the registry that no vector exercises, or whose vectors all lack a
// twin.
std::vector<std::string> UncoveredRules(const std::vector<Vector>& vectors);

// One set per stage of the registry: "gguf_kv.json" -> its vectors, ordered by
// rule.
std::map<std::string, VectorSet> ByStage(const std::vector<Vector>& vectors,
                                         const std::string& version);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_VECTOR_BUILD_H_
