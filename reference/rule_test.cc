#include "reference/rule.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "build_paths.h"

namespace weightproof {
namespace {

// Ids live for ever: reports, vectors and other people's deviation lists name
// them. A new rule is appended to rule_ids.txt; no line may ever leave it.
TEST(RuleRegistry, KeepsEveryCommittedIdAndNoOther) {
  std::ifstream in(WEIGHTPROOF_SOURCE_DIR "/reference/rule_ids.txt");
  ASSERT_TRUE(in) << "reference/rule_ids.txt cannot be read";
  std::set<std::string> committed;
  for (std::string line; std::getline(in, line);) committed.insert(line);
  ASSERT_GE(committed.size(), 216u);
  for (const std::string& id : committed) {
    EXPECT_TRUE(FindRule(id).has_value()) << "retired or renamed: " << id;
  }
  for (const Rule& rule : Rules()) {
    EXPECT_TRUE(committed.contains(std::string(rule.id)))
        << "append to reference/rule_ids.txt: " << rule.id;
  }
}

TEST(RuleRegistry, FindsByIdAndOnlyExactly) {
  const auto zero = FindRule("gguf.align.value.zero");
  ASSERT_TRUE(zero.has_value());
  EXPECT_EQ(Rules()[*zero].spec, Cell::kReject);
  EXPECT_EQ(Rules()[*zero].severity, Severity::kHazard);
  EXPECT_FALSE(FindRule("gguf.align.value").has_value());
  EXPECT_FALSE(FindRule("").has_value());
}

TEST(RuleRegistry, EveryRuleSaysWhatItMeans) {
  for (const Rule& rule : Rules()) {
    EXPECT_FALSE(rule.statement.empty()) << rule.id;
    EXPECT_FALSE(rule.stage.empty()) << rule.id;
    EXPECT_FALSE(rule.judged_by.empty()) << rule.id;
    const bool accepts_everywhere = rule.spec == Cell::kAccept &&
                                    rule.ggml == Cell::kAccept &&
                                    rule.candle == Cell::kAccept;
    if (!accepts_everywhere && rule.format == "gguf") {
      EXPECT_NE(rule.severity, Severity::kNone) << rule.id;
    }
  }
}

}  // namespace
}  // namespace weightproof
