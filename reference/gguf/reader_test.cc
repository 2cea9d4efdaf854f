// Every rule the reader can return, with verdict, offset and policies for each
// profile (the files are in cases_*.cc).
#include "reference/gguf/reader.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "reference/gguf/test_case.h"

namespace weightproof::gguf::test {
namespace {

std::string IdOf(RuleIndex rule) {
  return rule == kNoRule ? "" : std::string(Rules()[rule].id.substr(5));
}

char LetterOf(Cell cell) {
  if (cell == Cell::kUnsupported) return 'U';
  return cell == Cell::kLimit ? 'L' : 'R';
}

Expected Got(const Case& c, const Profile& profile) {
  Input input;
  input.prefix = c.file.bytes;
  input.file_size = c.file_size.value_or(c.file.size());
  input.base = c.base;
  input.require_keys = c.require_keys;
  const auto file = Parse(input, profile);
  if (!file) {
    const Stop& stop = file.error();
    EXPECT_EQ(stop.need_bytes, 0u);
    EXPECT_FALSE(stop.detail.empty());
    return {LetterOf(stop.verdict), IdOf(stop.rule), stop.offset, {}};
  }
  Expected accepted;
  for (const RuleIndex rule : file->policies) {
    accepted.policies.push_back(IdOf(rule));
  }
  return accepted;
}

std::string Text(const Expected& e) {
  std::string text = std::string(1, e.verdict) + " " + e.rule + " at " +
                     std::to_string(e.offset);
  for (const std::string& policy : e.policies) text += " +" + policy;
  return text;
}

class ReaderCases : public testing::TestWithParam<int> {};

std::vector<Case> CasesOf(int group) {
  switch (group) {
    case 0:
      return HeaderCases();
    case 1:
      return KeyCases();
    case 2:
      return ValueCases();
    case 3:
      return AlignmentCases();
    case 4:
      return TensorCases();
    case 5:
      return GeometryCases();
    default:
      return DataCases();
  }
}
constexpr int kGroups = 7;

TEST_P(ReaderCases, AreJudgedAsWritten) {
  const std::vector<Case> cases = CasesOf(GetParam());
  ASSERT_FALSE(cases.empty());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ASSERT_TRUE(FindRule("gguf." + cases[i].rule)) << cases[i].rule;
    for (std::size_t p = 0; p < Profiles().size(); ++p) {
      EXPECT_EQ(Text(Got(cases[i], Profiles()[p])), Text(cases[i].expected[p]))
          << "case " << i << " (" << cases[i].rule << ") under "
          << Profiles()[p].name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReaderCases, testing::Range(0, kGroups));

// For every verdict in the registry that is not plain accept there is a case
// in which that profile gives just this verdict for just this rule, and every
// rule judged by the parser has a case of its own.
TEST(ReaderCases, CoverEveryRuleOfTheParser) {
  std::set<std::string> about;
  std::set<std::string> given;  // rule, profile, letter
  for (int group = 0; group < kGroups; ++group) {
    for (const Case& c : CasesOf(group)) {
      about.insert("gguf." + c.rule);
      for (std::size_t p = 0; p < 3; ++p) {
        const Expected& e = c.expected[p];
        const std::string suffix = " " + std::to_string(p) + " ";
        if (e.verdict != 'A') {
          given.insert("gguf." + e.rule + suffix + e.verdict);
        }
        for (const std::string& policy : e.policies) {
          given.insert("gguf." + policy + suffix + "P");
        }
      }
    }
  }
  // ggml stops at the second level already.
  given.insert("gguf.array.nested.within_limit 1 R");
  given.insert("gguf.array.nested.depth_limit 1 R");
  int checked = 0;
  for (const Rule& rule : Rules()) {
    if (rule.format != "gguf" || rule.judged_by != "parse") continue;
    ++checked;
    EXPECT_TRUE(about.contains(std::string(rule.id))) << rule.id;
    const Cell cells[] = {rule.spec, rule.ggml, rule.candle};
    for (std::size_t p = 0; p < 3; ++p) {
      if (cells[p] == Cell::kAccept) continue;
      const char letter = cells[p] == Cell::kPolicy ? 'P' : LetterOf(cells[p]);
      EXPECT_TRUE(given.contains(std::string(rule.id) + " " +
                                 std::to_string(p) + " " + letter))
          << rule.id << " is never found under " << Profiles()[p].name;
    }
  }
  EXPECT_GT(checked, 110);
}

}  // namespace
}  // namespace weightproof::gguf::test
