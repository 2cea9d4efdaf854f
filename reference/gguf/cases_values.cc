#include "reference/gguf/test_case.h"

namespace weightproof::gguf::test {
namespace {

using namespace std::string_view_literals;

TestFile K(std::uint32_t type, std::uint64_t keys = 1) {
  return TestFile().Header(3, 0, keys).Key("k", type);
}

TestFile StringLength(std::uint64_t length, std::uint64_t bytes) {
  return K(8).Mark("sl").U64(length).Fill(bytes, 'a');
}

// Levels of arrays of one array each, around an array of one u8.
TestFile Nested(int levels) {
  TestFile f = K(9);
  for (int i = 1; i < levels; ++i) f.U32(9).U64(1);
  return f.U32(0).U64(1).U8(7);
}

std::vector<Case> Scalars() {
  TestFile all = TestFile().Header(3, 0, 12);
  for (const std::uint32_t type : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 10u, 11u, 12u}) {
    const int widths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    all.Key("k" + std::to_string(type), type).Fill(widths[type], 0xfe);
  }
  all.Key("f", 7).U8(0).Key("t", 7).U8(1);
  return {
      {"kv.scalar.exact", all, "AAA"},
      {"kv.scalar.nan", K(6).U32(0x7fc00000), "AAA"},
      {"kv.bool.range", K(7).U8(2), "RAR", "vv"},
      {"kv.entry.truncated", K(4).U16(0), "RRR", "eof"},
      {"kv.entry.truncated", K(12).Fill(7), "RRR", "eof"},
      {"kv.entry.truncated", K(8).Fill(7), "RRR", "eof"},
      {"kv.entry.truncated", K(9).Fill(3), "RRR", "eof"},
      {"kv.entry.truncated", K(9).Fill(11), "RRR", "eof"},
  };
}

std::vector<Case> Strings() {
  const TestFile aligned_tokens = TestFile()
                                      .Header(3, 0, 1)
                                      .Key("tokenizer.ggml.tokens", 9)
                                      .Array(8, 2)
                                      .String("a")
                                      .String("a");
  TestFile tokens = TestFile()
                        .Header(3, 0, 2)
                        .Key("tokenizer.ggml.tokens", 9)
                        .Array(8, 100000);
  for (int i = 0; i < 100000; ++i) tokens.String(std::string(90, 'x'));
  tokens.Key("general.architecture", 8).String("llama");
  const TestFile long_string = TestFile()
                                   .Header(3, 0, 2)
                                   .Key("a", 8)
                                   .String(std::string(2000000, 'x'))
                                   .Key("z", 4)
                                   .U32(7);
  return {
      {"kv.string.length_wrap", StringLength(~std::uint64_t{0}, 5), "RRR",
       "sl"},
      {"kv.string.length_wrap", StringLength(Pow2(63), 0), "RRR", "sl"},
      {"kv.string.past_eof", StringLength(Pow2(32), 0), "RRR", "sl"},
      {"kv.string.past_eof", StringLength(4194304, 5), "RRR", "sl"},
      {"kv.string.past_eof", StringLength(100, 3), "RRR", "sl"},
      {"kv.string.empty", K(8, 2).String("").Key("z", 0).U8(1), "AAA"},
      {"kv.string.utf8_invalid", K(8).String("\xff\xfe"), "RAA", "sb"},
      {"kv.string.utf8_invalid", K(8).String("a\xed\xa0\x80"), "RAA", "sb", 1},
      {"kv.string.utf8_invalid",
       K(9).Array(8, 3).String("a").Mark("x").String("b\x80").String("c"),
       "RAA", "x", 9},
      {"kv.string.multibyte", K(8).String("\xe2\x96\x81"), "AAA"},
      {"kv.string.nul_embedded", K(8).String("a\0b"sv), "AAA"},
      {"kv.string.nul_trailing", K(8).String("abc\0"sv), "AAA"},
      {"kv.string.whitespace", K(8).String(" a "), "AAA"},
      Case("limit.string.cap", K(8).Mark("sl").U64(Pow2(31)), "LLL", "sl")
          .Sparse(Pow2(32)),
      Case("limit.string.cap", K(8).Mark("sl").U64(Pow2(30) + 1), "LLL", "sl")
          .Sparse(Pow2(31)),
      {"kv.tokens.duplicate", aligned_tokens, "AAA"},
      {"io.chunk.straddle", long_string, "AAA"},
      {"io.chunk.straddle", tokens, "AAA"},
  };
}

std::vector<Case> Arrays() {
  return {
      {"array.elem.unknown", K(9, 2).Array(200, 4).Fill(4).Key("z", 0).U8(1),
       "RRR", "ae"},
      {"array.elem.unknown", K(9).Array(13, 1).Fill(4), "RRR", "ae"},
      {"array.elem.unknown_empty", K(9).Array(77, 0), "RRR", "ae"},
      {"kv.entry.truncated", K(9).U32(77).Fill(3), "RRR", "eof"},
      {"array.scalar.exact", K(9).Array(4, 1).U32(7), "AAA"},
      {"array.empty.typed", K(9).Array(4, 0), "AAA"},
      {"array.bool.range", K(9).Array(7, 3).U8(0).U8(1).U8(255), "RAR", "el",
       2},
      {"array.length.wrap", K(9).Array(8, Pow2(61)).Fill(32), "RRR", "al"},
      {"array.length.wrap", K(9).Array(4, Pow2(62) + 1).Fill(16), "RRR", "al"},
      {"array.length.wrap", K(9).Array(10, Pow2(61) + 1), "RRR", "al"},
      {"array.length.past_eof", K(9).Array(8, Pow2(60) + 1).Fill(32), "RRR",
       "al"},
      {"array.length.past_eof", K(9).Array(0, Pow2(63)), "RRR", "al"},
      {"array.length.past_eof", K(9).Array(4, 1000).Fill(16), "RRR", "al"},
      {"array.length.past_eof", K(9).Array(0, Pow2(60)), "RRR", "al"},
      {"array.length.past_eof", K(9).Array(8, Pow2(32)), "RRR", "al"},
      {"array.length.past_eof", K(9).Array(8, 2).Fill(15), "RRR", "al"},
      // The elements fit by their least size, but the second has no length.
      {"kv.entry.truncated", K(9).Array(8, 2).String("123456789").Fill(7),
       "RRR", "eof"},
      {"kv.string.past_eof", K(9).Array(8, 1).Mark("sl").U64(9).Fill(8), "RRR",
       "sl"},
      {"array.scalar.exact", K(9).Array(0, 1000000).Fill(1000000), "AAA"},
      Case("limit.array.cap", K(9).Array(0, Pow2(30) + 1), "LLL", "al")
          .Sparse(Pow2(31)),
      Case("limit.array.cap", K(9).Array(8, Pow2(30) + 1), "LLL", "al")
          .Sparse(Pow2(34)),
  };
}

std::vector<Case> NestedArrays() {
  const TestFile depth2 =
      K(9, 2).Array(9, 1).Mark("x").U32(0).U64(1).U8(7).Key("z", 0).U8(1);
  const Expected ggml2 = {'R', "array.nested.depth2", 24 + 13, {}};
  const std::uint64_t level64 = 63 * 12;
  TestFile deep = K(9);
  for (int i = 0; i < 3000; ++i) deep.U32(9).U64(1);
  deep.U32(0).U64(0);
  std::vector<Case> cases;
  cases.push_back(Case("array.nested.depth2", depth2, "ARA").Ggml(ggml2));
  cases.push_back(
      Case("array.nested.depth2", K(9).Array(9, 0), "ARA").Ggml(ggml2));
  // The nesting is judged before the length is read.
  cases.push_back(
      Case("kv.entry.truncated", K(9).U32(9), "RRR", "eof").Ggml(ggml2));
  cases.push_back(
      Case("array.nested.within_limit", Nested(3), "ARA").Ggml(ggml2));
  cases.push_back(
      Case("array.nested.within_limit", Nested(64), "ARA").Ggml(ggml2));
  for (const int levels : {65, 66}) {
    cases.push_back(
        Case("array.nested.depth_limit", Nested(levels), "LRL", "vv", level64)
            .Ggml(ggml2));
  }
  cases.push_back(
      Case("array.nested.depth_limit", deep, "LRL", "vv", level64).Ggml(ggml2));
  TestFile million = K(9);
  for (int i = 0; i < 1000000; ++i) million.U32(9).U64(1);
  cases.push_back(
      Case("array.nested.depth_limit", million, "LRL", "vv", level64)
          .Ggml(ggml2));
  cases.push_back(
      Case("array.length.past_eof", K(9).Array(9, 2).Fill(23), "RRR", "al")
          .Ggml(ggml2));
  return cases;
}

}  // namespace

std::vector<Case> ValueCases() {
  std::vector<Case> cases = Scalars();
  for (Case& c : Strings()) cases.push_back(std::move(c));
  for (Case& c : Arrays()) cases.push_back(std::move(c));
  for (Case& c : NestedArrays()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace weightproof::gguf::test
