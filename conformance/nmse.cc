// What a threshold on the normalised mean squared error lets pass.
//
//   q8_0_nmse MUTANTS_DIR VECTORS_DIR [NAME...]
//
// Every planted bug of the numeric kernels under MUTANTS_DIR (or the named
// ones) multiplies matrices as ggml's own tests of backends do: 16 rows of 256
// uniform weights, quantized, times uniform f32 columns; error = sum (y - r)^2
// / sum r^2, passed below 5e-4. Then it answers the vectors. Prints a Markdown
// table, the same at each run.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "conformance/numeric_testing.h"
#include "impls/abi.h"
#include "reference/q8_0/dot.h"
#include "reference/q8_0/quantize.h"

namespace weightproof::conformance {
namespace {

namespace fs = std::filesystem;

constexpr double kThreshold = 5e-4;
constexpr std::uint64_t kRows = 16, kLength = 256;
constexpr int kTrials = 1000;

// Uniform in [-1, 1), of a generator that is the same everywhere.
std::vector<float> Uniform(std::uint64_t count, std::mt19937& random) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(static_cast<int>(random() >> 8) - (1 << 23)) *
            0x1p-23f;
  }
  return values;
}

std::span<const std::uint8_t> BytesOf(const std::vector<float>& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()),
          4 * values.size()};
}

// The worst of many trials; negative if the implementation cannot run here.
double WorstError(const wp_implementation& implementation) {
  std::mt19937 random(1);
  double worst = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto weights = Uniform(kRows * kLength, random);
    const auto x = Uniform(kLength, random);
    const auto w = q8_0::Quantize(BytesOf(weights), kLength, kRows);
    const auto expected = q8_0::Matvec({.w = *w,
                                        .x = BytesOf(x),
                                        .x_is_f32 = true,
                                        .n = kLength,
                                        .rows = kRows,
                                        .cols = 1});
    std::vector<float> y(kRows);
    wp_answer answer{};
    implementation.q8_0_matvec(nullptr, w->data(), nullptr, x.data(), kLength,
                               kRows, 1, 1, y.data(), &answer);
    if (answer.status != WP_STATUS_OK) return -1;
    double errors = 0, squares = 0;
    for (std::uint64_t r = 0; r < kRows; ++r) {
      const double difference = double{y[r]} - double{(*expected)[r]};
      errors += difference * difference;
      squares += double{(*expected)[r]} * double{(*expected)[r]};
    }
    worst = std::max(worst, errors / squares);
  }
  return worst;
}

const wp_implementation* Open(const fs::path& object) {
  void* const library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  const auto open = reinterpret_cast<wp_open_function>(
      dlsym(library, "wp_implementation_open"));
  char error[256] = "";
  return open == nullptr ? nullptr : open("", error, sizeof(error));
}

std::string Row(const Json& about, const wp_implementation& mutant,
                const VectorSet& set) {
  const double error = WorstError(mutant);
  const std::string name = about.at("name");
  if (error < 0) return "";
  std::string first;
  for (const Vector& vector : set.vectors) {
    if (vector.format != "q8_0") continue;
    const NumericOutcome outcome = AnswerVector(mutant, vector);
    if (outcome.wrong.empty()) continue;
    first = vector.id;
    break;
  }
  return fmt::format("| `{}` | {:.1e} | {} | `{}` |\n", name, error,
                     error < kThreshold ? "passes" : "fails", first);
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: q8_0_nmse MUTANTS_DIR VECTORS_DIR [NAME...]\n");
    return 2;
  }
  const std::vector<std::string> wanted(argv + 3, argv + argc);
  const auto set = LoadVectors(argv[2]);
  if (!set) {
    fmt::print(stderr, "{}: {}\n", argv[2], set.error().message);
    return 2;
  }
  std::vector<fs::path> descriptions;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(argv[1], error)) {
    if (entry.path().extension() == ".json") {
      descriptions.push_back(entry.path());
    }
  }
  std::ranges::sort(descriptions);
  std::string table =
      "| planted bug | worst error | below 5e-4 | first vector failed |\n"
      "|---|---|---|---|\n";
  for (const fs::path& path : descriptions) {
    std::ifstream in(path);
    const Json about = Json::parse(in);
    const std::string name = about.at("name");
    if (!about.at("file").get<std::string>().starts_with("impls/cpu/q8_0_") ||
        (!wanted.empty() && std::ranges::find(wanted, name) == wanted.end())) {
      continue;
    }
    const wp_implementation* const mutant =
        Open(fs::path(path).replace_extension(".so"));
    if (mutant == nullptr || mutant->q8_0_matvec == nullptr) continue;
    const std::string row = Row(about, *mutant, *set);
    if (row.empty()) {
      fmt::print(stderr, "NOT RUN: {}: this machine lacks {}\n", name,
                 about.value("instruction_set", "its instructions"));
    }
    table += row;
  }
  fmt::print("{}", table);
  return 0;
}

}  // namespace
}  // namespace weightproof::conformance

int main(int argc, char** argv) {
  return weightproof::conformance::Main(argc, argv);
}
