// Values, not verdicts: what an accepted file says.
#include "reference/gguf/value.h"

#include <gtest/gtest.h>

#include <string>

#include "reference/gguf/rich_file.h"
#include "reference/gguf/test_case.h"

namespace weightproof::gguf::test {
namespace {

using namespace std::string_view_literals;

// The description without its first line.
std::string Read(const TestFile& f, const Profile& profile = SpecProfile()) {
  const auto file = Parse(f.input(), profile);
  if (!file) return file.error().detail;
  const std::string text = Describe(*file);
  return text.substr(text.find('\n') + 1);
}

TestFile K(std::uint64_t keys) { return TestFile().Header(3, 0, keys); }

TEST(Values, OfEveryTypeKeepTheirBits) {
  EXPECT_EQ(Read(RichFile()),
            "general.architecture 8 'llama'\n"
            "k.u8 0 1*0:81\n"
            "k.i8 1 1*1:82\n"
            "k.u16 2 1*2:2381\n"
            "k.i16 3 1*3:2382\n"
            "k.u32 4 1*4:67452381\n"
            "k.i32 5 1*5:78563482\n"
            "k.f32 6 1*6:0000c03f\n"
            "k.bool 7 1*7:01\n"
            "k.u64 10 1*10:efcdab8967452381\n"
            "k.i64 11 1*11:efcdab8967452382\n"
            "k.f64 12 1*12:010000000000f83f\n"
            "k.tokens 9 [8/3 '' '\xe2\x96\x81' '</s>' ]\n"
            "k.words 9 [3/3 3*3:01000200fdff ]\n"
            "k.nested 9 [9/2 [4/2 2*4:0100000002000000 ] [8/1 'x' ] ]\n"
            "k.empty 9 [12/0 ]\n"
            "general.alignment 4 1*4:40000000\n"
            "blk.0.w [ 32 2 ] type 8 at 0 size 68\n"
            "none [ 4 0 ] type 0 at 128 size 0\n"
            "norm [ 3 ] type 0 at 128 size 12\n");
}

TEST(Values, AreTheSameInEveryVersionAndByteOrder) {
  const std::string three = Read(RichFile(3));
  EXPECT_EQ(Read(RichFile(1)), three);
  EXPECT_EQ(Read(RichFile(2)), three);
  EXPECT_EQ(Read(RichFile(3, true)), three);
  const TestFile twin = RichFile(3, true);
  const auto big = Parse(twin.input(), SpecProfile());
  ASSERT_TRUE(big.has_value());
  EXPECT_TRUE(big->big_endian);
  EXPECT_EQ(big->version, 3u);
  EXPECT_EQ(big->alignment, 64u);
  const TestFile second = RichFile(2);
  const auto two = Parse(second.input(), SpecProfile());
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->version, 2u);
  EXPECT_FALSE(two->big_endian);
}

TEST(Values, OfALongBigEndianArrayComeInWholeElements) {
  TestFile f = TestFile(true).Header(3, 0, 1).Key("k", 9).Array(10, 1000);
  for (std::uint64_t i = 0; i < 1000; ++i) f.U64(i);
  struct Counter : ValueVisitor {
    std::uint64_t next = 0;
    void Scalars(std::uint32_t, std::span<const std::uint8_t> bytes,
                 std::uint64_t count) override {
      ASSERT_EQ(bytes.size(), 8 * count);
      for (std::uint64_t i = 0; i < count; ++i) {
        EXPECT_EQ(bytes[8 * i] + 256 * bytes[8 * i + 1],
                  static_cast<int>(next++));
      }
    }
    void String(std::span<const std::uint8_t>) override {}
    void ArrayBegin(std::uint32_t, std::uint64_t) override {}
    void ArrayEnd() override {}
  } counter;
  const auto file = Parse(f.input(), SpecProfile());
  ASSERT_TRUE(file.has_value());
  VisitValue(*file, file->kv[0], counter);
  EXPECT_EQ(counter.next, 1000u);
}

TEST(Values, OfStringsAreNeitherTrimmedNorCut) {
  EXPECT_EQ(Read(K(3).Key("a", 8)
                     .String("")
                     .Key("b", 8)
                     .String(" a ")
                     .Key("c", 8)
                     .String(" ")),
            "a 8 ''\nb 8 ' a '\nc 8 ' '\n");
  EXPECT_EQ(
      Read(K(2).Key("a", 8).String("abc\0"sv).Key("b", 8).String("x\0y"sv)),
      "a 8 'abc\0'\nb 8 'x\0y'\n"sv);
}

TEST(Values, OfKeysThatDifferAfterANulAreTwo) {
  const TestFile f = K(2).Key("ab\0"sv, 0).U8(1).Key("ab", 0).U8(2);
  for (const Profile* profile : {&GgmlProfile(), &CandleProfile()}) {
    EXPECT_EQ(Read(f, *profile), "ab\0 0 1*0:01\nab 0 1*0:02\n"sv);
  }
}

TEST(Values, OfReservedNamesLeaveTheHeaderAlone) {
  const TestFile f =
      K(2).Key("version", 4).U32(9).Key("__proto__", 8).String("x");
  const auto file = Parse(f.input(), SpecProfile());
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->version, 3u);
  EXPECT_EQ(file->kv.size(), 2u);
}

TEST(Values, OfNanAndBoolsKeepTheirBits) {
  TestFile f = K(3).Key("n", 6).U32(0x7fc00001).Key("b", 9).Array(7, 2);
  f.U8(0).U8(1).Key("z", 0).U8(1);
  EXPECT_EQ(Read(f), "n 6 1*6:0100c07f\nb 9 [7/2 2*7:0001 ]\nz 0 1*0:01\n");
}

TEST(Values, OfArraysOfArraysKeepTheirShape) {
  TestFile f = K(2).Key("k", 9).Array(9, 2).Array(4, 2).U32(1).U32(2);
  f.Array(4, 1).U32(3).Key("z", 0).U8(1);
  EXPECT_EQ(Read(f),
            "k 9 [9/2 [4/2 2*4:0100000002000000 ] [4/1 1*4:03000000 ] ]\n"
            "z 0 1*0:01\n");
}

TEST(Values, OfRepeatedKeysAreAllKept) {
  const TestFile f = K(2).Key("a", 4).U32(1).Key("a", 4).U32(2);
  EXPECT_EQ(Read(f, CandleProfile()), "a 4 1*4:01000000\na 4 1*4:02000000\n");
  const auto file = Parse(f.input(), CandleProfile());
  ASSERT_TRUE(file.has_value());
  const std::uint8_t key[] = {'a'};
  EXPECT_EQ(file->Find(key), 1u);
  EXPECT_EQ(file->Find(key, false), 0u);
  const std::uint8_t other[] = {'b'};
  EXPECT_FALSE(file->Find(other).has_value());
}

TEST(Geometry, OfTheDataStart) {
  const auto start = [](const TestFile& f, const Profile& profile) {
    const auto file = Parse(f.input(), profile);
    return file ? file->data_start : 0;
  };
  TestFile honoured = TestFile().Header(3, 1, 1).Alignment(64);
  honoured.Tensor("t", {8}, 0, 0).Pad(64).Fill(64);
  EXPECT_EQ(start(honoured, SpecProfile()), 128u);
  EXPECT_EQ(
      start(TestFile().Header(3, 1, 0).Tensor("tttttttt", {8}, 0, 0).Fill(32),
            SpecProfile()),
      64u);
  EXPECT_EQ(start(K(0), SpecProfile()), 32u);
  EXPECT_EQ(start(K(1).Alignment(Pow2(31)), SpecProfile()), Pow2(31));
  for (int name = 1; name < 30; ++name) {
    TestFile f = TestFile().Header(3, 1, 1).Alignment(24);
    f.Tensor(std::string(static_cast<std::size_t>(name), 'n'), {12}, 0, 0);
    f.Pad(24).Fill(48);
    EXPECT_EQ(start(f, SpecProfile()), f.At("data"));
    EXPECT_EQ(f.At("data") % 24, 0u);
  }
}

TEST(Geometry, OfAnAlignmentThatCandleCannotUse) {
  TestFile f = TestFile().Header(3, 0, 1).Key("general.alignment", 10);
  f.U64(4096);
  const auto file = Parse(f.input(), CandleProfile());
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->alignment, 32u);
  Profile other = CandleProfile();
  other.fallback_alignment = 16;
  EXPECT_EQ(Parse(f.input(), other)->alignment, 16u);
}

TEST(Geometry, OfTwoAlignmentsFollowsTheProfile) {
  const TestFile f = K(2).Alignment(128).Alignment(64);
  EXPECT_EQ(Parse(f.input(), CandleProfile())->alignment, 64u);
  Profile first = CandleProfile();
  first.last_duplicate_wins = false;
  EXPECT_EQ(Parse(f.input(), first)->alignment, 128u);
}

TEST(Geometry, OfDimsAndScalars) {
  TestFile f = TestFile().Header(3, 2, 0);
  f.Tensor("scalar", {}, 0, 0).Tensor("large", {Pow2(33), 0}, 0, 32);
  f.Pad().Fill(32);
  EXPECT_EQ(Read(f),
            "scalar [ ] type 0 at 0 size 4\n"
            "large [ 8589934592 0 ] type 0 at 32 size 0\n");
}

// Under a profile that refuses it, the grammar rule names a byte.
TEST(Keys, GrammarPointsAtTheByte) {
  Profile strict = SpecProfile();
  strict.verdict[rules::kKvKeyGrammar - rules::kFirst] = Cell::kReject;
  const auto at = [&strict](std::string_view key) {
    const TestFile f = K(1).Key(key, 0).U8(1);
    const auto file = Parse(f.input(), strict);
    return file ? -1 : static_cast<int>(file.error().offset - f.At("kb"));
  };
  EXPECT_EQ(at("a.b_c.9"), -1);
  EXPECT_EQ(at("abC"), 2);
  EXPECT_EQ(at("a-b"), 1);
  EXPECT_EQ(at(".a"), 0);
  EXPECT_EQ(at("a..b"), 2);
  EXPECT_EQ(at("ab."), 2);
  EXPECT_EQ(at("ab.."), 3);
}

}  // namespace
}  // namespace weightproof::gguf::test
