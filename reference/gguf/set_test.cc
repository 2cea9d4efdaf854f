#include "reference/gguf/set.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "reference/gguf/test_file.h"

namespace weightproof::gguf::test {
namespace {

std::string IdOf(RuleIndex rule) {
  return rule == kNoRule ? "none" : std::string(Rules()[rule].id.substr(5));
}

// Marks no, count, tensors: the values.
TestFile MakeShard(std::uint64_t no, std::uint64_t count,
                   std::uint64_t tensors_of_set, std::uint64_t alignment = 32) {
  TestFile f = TestFile().Header(3, 1, 4).Key("split.no", 2).Mark("no").U16(no);
  f.Key("split.count", 2).Mark("count").U16(count);
  f.Key("split.tensors.count", 5).Mark("tensors").U32(tensors_of_set);
  f.Alignment(alignment);
  return f.Tensor("t" + std::to_string(no), {8}, 0, 0)
      .Pad(alignment)
      .Fill(alignment);
}

struct Named {
  std::string name;
  TestFile file;
};

// "accept +policy", or "reject RULE in FILE at OFFSET".
std::string Judged(const std::vector<Named>& files, const Profile& profile) {
  std::deque<std::expected<File, Stop>> parsed;
  std::vector<Shard> shards;
  for (const Named& named : files) {
    parsed.push_back(Parse(named.file.input(), profile));
    shards.push_back({named.name, &parsed.back()});
  }
  const auto judged = JudgeSet(shards, profile);
  if (!judged) {
    const SetStop& s = judged.error();
    EXPECT_FALSE(s.stop.detail.empty());
    return std::string(ToString(s.stop.verdict)) + " " + IdOf(s.stop.rule) +
           " in " + std::to_string(s.file) + " at " +
           std::to_string(s.stop.offset);
  }
  std::string text = "accept";
  for (const RuleIndex rule : *judged) text += " +" + IdOf(rule);
  return text;
}

void Expect(const std::vector<Named>& files, const std::string& spec,
            const std::string& ggml) {
  EXPECT_EQ(Judged(files, SpecProfile()), spec);
  EXPECT_EQ(Judged(files, GgmlProfile()), ggml);
  EXPECT_EQ(Judged(files, CandleProfile()), "unsupported none in 0 at 0");
}

std::string At(const std::string& rule, std::size_t file, const TestFile& f,
               const std::string& mark) {
  return "reject " + rule + " in " + std::to_string(file) + " at " +
         std::to_string(f.At(mark));
}

const std::string k1 = "m-00001-of-00002.gguf";
const std::string k2 = "m-00002-of-00002.gguf";

TEST(ShardName, IsPrefixNumberAndCount) {
  const auto name = ParseShardName("/models/my-model-00002-of-00013.gguf");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->prefix, "my-model");
  EXPECT_EQ(name->number, 2u);
  EXPECT_EQ(name->count, 13u);
  EXPECT_EQ(ParseShardName("m-123456-of-123456.gguf")->number, 123456u);
  for (const char* other :
       {"m.gguf", "m-0001-of-0002.gguf", "m-00001-of-00002.bin",
        "m-00001-00002.gguf", "m00001-of-00002.gguf", "00001-of-00002.gguf",
        "m-00001-of-9999999999999999999.gguf", ""}) {
    EXPECT_FALSE(ParseShardName(other).has_value()) << other;
  }
}

TEST(Set, OfAllShardsIsAccepted) {
  Expect({{k1, MakeShard(0, 2, 2)}, {k2, MakeShard(1, 2, 2)}}, "accept",
         "accept");
  Expect({{"a", MakeShard(0, 2, 2)}, {"b", MakeShard(1, 2, 2)}}, "accept",
         "accept");
}

TEST(Set, OfOneIsComplete) {
  Expect({{"m-00001-of-00001.gguf", MakeShard(0, 1, 1)}}, "accept", "accept");
}

TEST(Set, CountsMustAgree) {
  const TestFile second = MakeShard(1, 3, 2);
  const std::string r = At("split.count.disagrees", 1, second, "count");
  Expect({{k1, MakeShard(0, 2, 2)}, {k2, second}}, r, r);
}

TEST(Set, CountZeroIsAPolicy) {
  Expect({{"m.gguf", MakeShard(0, 0, 1)}}, "accept +split.count.zero",
         "accept");
}

TEST(Set, KeysMustBeIntegers) {
  TestFile f = TestFile().Header(3, 0, 1).Key("split.count", 8).Mark("x");
  f.String("2");
  const std::string r = At("split.key.type", 0, f, "x");
  Expect({{"m.gguf", f}}, r, r);
  TestFile no = TestFile().Header(3, 0, 1).Key("split.no", 6).Mark("x").U32(0);
  const std::string r_no = At("split.key.type", 0, no, "x");
  Expect({{"m.gguf", no}}, r_no, r_no);
  // Of any width and sign.
  TestFile wide = TestFile().Header(3, 0, 2).Key("split.no", 11).U64(0);
  wide.Key("split.count", 1).U8(1);
  Expect({{"m.gguf", wide}}, "accept", "accept");
}

TEST(Set, NumbersMustBeBelowTheCount) {
  const TestFile second = MakeShard(2, 2, 2);
  const std::string r = At("split.no.range", 1, second, "no");
  Expect({{"a", MakeShard(0, 2, 2)}, {"b", second}}, r, r);
  TestFile negative = TestFile().Header(3, 0, 2).Key("split.no", 5).Mark("x");
  negative.U32(0xffffffff).Key("split.count", 5).U32(2);
  const std::string r_negative = At("split.no.range", 1, negative, "x");
  Expect({{"a", MakeShard(0, 2, 2)}, {"b", negative}}, r_negative, r_negative);
}

TEST(Set, NumbersMustFitTheNames) {
  const TestFile third = MakeShard(2, 3, 3);
  const std::string r = At("split.no.filename", 1, third, "no");
  Expect({{"m-00001-of-00003.gguf", MakeShard(0, 3, 3)},
          {"m-00002-of-00003.gguf", third},
          {"m-00003-of-00003.gguf", MakeShard(1, 3, 3)}},
         r, r);
}

TEST(Set, OpenedByAnotherShardIsAPolicy) {
  const TestFile second = MakeShard(1, 2, 2);
  Expect({{k2, second}, {k1, MakeShard(0, 2, 2)}}, "accept +split.no.first",
         At("split.no.first", 0, second, "no"));
}

TEST(Set, ShardsMustBeThereOnce) {
  const TestFile first = MakeShard(0, 2, 2);
  const std::string missing = At("split.set.missing", 0, first, "count");
  Expect({{k1, first}}, missing, missing);
  const std::string twice = At("split.set.missing", 1, first, "no");
  Expect({{"a", first}, {"b", first}}, twice, twice);
}

TEST(Set, TensorsMustAddUp) {
  for (const std::uint64_t wrong : {0ull, 3ull, 0xffffffffull}) {
    const TestFile second = MakeShard(1, 2, wrong);
    const std::string r =
        At("split.tensors_count.mismatch", 1, second, "tensors");
    Expect({{k1, MakeShard(0, 2, 2)}, {k2, second}}, r, r);
  }
}

TEST(Set, OfDifferentAlignmentsIsAPolicy) {
  Expect({{k1, MakeShard(0, 2, 2)}, {k2, MakeShard(1, 2, 2, 64)}},
         "accept +split.align.differs", "accept");
}

TEST(Set, IsRefusedForAFaultInALaterShard) {
  TestFile second = MakeShard(1, 2, 2);
  second.bytes.pop_back();
  const std::string r = At("data.tensor.past_eof", 1, second, "of");
  Expect({{k1, MakeShard(0, 2, 2)}, {k2, second}}, r, r);
}

}  // namespace
}  // namespace weightproof::gguf::test
