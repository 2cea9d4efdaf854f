#include "conformance/vector_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "conformance/vector_build_one.h"
#include "corpus/assembler.h"
#include "reference/rule.h"

namespace weightproof::conformance {
namespace {

// What only shows when all vectors are there.
std::string CheckTwin(const Vector& vector,
                      const std::map<std::string, const Vector*>& all) {
  if (vector.twin.empty()) return "no twin is named";
  const auto found = all.find(vector.twin);
  if (found == all.end()) return "there is no twin " + vector.twin;
  if (found->second == &vector) return "a vector is not its own twin";
  if (vector.expect.at("spec").verdict == "accept") return "";
  const Expectation& twin = found->second->expect.at("spec");
  if (twin.verdict != "accept") {
    return fmt::format("its twin {} is not clean under spec: {} {}",
                       vector.twin, twin.verdict, twin.rule.value_or(""));
  }
  return "";
}

}  // namespace

std::expected<std::vector<RecipeSource>, std::string> LoadRecipes(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code code;
  for (std::filesystem::recursive_directory_iterator it(folder, code), end;
       !code && it != end; it.increment(code)) {
    if (it->path().extension() == ".recipe") files.push_back(it->path());
  }
  if (code || files.empty()) {
    return std::unexpected(folder.string() + ": no *.recipe files");
  }
  std::sort(files.begin(), files.end());
  std::vector<RecipeSource> out;
  for (const std::filesystem::path& path : files) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) return std::unexpected(path.string() + ": cannot be read");
    auto assembled = corpus::AssembleAll(text, {path.parent_path()});
    if (!assembled) {
      const corpus::SyntaxError& error = assembled.error();
      return std::unexpected(fmt::format("{}:{}:{}: {}", path.string(),
                                         error.line, error.column,
                                         error.message));
    }
    for (corpus::Assembly& assembly : *assembled) {
      out.push_back({path.filename().string(), std::move(assembly)});
    }
  }
  return out;
}

BuildResult BuildVectors(const std::vector<RecipeSource>& recipes) {
  BuildResult out;
  const auto place = [](const RecipeSource& source) {
    return fmt::format("{}:{}: {}", source.file, source.assembly.recipe.line,
                       source.assembly.recipe.id);
  };
  std::map<std::string, std::string> places;
  for (const RecipeSource& source : recipes) {
    const std::string& id = source.assembly.recipe.id;
    const auto [other, fresh] = places.emplace(id, place(source));
    if (!fresh) {
      out.problems.push_back(place(source) + ": the id is taken by " +
                             other->second);
      continue;
    }
    std::vector<std::string> problems;
    Vector vector = BuildOne(source.assembly, problems);
    for (const std::string& problem : problems) {
      out.problems.push_back(place(source) + ": " + problem);
    }
    if (problems.empty()) out.vectors.push_back(std::move(vector));
  }
  std::map<std::string, const Vector*> all;
  for (const Vector& vector : out.vectors) all.emplace(vector.id, &vector);
  for (const Vector& vector : out.vectors) {
    const std::string problem = CheckTwin(vector, all);
    if (!problem.empty()) {
      out.problems.push_back(places.at(vector.id) + ": " + problem);
    }
  }
  return out;
}

std::vector<std::string> UncoveredRules(const std::vector<Vector>& vectors) {
  std::set<std::string> covered;
  for (const Vector& vector : vectors) {
    if (!vector.twin.empty()) covered.insert(vector.rule);
  }
  std::vector<std::string> out;
  for (const Rule& rule : Rules()) {
    if (rule.format == "gguf" && !covered.contains(std::string(rule.id))) {
      out.emplace_back(rule.id);
    }
  }
  return out;
}

std::map<std::string, VectorSet> ByStage(const std::vector<Vector>& vectors,
                                         const std::string& version) {
  // By rule, then as the recipes stand.
  std::multimap<RuleIndex, const Vector*> order;
  for (const Vector& vector : vectors) {
    order.emplace(FindRule(vector.rule).value_or(kNoRule), &vector);
  }
  std::map<std::string, VectorSet> out;
  for (const auto& [rule, vector] : order) {
    if (rule == kNoRule) continue;
    VectorSet& set = out[fmt::format("gguf_{}.json", Rules()[rule].stage)];
    set.version = version;
    set.vectors.push_back(*vector);
  }
  return out;
}

}  // namespace weightproof::conformance
