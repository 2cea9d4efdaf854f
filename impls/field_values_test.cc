// Every multi-byte field of a rich valid file takes every value at which
// arithmetic breaks; both built-in readers must say the same of each file.
// WEIGHTPROOF_FIELD_TABLE=FILE writes what they say, one line per file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "impls/cpu/gguf_view_testing.h"
#include "impls/registry.h"
#include "reference/gguf/fields.h"

namespace weightproof::impls::testing {
namespace {

struct Field {
  std::string path;
  std::uint64_t offset, size;
};

std::vector<Field> MultiByteFields(const std::string& file) {
  std::vector<Field> fields;
  gguf::Input input;
  input.prefix = {reinterpret_cast<const std::uint8_t*>(file.data()),
                  file.size()};
  input.file_size = file.size();
  const auto walk = gguf::VisitFields(input, [&](const gguf::Field& field) {
    switch (field.kind) {
      case gguf::FieldKind::kVersion:
      case gguf::FieldKind::kCount:
      case gguf::FieldKind::kLength:
      case gguf::FieldKind::kType:
      case gguf::FieldKind::kDim:
      case gguf::FieldKind::kOffset:
      case gguf::FieldKind::kScalar:
        if (field.size > 1) {
          fields.push_back({field.path, field.offset, field.size});
        }
        break;
      default:
        break;
    }
  });
  EXPECT_TRUE(walk.complete) << walk.problem;
  return fields;
}

// 0, 1, the largest, one less, and powers of two that fit.
std::set<std::uint64_t> ValuesFor(std::uint64_t size) {
  const std::uint64_t max = size == 8 ? ~0ull : (1ull << (8 * size)) - 1;
  std::set<std::uint64_t> values = {0, 1, max, max - 1};
  for (const int power : {31, 32, 40, 60, 62, 63}) {
    for (const std::int64_t by : {-1, 0, 1}) {
      const std::uint64_t value =
          (1ull << power) + static_cast<std::uint64_t>(by);
      if (value <= max) values.insert(value);
    }
  }
  return values;
}

std::string With(std::string file, const Field& field, std::uint64_t value,
                 bool big) {
  for (std::uint64_t i = 0; i < field.size; ++i) {
    const std::uint64_t place = big ? field.size - 1 - i : i;
    file[field.offset + i] = static_cast<char>(value >> (8 * place));
  }
  return file;
}

class FieldValues : public ::testing::TestWithParam<std::pair<int, bool>> {};

TEST_P(FieldValues, AreJudgedAlikeByBothReaders) {
  const auto [version, big] = GetParam();
  const std::string file = RichFile(static_cast<std::uint32_t>(version), big);
  const char* table = std::getenv("WEIGHTPROOF_FIELD_TABLE");
  std::ofstream out;
  if (table != nullptr) out.open(table, std::ios::app);
  std::map<std::string, int> rules;
  int files = 0;
  for (const Field& field : MultiByteFields(file)) {
    for (const std::uint64_t value : ValuesFor(field.size)) {
      const std::string changed = With(file, field, value, big);
      ++files;
      for (const char* profile : kProfiles) {
        RunOptions options;
        options.profile = profile;
        Outcome expected = Parse(*FindBuiltIn("reference"), changed, options);
        Outcome got = Parse(*FindBuiltIn("gguf_view"), changed, options);
        expected.detail.clear();
        got.detail.clear();
        ASSERT_EQ(Summary(got), Summary(expected))
            << field.path << " = " << value << ", profile " << profile;
        ASSERT_EQ(got.events, expected.events)
            << field.path << " = " << value << ", profile " << profile;
        if (std::string_view(profile) == "spec") ++rules[expected.rule];
        if (out) {
          out << fmt::format("v{}{} {} {:#x} {} {}\n", version, big ? "be" : "",
                             field.path, value, profile, Summary(expected));
        }
      }
    }
  }
  fmt::print("{} files, {} outcomes under spec\n", files, rules.size());
  EXPECT_GT(files, 500);
  // The values reach many rules, and some leave the file sound.
  EXPECT_GT(rules.size(), 15u);
  EXPECT_GT(rules[""], 10);
}

INSTANTIATE_TEST_SUITE_P(Versions, FieldValues,
                         ::testing::Values(std::pair{3, false},
                                           std::pair{3, true},
                                           std::pair{2, false},
                                           std::pair{1, false}),
                         [](const auto& info) {
                           return fmt::format("V{}{}", info.param.first,
                                              info.param.second ? "Big" : "");
                         });

}  // namespace
}  // namespace weightproof::impls::testing
