// The generators, mutators and oracles of GGUF, without an engine and with
// the one that needs no instrumentation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fuzzers/engine.h"
#include "fuzzers/gguf/generator.h"
#include "fuzzers/gguf/mutator.h"
#include "fuzzers/gguf/mutator_edges.h"
#include "fuzzers/gguf/oracle.h"
#include "fuzzers/gguf/token_tree.h"
#include "impls/registry.h"

namespace weightproof::fuzzers {
namespace {

Subjects TwoReaders() {
  return {impls::FindBuiltIn("reference"), {impls::FindBuiltIn("gguf_view")}};
}

GgufAnswer Ask(ByteSpan file, const char* reader = "reference") {
  GgufAnswer answer;
  AskGguf(*impls::FindBuiltIn(reader), file, {}, answer);
  return answer;
}

TEST(GgufGenerator, MakesTheEmptyFileOfNothing) {
  EXPECT_EQ(GenerateGguf({}).size(), 24u);
  EXPECT_EQ(Ask(GenerateGguf({})).Describe(), "accept");
}

TEST(GgufGenerator, MakesValidFilesOnlyAndManyKinds) {
  Random random(1);
  std::uint64_t kinds = 0;
  for (int i = 0; i < 3000; ++i) {
    const Bytes entropy = random.Take(8 + random.Below(400));
    const Bytes file = GenerateGguf(entropy);
    const GgufAnswer answer = Ask(file);
    ASSERT_EQ(answer.Describe(), "accept")
        << "entropy number " << i << " of seed 1";
    ASSERT_EQ(file, GenerateGguf(entropy));
    kinds |= answer.kinds;
  }
  // All kinds of things that a recording tells apart, but an absent version.
  EXPECT_EQ(~kinds & ~(std::uint64_t{1} << 30) & ~(std::uint64_t{1} << 35) &
                ~(std::uint64_t{1} << 63),
            0u)
      << std::hex << kinds;
}

TEST(GgufTokens, PutTogetherAgainAreTheFile) {
  Random random(2);
  Bytes file;
  for (int i = 0; i < 3000; ++i) {
    file = i % 20 == 0 ? GenerateGguf(random.Take(200))
                       : MutateGguf(file, random, 4096);
    ASSERT_EQ(Serialize(ParseTokens(file)), file) << i;
  }
}

TEST(GgufTokens, ConversionChangesNothingThatAFileSays) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    TokenTree tree = GenerateGgufTree(random.Take(300));
    if (tree.version != 3) continue;
    tree.tensors.clear();  // their data would not be turned round
    tree.rest.clear();
    RefixLengths(tree);
    const GgufAnswer before = Ask(Serialize(tree));
    Convert(tree, 3, !tree.big_endian);
    GgufAnswer after = Ask(Serialize(tree));
    ASSERT_EQ(after.Describe(), "accept");
    // But for the byte order itself, the second number of the header.
    ASSERT_GT(after.log.size(), 17u);
    for (std::size_t k = 9; k < 17; ++k) after.log[k] = before.log[k];
    ASSERT_EQ(after.log, before.log) << i;
  }
}

TEST(GgufTokens, RepairsLengthsCountsAndLayout) {
  TokenTree tree = EmptyFile(3, false);
  Bytes bytes(64);
  Entropy entropy(bytes);
  tree.kvs.push_back(GenerateKeyValue(entropy, 8, false));
  tree.kvs.back()[1].bytes = {'l', 'o', 'n', 'g', 'e', 'r'};
  tree.tensors.push_back(GenerateTensor(entropy));
  EXPECT_NE(Ask(Serialize(tree)).verdict, WP_ACCEPT);
  RefixLengths(tree);
  RefixLayout(tree, Placement::kPacked);
  EXPECT_EQ(Ask(Serialize(tree)).Describe(), "accept");
}

TEST(GgufMutator, IsDeterministicAndBounded) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random one(seed), two(seed);
    Bytes a = GenerateGguf(one.Take(100)), b = GenerateGguf(two.Take(100));
    for (int i = 0; i < 40; ++i) {
      a = MutateGguf(a, one, 700);
      b = CrossGguf(MutateGguf(b, two, 700), {}, two, 700);
      ASSERT_LE(a.size(), 700u);
      ASSERT_LE(b.size(), 700u);
    }
  }
  Random one(9), two(9);
  const Bytes file = GenerateGguf(Random(4).Take(200));
  EXPECT_EQ(MutateGguf(file, one, 4096), MutateGguf(file, two, 4096));
}

// Each takes several fields at once, which single changes hardly ever get.
TEST(GgufMutator, MovesFilesToTheEdgesOfRules) {
  Random random(10);
  std::set<std::string> seen;
  for (int i = 0; i < 3000; ++i) {
    TokenTree tree = EmptyFile(3, false);
    if (MoveToEdge(tree, random)) {
      RefixLengths(tree);
      RefixLayout(tree, Placement::kPacked);
    }
    const GgufAnswer answer = Ask(Serialize(tree));
    seen.insert(answer.rule == nullptr ? "accept" : answer.rule);
    ASSERT_EQ(answer.Describe(), Ask(Serialize(tree), "gguf_view").Describe());
  }
  for (const char* rule :
       {"accept", "gguf.header.magic.wrong", "gguf.header.magic.reversed_be",
        "gguf.geometry.size_sum.overflow", "gguf.geometry.tensor_end.overflow",
        "gguf.array.nested.depth_limit", "gguf.kv.key.duplicate",
        "gguf.tensor.name.duplicate", "gguf.kv.string.utf8_invalid"}) {
    EXPECT_TRUE(seen.contains(rule)) << rule;
  }
  EXPECT_GE(seen.size(), 9u) << testing::PrintToString(seen);
}

TEST(GgufMutator, ReachesMostRulesFromNothing) {
  std::set<std::string> rules;
  const Target* target = FindTarget("gguf_diff");
  ASSERT_NE(target, nullptr);
  EngineOptions options;
  options.seed = 5;
  options.executions = 40000;
  EngineEvents events;
  events.on_new = [&](ByteSpan input) {
    const GgufAnswer answer = Ask(input);
    if (answer.rule != nullptr) rules.insert(answer.rule);
  };
  events.on_finding = [](const Finding& finding, ByteSpan) {
    ADD_FAILURE() << BucketOf(finding) << "\n" << finding.description;
  };
  Engine engine(*target, target->subjects(), options, events);
  engine.Run();
  // Of the 62 rules for which profile spec refuses by parsing.
  EXPECT_GT(rules.size(), 52u) << testing::PrintToString(rules);
}

TEST(GgufOracle, AgreesOnEverythingInAShortRun) {
  for (const char* name : {"gguf_raw", "gguf_structured", "gguf_script"}) {
    const Target* target = FindTarget(name);
    ASSERT_NE(target, nullptr);
    const auto hunted = Hunt(*target, target->subjects(), 6, 3000);
    if (hunted) ADD_FAILURE() << name << ": " << BucketOf(hunted->finding);
  }
}

TEST(GgufOracle, FindsAPlantedBug) {
  Subjects subjects = TwoReaders();
  subjects.tested = {impls::CanaryImplementation()};
  const auto hunted = Hunt(*FindTarget("gguf_diff"), subjects, 7, 200000);
  ASSERT_TRUE(hunted.has_value());
  EXPECT_EQ(hunted->finding.implementation, "canary");
  const Target& target = *FindTarget("gguf_diff");
  const Bytes small = Minimise(hunted->input, [&](ByteSpan input) {
    const auto execution = target.run(subjects, input, Depth::kSampled);
    return execution.finding &&
           BucketOf(*execution.finding) == BucketOf(hunted->finding);
  });
  EXPECT_LE(small.size(), hunted->input.size());
}

}  // namespace
}  // namespace weightproof::fuzzers
