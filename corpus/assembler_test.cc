#include "corpus/assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weightproof::corpus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Hex(const Bytes& bytes) {
  const auto all = bytes.Materialize(1 << 20);
  if (!all) return all.error();
  std::string out;
  for (const std::uint8_t byte : *all) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

// The bytes of a recipe as hex, or "line:column: message".
std::string Asm(std::string_view text) {
  const auto got = Assemble(text);
  if (!got) {
    return std::to_string(got.error().line) + ":" +
           std::to_string(got.error().column) + ": " + got.error().message;
  }
  return Hex(got->bytes);
}

TEST(Assembler, IntegersOfEveryWidthAndOrder) {
  EXPECT_EQ(Asm("u8 255"), "ff");
  EXPECT_EQ(Asm("i8 -128"), "80");
  EXPECT_EQ(Asm("u16 0x1234"), "3412");
  EXPECT_EQ(Asm("u16be 0x1234"), "1234");
  EXPECT_EQ(Asm("i16 -2"), "feff");
  EXPECT_EQ(Asm("u32 1"), "01000000");
  EXPECT_EQ(Asm("u32be 1"), "00000001");
  EXPECT_EQ(Asm("i32be -1"), "ffffffff");
  EXPECT_EQ(Asm("u64 2^64-1"), "ffffffffffffffff");
  EXPECT_EQ(Asm("i64 -2^63"), "0000000000000080");
  EXPECT_EQ(Asm("endian big\nu32 1\nu16le 1"), "000000010100");
  EXPECT_EQ(Asm("u8 1, 2, 3\nu8 4; u8 5"), "0102030405");
}

TEST(Assembler, Expressions) {
  EXPECT_EQ(Asm("u64 2^40"), "0000000000010000");
  EXPECT_EQ(Asm("u8 2 + 3 * 4"), "0e");
  EXPECT_EQ(Asm("u8 (2 + 3) * 4 - 1"), "13");
  EXPECT_EQ(Asm("u8 10 - 4 - 3"), "03");
  EXPECT_EQ(Asm("u8 0xA_0 # comment"), "a0");
  EXPECT_EQ(Asm("u64 3 * (2^62 - 64)"), "40ffffffffffffbf");
}

TEST(Assembler, FloatsByValueAndByBits) {
  EXPECT_EQ(Asm("f32 1.5"), "0000c03f");
  EXPECT_EQ(Asm("f32be 1.5"), "3fc00000");
  EXPECT_EQ(Asm("f64 -2"), "00000000000000c0");
  EXPECT_EQ(Asm("f32 bits 0x7fc00001"), "0100c07f");
  EXPECT_EQ(Asm("f32 inf, -inf"), "0000807f000080ff");
  EXPECT_THAT(Asm("f32 bits 2^32"), HasSubstr("1:5: the bit pattern"));
  EXPECT_THAT(Asm("f32 apple"), HasSubstr("1:5: expected a floating"));
}

TEST(Assembler, BytesAndStrings) {
  EXPECT_EQ(Asm("hex 47 47 5546"), "47475546");
  EXPECT_EQ(Asm(R"(text "a\0\x7f\"\\\n")"), "61007f225c0a");
  EXPECT_EQ(Asm(R"(text "ab" * 2 + "c")"),
            "61626162"
            "63");
  EXPECT_EQ(Asm(R"(str "ab")"), "02000000000000006162");
  EXPECT_EQ(Asm(R"(str "ab" len 2^63)"), "00000000000000806162");
  EXPECT_EQ(Asm(R"(str "")"), "0000000000000000");
}

TEST(Assembler, FillsAndPadding) {
  EXPECT_EQ(Asm("fill 3 0xAA\nzeros 2"), "aaaaaa0000");
  EXPECT_EQ(Asm("u8 1\npad 4"), "01000000");
  EXPECT_EQ(Asm("u8 1\npad 4 0xFF\npad 4"), "01ffffff");
  EXPECT_EQ(Asm("u8 1\nupto 3 7"), "010707");
  EXPECT_EQ(Asm("alignment 8\nu8 1\ndata\nu8 2"), "010000000000000002");
  EXPECT_EQ(Asm("ramp 3\nramp 0"), "010203");
  EXPECT_EQ(Asm("ramp 60").substr(116), "3b01");
  EXPECT_EQ(Asm("u16 here, here, end"), "000002000600");
  EXPECT_EQ(Asm("repeat 2 { u8 1; repeat 2 { u8 2 } }\n"), "010202010202");
}

TEST(Assembler, LabelsReachForwardsAndBackwards) {
  EXPECT_EQ(Asm("u8 b - a\na: u8 a\nb:\nu8 end"), "010103");
  EXPECT_EQ(Asm("u64 data\ndata: u8 1"),
            "0800000000000000"
            "01");
  EXPECT_THAT(Asm("u8 nowhere"), HasSubstr("1:4: no label nowhere"));
  EXPECT_THAT(Asm("a: u8 1\na: u8 1"), HasSubstr("2:1: the label a is taken"));
  EXPECT_THAT(Asm("fill later 1\nlater: u8 1"),
              HasSubstr("not defined before"));
}

TEST(Assembler, GgufMacros) {
  EXPECT_EQ(Asm("gguf 3 1 2"),
            "47475546"
            "03000000"
            "0100000000000000"
            "0200000000000000");
  EXPECT_EQ(Asm("gguf 1 1 2"),
            "47475546"
            "01000000"
            "01000000"
            "02000000");
  EXPECT_EQ(Asm("endian big\ngguf 3 0 1"),
            "47475546"
            "00000003"
            "0000000000000000"
            "0000000000000001");
  EXPECT_EQ(Asm(R"(kv "k" u32 7)"),
            "0100000000000000"
            "6b"
            "04000000"
            "07000000");
  EXPECT_EQ(Asm(R"(kv "k" bool true)"),
            "0100000000000000"
            "6b"
            "07000000"
            "01");
  EXPECT_EQ(Asm(R"(kv "k" string "v")"),
            "0100000000000000"
            "6b"
            "08000000"
            "0100000000000000"
            "76");
  EXPECT_EQ(Asm(R"(kv "k" 13)"),
            "0100000000000000"
            "6b"
            "0d000000");
  EXPECT_EQ(Asm(R"(kv "k" array u16 [1, 2])"),
            "0100000000000000"
            "6b"
            "09000000"
            "02000000"
            "0200000000000000"
            "0100"
            "0200");
  EXPECT_EQ(Asm(R"(array u8 2^63)"),
            "00000000"
            "0000000000000080");
  EXPECT_EQ(Asm(R"(array u8 9 [1])"),
            "00000000"
            "0900000000000000"
            "01");
  EXPECT_EQ(Asm("array array 1\narray f32 [1.5]"),
            "09000000"
            "0100000000000000"
            "06000000"
            "0100000000000000"
            "0000c03f");
  EXPECT_EQ(Asm(R"(array string ["a", "b"])"),
            "08000000"
            "0200000000000000"
            "0100000000000000"
            "61"
            "0100000000000000"
            "62");
}

TEST(Assembler, TensorEntries) {
  EXPECT_EQ(Asm(R"(tensor "t" [8, 2] F16 64)"),
            "0100000000000000"
            "74"
            "02000000"
            "0800000000000000"
            "0200000000000000"
            "01000000"
            "4000000000000000");
  EXPECT_EQ(Asm(R"(tensor "t" [] 0xFFFFFFFF 0)"),
            "0100000000000000"
            "74"
            "00000000"
            "ffffffff"
            "0000000000000000");
  EXPECT_EQ(Asm(R"(tensor "t" [1] n_dims 2^32-1 F32 0)"),
            "0100000000000000"
            "74"
            "ffffffff"
            "0100000000000000"
            "00000000"
            "0000000000000000");
  EXPECT_EQ(Asm("gguf 1 1 0\ntensor \"t\" [8] F32 0").substr(32),
            "01000000"
            "74"
            "01000000"
            "08000000"
            "00000000"
            "0000000000000000");
}

TEST(Assembler, MacrosNameTheirFields) {
  const auto got = Assemble(R"(
gguf 3 1 1
a: kv "ab" array u8 [1, 2]
t: tensor "t" [8, 4] F32 0
data)");
  ASSERT_TRUE(got.has_value()) << got.error().message;
  const auto at = [&](const char* name) {
    return got->labels.at(name).position;
  };
  EXPECT_EQ(at("magic"), 0u);
  EXPECT_EQ(at("version"), 4u);
  EXPECT_EQ(at("tensor_count"), 8u);
  EXPECT_EQ(at("kv_count"), 16u);
  EXPECT_EQ(at("a"), 24u);
  EXPECT_EQ(at("a.key"), 24u);
  EXPECT_EQ(at("a.bytes"), 32u);
  EXPECT_EQ(at("a.type"), 34u);
  EXPECT_EQ(at("a.value"), 38u);
  EXPECT_EQ(at("a.elem"), 38u);
  EXPECT_EQ(at("a.len"), 42u);
  EXPECT_EQ(at("a.items"), 50u);
  EXPECT_EQ(at("t"), 52u);
  EXPECT_EQ(at("t.bytes"), 60u);
  EXPECT_EQ(at("t.n_dims"), 61u);
  EXPECT_EQ(at("t.dim0"), 65u);
  EXPECT_EQ(at("t.dim1"), 73u);
  EXPECT_EQ(at("t.type"), 81u);
  EXPECT_EQ(at("t.offset"), 85u);
  EXPECT_EQ(at("data"), 96u);
  EXPECT_EQ(at("end"), 96u);
}

TEST(Assembler, TheHeaderIsDeclared) {
  const auto got = Assemble(R"(
# Two files about alignment.
recipe gguf.align.value.zero-1
rule gguf.align.value.zero
verdict reject at a.value
twin gguf.align.value.default-1
also gguf.kv.key.empty
also gguf.header.version.one
profile ggml reject gguf.kv.key.empty at a.key
profile candle accept
operation gguf.get
request {"key": "k"}
notes first half
notes second half # kept
gguf 3 0 1
a: kv "k" u32 0
)");
  ASSERT_TRUE(got.has_value()) << got.error().message;
  const Recipe& recipe = got->recipe;
  EXPECT_EQ(recipe.id, "gguf.align.value.zero-1");
  EXPECT_EQ(recipe.rule, "gguf.align.value.zero");
  EXPECT_EQ(recipe.verdict, "reject");
  EXPECT_EQ(recipe.at, (Place{0, 37}));
  EXPECT_EQ(recipe.twin, "gguf.align.value.default-1");
  EXPECT_THAT(recipe.also,
              ElementsAre("gguf.kv.key.empty", "gguf.header.version.one"));
  ASSERT_EQ(recipe.profiles.size(), 2u);
  EXPECT_EQ(recipe.profiles[0].profile, "ggml");
  EXPECT_EQ(recipe.profiles[0].rule, "gguf.kv.key.empty");
  EXPECT_EQ(recipe.profiles[0].at, (Place{0, 24}));
  EXPECT_EQ(recipe.profiles[1].verdict, "accept");
  EXPECT_EQ(recipe.operation, "gguf.get");
  EXPECT_EQ(recipe.request, R"({"key": "k"})");
  EXPECT_EQ(recipe.notes, "first half second half # kept");
  EXPECT_EQ(recipe.line, 3);
}

TEST(Assembler, SetsOfFiles) {
  const auto got = Assemble(R"(
verdict reject at no.value
file "m-00001-of-00002.gguf"
gguf 3 0 0
file "m-00002-of-00002.gguf"
gguf 3 0 1
no: kv "split.no" u16 7
)");
  ASSERT_TRUE(got.has_value()) << got.error().message;
  ASSERT_EQ(got->files.size(), 2u);
  EXPECT_EQ(got->files[0].name, "m-00001-of-00002.gguf");
  EXPECT_EQ(got->files[0].bytes.Size(), 24u);
  EXPECT_EQ(got->files[1].bytes.Size(), 46u);
  EXPECT_EQ(got->recipe.at, (Place{1, 44}));
  EXPECT_EQ(got->bytes.Size(), 0u);
}

TEST(Assembler, CutsAtAnyByte) {
  EXPECT_EQ(Asm("u64 1\ncut 3"), "010000");
  EXPECT_EQ(Asm("u8 1\nfill 100 2\nu8 3\ncut 4"), "01020202");
  EXPECT_EQ(Asm("hole 2^40\nu8 1\ncut 2"), "0000");
  EXPECT_EQ(Asm("u8 1\ncut 0"), "");
  EXPECT_EQ(Asm("u8 end\ncut 1"), "01");
  EXPECT_THAT(Asm("u8 1\ncut 2"), HasSubstr("2:5: cut to 2"));
  EXPECT_THAT(Asm("u8 1\ncut 1\nu8 2"), HasSubstr("3:1: nothing may follow"));
}

TEST(Assembler, GiantsStayChunks) {
  const auto got = Assemble(R"(
hole 2^40
mark: repeat 2^50 { u32 9; u64 1 }
fill 2^61 0xAA
text "x" * 2^55
)");
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->bytes.chunks.size(), 4u);
  EXPECT_EQ(got->labels.at("mark").position, std::uint64_t{1} << 40);
  EXPECT_EQ(got->labels.at("end").position,
            (std::uint64_t{1} << 40) + (std::uint64_t{12} << 50) +
                (std::uint64_t{1} << 61) + (std::uint64_t{1} << 55));
  EXPECT_THAT(Asm("hole 2^62\nhole 2^62"), HasSubstr("2^63 bytes or more"));
  EXPECT_THAT(Asm("repeat 2^60 { fill 64 1 }"), HasSubstr("2^63"));
  EXPECT_THAT(Asm("repeat 1 { fill 2^40 1 }"), HasSubstr("1 MiB"));
}

TEST(Assembler, SideFilesAreReadWholeOrInPart) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "sideXXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/a.bin") << "abcdef";
  const AssembleOptions options{folder};
  const auto got =
      Assemble("side \"a.bin\"\nside \"a.bin\" from 2 size 3", options);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(Hex(got->bytes), "616263646566636465");
  const auto missing = Assemble("side \"b.bin\"", options);
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("b.bin cannot be read"));
  const auto over = Assemble("side \"a.bin\" from 2 size 5", options);
  ASSERT_FALSE(over.has_value());
  EXPECT_THAT(over.error().message, HasSubstr("only 6 bytes"));
  std::filesystem::remove_all(folder);
}

TEST(Assembler, VaryMakesOneRecipePerRow) {
  const auto got = AssembleAll(R"(
recipe cut-{n}
vary n = 0..2 | 9
u8 {n}

recipe type-{name}
vary name id text = F32 0 "a b"
  | F16 1 "\"|"
tensor {text} [{id}] {name} 0
)");
  // A bar inside quotes ends a cell, too: tables are split at bars first.
  ASSERT_FALSE(got.has_value());
  const auto good = AssembleAll(R"(
recipe cut-{n}
vary n = 0..2 | 9
u8 {n}

recipe type-{name}
vary name id text = F32 0 "a b"
  | F16 1 "c"
u8 {id}
text {text}
)");
  ASSERT_TRUE(good.has_value()) << good.error().message;
  ASSERT_EQ(good->size(), 6u);
  EXPECT_EQ((*good)[3].recipe.id, "cut-9");
  EXPECT_EQ(Hex((*good)[3].bytes), "09");
  EXPECT_EQ((*good)[4].recipe.id, "type-F32");
  EXPECT_EQ(Hex((*good)[4].bytes), "00612062");
  EXPECT_EQ(Hex((*good)[5].bytes), "0163");
}

TEST(Assembler, ErrorsNameLineAndColumn) {
  EXPECT_THAT(Asm("u8 256"), HasSubstr("1:4: 256 does not fit in u8"));
  EXPECT_THAT(Asm("u8 1\n  i8 128"), HasSubstr("2:6: 128 does not fit in i8"));
  EXPECT_THAT(Asm("u8 -1"), HasSubstr("-1 does not fit in u8"));
  EXPECT_THAT(Asm("u64 2^64"), HasSubstr("18446744073709551616 does not fit"));
  EXPECT_THAT(Asm("u9 1"), HasSubstr("1:1: unknown statement u9"));
  EXPECT_THAT(Asm("u8 1 2"), HasSubstr("1:6: unexpected text"));
  EXPECT_THAT(Asm("u8"), HasSubstr("1:3: expected a number"));
  EXPECT_THAT(Asm("u8 (1"), HasSubstr("expected )"));
  EXPECT_THAT(Asm("hex 4"), HasSubstr("pairs of hex digits"));
  EXPECT_THAT(Asm("hex zz"), HasSubstr("1:5: expected pairs"));
  EXPECT_THAT(Asm("text \"abc"), HasSubstr("1:6: this string is not closed"));
  EXPECT_THAT(Asm("text \"\\q\""), HasSubstr("unknown escape"));
  EXPECT_THAT(Asm("u8 99999999999999999999"), HasSubstr("more than 64 bits"));
  EXPECT_THAT(Asm("u8 2^200"), HasSubstr("exponent"));
  EXPECT_THAT(Asm("u8 2^100 * 2^100"), HasSubstr("more than 100 bits"));
  EXPECT_THAT(Asm("u8 0x"), HasSubstr("0x without digits"));
  EXPECT_THAT(Asm("u8 12ab"), HasSubstr("unexpected 'a'"));
  EXPECT_THAT(Asm("repeat 2 { u8 1"), HasSubstr("1:8: this repeat is not"));
  EXPECT_THAT(Asm("repeat 2 { a: u8 1 }"), HasSubstr("no labels inside"));
  EXPECT_THAT(Asm("repeat 2 { pad 4 }"), HasSubstr("no pad inside"));
  EXPECT_THAT(Asm("u8 1\nrule gguf.x"), HasSubstr("2:1: rule belongs before"));
  EXPECT_THAT(Asm("rule a b"), HasSubstr("exactly one word"));
  EXPECT_THAT(Asm("rule a\nrule b"), HasSubstr("2:1: rule is given twice"));
  EXPECT_THAT(Asm("verdict maybe"), HasSubstr("a verdict is"));
  EXPECT_THAT(Asm("verdict reject at nope\nu8 1"), HasSubstr("1:19: no label"));
  EXPECT_THAT(Asm("kv \"k\" 13 5"), HasSubstr("a type outside 0..12"));
  EXPECT_THAT(Asm("array array [1]"), HasSubstr("statements of their own"));
  EXPECT_THAT(Asm("tensor \"t\" 8 F32 0"), HasSubstr("expected ["));
  EXPECT_THAT(Asm("endian middle"), HasSubstr("big or little"));
  EXPECT_THAT(Asm("pad 0"), HasSubstr("no meaning"));
  EXPECT_THAT(Asm("}"), HasSubstr("1:1: expected a statement"));
  EXPECT_THAT(Asm("recipe a\nu8 1\nrecipe b\nu8 2"), HasSubstr("exactly one"));
}

TEST(Assembler, ErrorsInVariedRecipesPointIntoTheSource) {
  const auto got = AssembleAll("\nrecipe a-{n}\nvary n = 255 | 256\n u8 {n}\n");
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().line, 4);
  EXPECT_EQ(got.error().column, 5);
  EXPECT_THAT(got.error().message, HasSubstr("(with n = 256)"));

  const auto cells = AssembleAll("recipe a\nvary a b = 1 2 | 3\n");
  ASSERT_FALSE(cells.has_value());
  EXPECT_EQ(cells.error().line, 2);
  EXPECT_THAT(cells.error().message, HasSubstr("1 cells"));
}

TEST(Assembler, NeverFailsOtherThanByAMessage) {
  // Prefixes and one-byte changes of a recipe that uses everything.
  const std::string text = R"(recipe a-{n}
vary n = 1 | 2
rule r
verdict reject at x.value + 1
profile ggml accept
file "f"
gguf 3 {n} 2^3
x: kv "k" * 3 + "\0" len 9 array string ["a" * 2]
y: tensor "t" [1, (2+3)] n_dims 4 Q8_0 end - here
repeat 2 { u8 1; f32 -1.5e3 }
data; hex 00 ff
cut 5
)";
  for (std::size_t i = 0; i <= text.size(); ++i) {
    (void)AssembleAll(text.substr(0, i));
    for (const char c : std::string("({[\"\\#:;^*-0z\n\0", 15)) {
      std::string changed = text;
      if (i < text.size()) changed[i] = c;
      const auto got = AssembleAll(changed);
      if (!got) {
        EXPECT_GE(got.error().line, 1);
        EXPECT_GE(got.error().column, 1);
        EXPECT_FALSE(got.error().message.empty());
      }
    }
  }
  (void)Assemble("u8 " + std::string(100000, '('));
  (void)Assemble("u8 " + std::string(100000, '-'));
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += "repeat 2 {";
  EXPECT_THAT(Asm(nested), HasSubstr("too many repeats"));
}

}  // namespace
}  // namespace weightproof::corpus
