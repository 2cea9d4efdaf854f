#include "conformance/vector_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "build_paths.h"
#include "conformance/vector_build_one.h"
#include "corpus/assembler.h"
#include "reference/rule.h"

namespace weightproof::conformance {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A clean file and one that breaks a rule, its twin the first.
constexpr const char* kClean = R"(
recipe gguf.header.kv_count.minimum_entry-a
rule gguf.header.kv_count.minimum_entry
verdict accept
twin gguf.kv.key.empty-a
gguf 3 0 1
kv "a" u8 7
)";
constexpr const char* kFaulty = R"(
recipe gguf.kv.key.empty-a
rule gguf.kv.key.empty
verdict reject at k.key
twin gguf.header.kv_count.minimum_entry-a
gguf 3 0 1
k: kv "" u8 7
)";

BuildResult Build(const std::string& text) {
  const auto all = corpus::AssembleAll(text);
  EXPECT_TRUE(all.has_value()) << all.error().message;
  std::vector<RecipeSource> sources;
  for (const corpus::Assembly& assembly : *all) {
    sources.push_back({"test.recipe", assembly});
  }
  return BuildVectors(sources);
}

std::string Replace(std::string text, const std::string& from,
                    const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// The first problem of the two recipes, the faulty one changed.
std::string Problem(const std::string& from, const std::string& to) {
  const BuildResult result = Build(kClean + Replace(kFaulty, from, to));
  return result.problems.empty() ? "" : result.problems[0];
}

TEST(BuildVectors, FillsInWhatTheRecipeLeavesOut) {
  const BuildResult result = Build(std::string(kClean) + kFaulty);
  ASSERT_THAT(result.problems, IsEmpty());
  ASSERT_EQ(result.vectors.size(), 2u);
  const Vector& clean = result.vectors[0];
  EXPECT_EQ(clean.operation, "gguf.parse");
  EXPECT_EQ(clean.expect.at("ggml").verdict, "accept");
  EXPECT_EQ(clean.dump["kv"][0]["value"], 7);
  const Vector& faulty = result.vectors[1];
  EXPECT_EQ(faulty.expect.at("spec").rule, "gguf.kv.key.empty");
  EXPECT_EQ(faulty.expect.at("spec").offset, 24u);
  EXPECT_EQ(faulty.expect.at("ggml").verdict, "reject");
  EXPECT_EQ(faulty.expect.at("candle").verdict, "accept");
  EXPECT_EQ(faulty.dump["kv"][0]["key"], "");
}

TEST(BuildVectors, RefusesAWrongVerdict) {
  EXPECT_THAT(Problem("verdict reject at k.key", "verdict accept"),
              HasSubstr("the recipe says accept, the readers say reject"));
  EXPECT_THAT(Problem("verdict reject", "verdict limit"),
              HasSubstr("the recipe says limit"));
}

TEST(BuildVectors, RefusesAWrongPlace) {
  EXPECT_THAT(Problem("at k.key", "at k.type"),
              HasSubstr("the recipe points at 32, the readers at 24"));
  EXPECT_THAT(Problem(" at k.key", ""), HasSubstr("does not say where"));
}

TEST(BuildVectors, RefusesAnotherRule) {
  EXPECT_THAT(Problem("kv \"\"", "kv \"\\0\""),
              HasSubstr("the readers say gguf.kv.key.nul_trailing"));
}

TEST(BuildVectors, RefusesASecondFault) {
  EXPECT_THAT(Problem("u8 7", "bool 7"),
              HasSubstr("a second fault under spec: without "
                        "gguf.kv.key.empty it is gguf.kv.bool.range"));
  EXPECT_THAT(Problem("kv \"\" u8 7", "kv \"\" u8 7\npad\nu8 1"),
              HasSubstr("a matter of policy by gguf.data.tail"));
}

TEST(BuildVectors, AMaskedFaultIsNoSecondOne) {
  const std::string faulty =
      Replace(Replace(kFaulty, "u8 7", "bool 7"), "twin",
              "masks gguf.kv.bool.range\nalso gguf.kv.bool.range\ntwin");
  EXPECT_THAT(Build(kClean + faulty).problems, IsEmpty());
}

TEST(BuildVectors, RefusesARuleThatComesFirstElsewhereUnlessListed) {
  const std::string nested = R"(
recipe gguf.array.length.past_eof-a
rule gguf.array.length.past_eof
verdict reject at k.len
twin gguf.header.kv_count.minimum_entry-a
gguf 3 0 1
k: kv "k" array array 9
)";
  const BuildResult without = Build(std::string(kClean) + kFaulty + nested);
  ASSERT_FALSE(without.problems.empty());
  EXPECT_THAT(without.problems[0],
              HasSubstr("ggml: reject gguf.array.nested.depth2 at 37 comes "
                        "first; list it under also"));
  const BuildResult with =
      Build(std::string(kClean) + kFaulty +
            Replace(nested, "twin", "also gguf.array.nested.depth2\ntwin"));
  EXPECT_THAT(with.problems, IsEmpty());
}

TEST(BuildVectors, RefusesAWrongClaimOfAProfile) {
  EXPECT_THAT(Problem("twin", "profile candle reject\ntwin"),
              HasSubstr("candle: the recipe claims reject"));
  EXPECT_THAT(Problem("twin",
                      "profile ggml reject gguf.kv.key.empty at 3"
                      "\ntwin"),
              HasSubstr("ggml: the recipe claims"));
}

TEST(BuildVectors, RefusesMissingAndUncleanTwins) {
  EXPECT_THAT(Problem("twin gguf.header.kv_count.minimum_entry-a", ""),
              HasSubstr("no twin is named"));
  EXPECT_THAT(Problem("minimum_entry-a", "minimum_entry-b"),
              HasSubstr("there is no twin"));
  const std::string other = Replace(
      Replace(kFaulty, "gguf.kv.key.empty-a", "gguf.kv.key.empty-b"),
      "twin gguf.header.kv_count.minimum_entry-a", "twin gguf.kv.key.empty-a");
  const BuildResult result = Build(std::string(kClean) + kFaulty + other);
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_THAT(result.problems[0], HasSubstr("is not clean under spec"));
}

TEST(BuildVectors, RefusesAnIncompleteHeader) {
  EXPECT_THAT(Problem("rule gguf.kv.key.empty", "rule gguf.kv.key.nothing"),
              HasSubstr("no such rule"));
  EXPECT_THAT(Problem("recipe gguf.kv.key.empty-a", "recipe gguf.other-a"),
              HasSubstr("the id is the rule"));
  EXPECT_THAT(Problem("verdict reject at k.key", ""), HasSubstr("no verdict"));
  EXPECT_THAT(Problem("twin", "also gguf.nothing\ntwin"),
              HasSubstr("no such rule: gguf.nothing"));
  EXPECT_THAT(Problem("twin", "request [1]\ntwin"),
              HasSubstr("request is not JSON"));
  const BuildResult twice = Build(std::string(kClean) + kFaulty + kFaulty);
  ASSERT_EQ(twice.problems.size(), 1u);
  EXPECT_THAT(twice.problems[0], HasSubstr("the id is taken"));
}

TEST(BuildVectors, NamesRulesWithoutVectors) {
  const BuildResult result = Build(std::string(kClean) + kFaulty);
  const auto missing = UncoveredRules(result.vectors);
  EXPECT_EQ(missing.size(), 142u);
  EXPECT_EQ(std::ranges::count(missing, "gguf.kv.key.empty"), 0);
}

// The committed recipes themselves.
TEST(CommittedRecipes, CoverEveryRuleAndKeepOneFaultEach) {
  const auto sources =
      LoadRecipes(WEIGHTPROOF_SOURCE_DIR "/corpus/recipes/gguf");
  ASSERT_TRUE(sources.has_value()) << sources.error();
  std::map<std::string, const corpus::Assembly*> by_id;
  std::set<std::string> rules;
  for (const RecipeSource& source : *sources) {
    by_id[source.assembly.recipe.id] = &source.assembly;
    rules.insert(source.assembly.recipe.rule);
  }
  EXPECT_GE(by_id.size(), 300u);
  for (const Rule& rule : Rules()) {
    if (rule.format == "gguf") {
      EXPECT_TRUE(rules.contains(std::string(rule.id))) << rule.id;
    }
  }
  // A broken file is never the very bytes of its twin, and not much longer or
  // shorter either unless it was cut or its fault is a length.
  for (const auto& [id, assembly] : by_id) {
    const corpus::Recipe& recipe = assembly->recipe;
    const auto twin = by_id.find(recipe.twin);
    ASSERT_NE(twin, by_id.end()) << id;
    if (recipe.verdict == "accept" || !recipe.request.empty()) continue;
    if (!assembly->files.empty()) continue;
    EXPECT_NE(assembly->bytes, twin->second->bytes) << id;
  }
}

// A broken file differs from its twin in one entry of one table.
TEST(CommittedRecipes, DifferFromTheirTwinsInOnePlace) {
  const auto sources =
      LoadRecipes(WEIGHTPROOF_SOURCE_DIR "/corpus/recipes/gguf");
  ASSERT_TRUE(sources.has_value()) << sources.error();
  std::map<std::string, const corpus::Assembly*> by_id;
  for (const RecipeSource& source : *sources) {
    by_id[source.assembly.recipe.id] = &source.assembly;
  }
  int compared = 0;
  for (const auto& [id, assembly] : by_id) {
    const corpus::Assembly& twin = *by_id.at(assembly->recipe.twin);
    constexpr std::uint64_t kSmall = 1 << 20;
    if (assembly->recipe.verdict == "accept" || !assembly->files.empty() ||
        assembly->bytes.Size() > kSmall || twin.bytes.Size() > kSmall) {
      continue;
    }
    // Not to be had in one place: another layout, a sum of sizes, two names.
    if (id.starts_with("gguf.header.version.one-") || id.ends_with("-v1") ||
        id.starts_with("gguf.geometry.size_sum.overflow-") ||
        id.starts_with("gguf.geometry.tensor_end.overflow-four") ||
        id.starts_with("gguf.tensor.name.distinct_after_nul-")) {
      continue;
    }
    const auto file = FileView::Make(assembly->bytes);
    const auto clean = FileView::Make(twin.bytes);
    ASSERT_TRUE(file.has_value() && clean.has_value()) << id;
    const auto entries = DifferingEntries(*file, *clean, 0);
    EXPECT_LE(entries.size(), 1u)
        << id << " and " << assembly->recipe.twin << " differ in "
        << testing::PrintToString(entries);
    ++compared;
  }
  EXPECT_GE(compared, 300);
}

}  // namespace
}  // namespace weightproof::conformance
