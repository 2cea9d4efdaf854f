// Finds vectors that tell arithmetics apart which the others do not tell apart
// often enough.
//
//   search_q8_0_vectors [--check] DIR
//
// Draws blocks at random, always the same ones, until each pair of separation.h
// is separated by at least three vectors of DIR, and writes those that helped
// to DIR/q8_0_separate.json. With --check nothing is written: the exit code is
// 1 if the file is not what would be written.
#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/numeric.h"
#include "conformance/separation.h"
#include "conformance/vector_json.h"

namespace weightproof::conformance {
namespace {

constexpr std::size_t kWanted = 3;
constexpr int kDraws = 200000;  // for each operation, then it gives up
constexpr std::string_view kId = "q8pair-";

using Random = std::mt19937_64;

using Bytes = std::vector<std::uint8_t>;

void AppendFloat(std::uint32_t pattern, Bytes& out) {
  for (int shift = 0; shift < 32; shift += 8) {
    out.push_back(static_cast<std::uint8_t>(pattern >> shift));
  }
}

// A chunk list of one piece.
Json Hex(const Bytes& bytes) { return Json::array({{{"hex", ToHex(bytes)}}}); }

enum class Data { kBf16, kHalves, kAny, kTiny, kNonfinite };

// Element i of a block.
std::uint32_t Draw(Data data, int i, std::uint32_t base, Random& random) {
  const auto r = static_cast<std::uint32_t>(random());
  const std::uint32_t sign = r << 31;
  switch (data) {
    case Data::kBf16:
      return sign | (118 + (r >> 1) % 10) << 23 | (r >> 20 & 127) << 16;
    case Data::kHalves: {
      if (i == 0) return 0x42fe0000;  // 127: the scale is 1
      const float half =
          static_cast<float>(static_cast<int>(r % 509) - 254) / 2;
      return std::bit_cast<std::uint32_t>(half);
    }
    case Data::kAny:
      return sign | (100 + base % 40 + (r >> 1) % 4) << 23 |
             (r >> 9 & 0x7fffff);
    case Data::kTiny:
      return sign | (r >> 1) % 0x02fe0004;
    case Data::kNonfinite:
      if (i == static_cast<int>(base % 32)) {
        return sign | (base % 3 == 0 ? 0x7f800000u : 0x7fc00000u);
      }
      return sign | (118 + (r >> 1) % 10) << 23 | (r >> 9 & 0x7fffff);
  }
  return 0;
}

const char* RuleOf(const std::string& operation, Data data) {
  if (operation == "q8_0.quantize") {
    return data == Data::kTiny        ? "q8_0.quantize.reciprocal_inf"
           : data == Data::kNonfinite ? "q8_0.quantize.nonfinite"
                                      : "q8_0.quantize.reciprocal";
  }
  return data == Data::kNonfinite ? "q8_1.quantize.nonfinite"
                                  : "q8_1.quantize.sum";
}

Vector DrawQuantize(const std::string& operation, Random& random) {
  const auto data = static_cast<Data>(random() % 5);
  const auto base = static_cast<std::uint32_t>(random());
  Bytes x;
  for (int i = 0; i < 32; ++i) AppendFloat(Draw(data, i, base, random), x);
  Vector vector;
  vector.rule = RuleOf(operation, data);
  vector.request = {{"n", 32}, {"rows", 1}, {"x", Hex(x)}};
  return vector;
}

Vector DrawDot(Random& random) {
  const std::uint64_t blocks = 2 + random() % 40;
  const bool lowest = random() % 4 == 0;
  Bytes sides[2];
  for (Bytes& side : sides) {
    for (std::uint64_t b = 0; b < blocks; ++b) {
      const auto d = static_cast<std::uint16_t>(0x2800 + random() % 0x1400);
      side.push_back(static_cast<std::uint8_t>(d));
      side.push_back(static_cast<std::uint8_t>(d >> 8));
      for (int i = 0; i < 32; ++i) {
        const int code = lowest ? static_cast<int>(random() % 256) - 128
                                : static_cast<int>(random() % 255) - 127;
        side.push_back(static_cast<std::uint8_t>(code));
      }
    }
  }
  Vector vector;
  vector.rule = lowest ? "q8_0.dot.isum.neg128" : "q8_0.dot.order";
  vector.request = {
      {"n", 32 * blocks}, {"w", Hex(sides[0])}, {"x", Hex(sides[1])}};
  return vector;
}

// Adds vectors of one operation until all its pairs are separated. False if it
// gave up.
bool Search(const std::string& operation, Separation& separation,
            VectorSet& found) {
  Random random(1);
  for (int draw = 0; draw < kDraws && separation.Least(operation) < kWanted;
       ++draw) {
    Vector vector = operation == "q8_0.dot" ? DrawDot(random)
                                            : DrawQuantize(operation, random);
    vector.id = fmt::format("{}{:02}", kId, found.vectors.size() + 1);
    vector.format = "q8_0";
    vector.operation = operation;
    vector.notes = "found by search_q8_0_vectors";
    vector.expect["spec"].verdict = "accept";
    if (separation.Gain(vector, kWanted) == 0) continue;
    const auto complete = WithExpectations(vector);
    if (!complete) {
      fmt::print(stderr, "{}: {}\n", vector.id, complete.error());
      return false;
    }
    separation.Add(*complete);
    found.vectors.push_back(*complete);
  }
  return separation.Least(operation) >= kWanted;
}

int Main(int argc, char** argv) {
  const bool check = argc > 1 && std::string_view(argv[1]) == "--check";
  if (argc != (check ? 3 : 2)) {
    fmt::print(stderr, "usage: search_q8_0_vectors [--check] DIR\n");
    return 2;
  }
  const std::filesystem::path dir = argv[argc - 1];
  const auto set = LoadVectors(dir);
  if (!set) {
    fmt::print(stderr, "{}: {}\n", set.error().file.string(),
               set.error().message);
    return 2;
  }
  Separation separation;
  for (const Vector& vector : set->vectors) {
    if (!vector.id.starts_with(kId)) separation.Add(vector);
  }
  VectorSet found;
  found.version = set->version;
  for (const char* operation : {"q8_0.quantize", "q8_1.quantize", "q8_0.dot"}) {
    if (!Search(operation, separation, found)) {
      fmt::print(stderr, "{}: not all pairs could be separated\n", operation);
      return 2;
    }
  }
  const std::filesystem::path file = dir / "q8_0_separate.json";
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string wanted = VectorFileText(found);
  if (text == wanted) return 0;
  if (check) {
    fmt::print(stderr, "{}: not up to date, run search_q8_0_vectors\n",
               file.string());
    return 1;
  }
  std::ofstream out(file, std::ios::binary);
  out << wanted;
  out.flush();
  fmt::print("{} vectors in {}\n", found.vectors.size(), file.string());
  return out ? 0 : 2;
}

}  // namespace
}  // namespace weightproof::conformance

int main(int argc, char** argv) {
  return weightproof::conformance::Main(argc, argv);
}
