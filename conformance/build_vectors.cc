// Builds the GGUF vectors from the recipes.
//
//   build_vectors [--check] RECIPES VECTORS
//
// Writes VECTORS/gguf_<stage>.json; --check compares instead and says which
// file is out of date. Any disagreement between a recipe and the two built-in
// readers is printed, one line each, and nothing is written.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "conformance/vector_build.h"
#include "conformance/vector_json.h"

namespace weightproof::conformance {
namespace {

// SemVer of the whole set; conformance/vectors/CHANGELOG.md has its history.
constexpr const char* kSetVersion = "1.0.0";
// Committed files stay readable and diffable.
constexpr std::size_t kMaxFile = std::size_t{1} << 20;

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool Settle(const std::filesystem::path& path, const std::string& text,
            bool check) {
  if (text.size() >= kMaxFile) {
    fmt::print(stderr, "{}: {} bytes, more than 1 MiB\n", path.string(),
               text.size());
    return false;
  }
  if (check) {
    if (ReadText(path) == text) return true;
    fmt::print(stderr, "{}: out of date, run build_vectors\n", path.string());
    return false;
  }
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.flush();
  if (!out) fmt::print(stderr, "{}: cannot be written\n", path.string());
  return static_cast<bool>(out);
}

int Main(const std::filesystem::path& recipes,
         const std::filesystem::path& vectors, bool check) {
  const auto sources = LoadRecipes(recipes);
  if (!sources) {
    fmt::print(stderr, "{}\n", sources.error());
    return 1;
  }
  BuildResult built = BuildVectors(*sources);
  for (const std::string& rule : UncoveredRules(built.vectors)) {
    built.problems.push_back(rule + ": no vector with a twin");
  }
  for (const std::string& problem : built.problems) {
    fmt::print(stderr, "{}\n", problem);
  }
  if (!built.problems.empty()) {
    fmt::print(stderr, "{} problems, {} of {} vectors sound\n",
               built.problems.size(), built.vectors.size(), sources->size());
    return 1;
  }
  bool good = true;
  for (const auto& [name, set] : ByStage(built.vectors, kSetVersion)) {
    good = Settle(vectors / name, VectorFileText(set), check) && good;
  }
  fmt::print("{} vectors\n", built.vectors.size());
  return good ? 0 : 1;
}

}  // namespace
}  // namespace weightproof::conformance

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool check = !arguments.empty() && arguments[0] == "--check";
  if (check) arguments.erase(arguments.begin());
  if (arguments.size() != 2) {
    fmt::print(stderr, "usage: build_vectors [--check] RECIPES VECTORS\n");
    return 2;
  }
  return weightproof::conformance::Main(arguments[0], arguments[1], check);
}
