// Recomputes the expectations of the numeric vectors.
//
//   build_q8_0_vectors [--check] DIR
//
// Every DIR/q8_0_*.json holds vectors whose inputs are written by people; the
// reference computes what must come back and the file is rewritten. With
// --check nothing is written: the exit code is 1 if a file is not what would
// be written. To add a vector, append one with any expectation
// ({"spec":{"verdict":"accept"}}) and run this.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/numeric.h"
#include "conformance/vector_json.h"

namespace weightproof::conformance {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> NumericFiles(const fs::path& dir) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("q8_0_") && name.ends_with(".json")) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::expected<std::string, std::string> Rebuild(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("vectors") ||
      !json.contains("set_version")) {
    return std::unexpected("not a vector file");
  }
  VectorSet set;
  set.version = json["set_version"].get<std::string>();
  for (const Json& item : json["vectors"]) {
    const auto vector = VectorFromJson(item);
    if (!vector) {
      return std::unexpected(vector.error().pointer + ": " +
                             vector.error().message);
    }
    const auto complete = WithExpectations(*vector);
    if (!complete) return std::unexpected(complete.error());
    set.vectors.push_back(*complete);
  }
  return VectorFileText(set);
}

// 0 unchanged or written, 1 differs under --check, 2 unusable.
int Process(const fs::path& file, bool check) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto rebuilt = Rebuild(text);
  if (!rebuilt) {
    fmt::print(stderr, "{}: {}\n", file.string(), rebuilt.error());
    return 2;
  }
  if (*rebuilt == text) return 0;
  if (check) {
    fmt::print(stderr, "{}: not up to date, run build_q8_0_vectors\n",
               file.string());
    return 1;
  }
  std::ofstream out(file, std::ios::binary);
  out << *rebuilt;
  out.flush();
  fmt::print("{} {}\n", out ? "wrote" : "cannot write", file.string());
  return out ? 0 : 2;
}

int Main(int argc, char** argv) {
  const bool check = argc > 1 && std::string_view(argv[1]) == "--check";
  const int first = check ? 2 : 1;
  if (argc != first + 1) {
    fmt::print(stderr, "usage: build_q8_0_vectors [--check] DIR\n");
    return 2;
  }
  const std::vector<fs::path> files = NumericFiles(argv[first]);
  if (files.empty()) {
    fmt::print(stderr, "{}: no q8_0_*.json\n", argv[first]);
    return 2;
  }
  int worst = 0;
  for (const fs::path& file : files) {
    worst = std::max(worst, Process(file, check));
  }
  return worst;
}

}  // namespace
}  // namespace weightproof::conformance

int main(int argc, char** argv) {
  return weightproof::conformance::Main(argc, argv);
}
