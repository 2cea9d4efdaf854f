// Cases: keys, values, arrays.
#include "impls/cpu/gguf_view_testing.h"

namespace weightproof::impls::testing {
namespace {

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
constexpr std::string_view kNul("\0", 1);

std::string One(std::string_view kv) { return H(3, 0, 1) + std::string(kv); }
std::string Two(std::string_view a, std::string_view b) {
  return H(3, 0, 2) + std::string(a) + std::string(b);
}
// One u8 under a key; the key's bytes begin at 32.
std::string Keyed(std::string_view key) { return One(Kv(key, 0, "\7")); }
// The value of key k: value at 37; of an array element type 37, length 41,
// first element 49.
std::string K(std::uint32_t type, std::string_view payload) {
  return One(Kv("k", type, payload));
}
std::string Nested(std::uint64_t levels) {
  return K(9, Times(levels - 1, A(9, 1)) + A(0, 0));
}
std::string Text(std::string_view a, std::string_view b = {}) {
  return std::string(a) + std::string(kNul) + std::string(b);
}

std::vector<Case> Keys() {
  const Also depth{"array.nested.depth2", 37};
  return {
      {"kv.entry.truncated", "RRR", 37, H(3, 0, 1) + U64(1) + "k" + U32(4)},
      {"kv.entry.truncated", "RRR", 40,
       H(3, 0, 1) + U64(1) + "k" + U32(4) + "\1\1\1"},
      {"kv.entry.truncated", "RRR", 44, K(8, U64(1).substr(0, 7))},
      {"kv.entry.truncated", "RRR", 40, K(9, "\4" + Z(2))},
      {"kv.entry.truncated", "RRR", 48, K(9, U32(4) + Z(7))},
      {"kv.entry.truncated", "RRR", 48, K(9, U32(99) + Z(7))},
      {"kv.entry.truncated", "RRR", 37, H(3, 0, 1) + S("kkkkk")},
      {"kv.key.length_wrap", "RRR", 24, H(3, 0, 1) + U64(~0ull) + "aaaaa"},
      {"kv.key.past_eof", "RRR", 24, H(3, 0, 1) + U64(6) + "aaaaa"},
      {"kv.key.past_eof", "RRR", 24, H(3, 0, 1) + U64(kTop - 1) + "aaaaa"},
      {"kv.key.empty", "RRA", 24, Keyed("")},
      {"kv.key.too_long", "RAA", 24, Keyed(Times(65536, "a"))},
      {"kv.key.distinct_after_nul", "AAA", 0, Keyed(Times(65535, "a"))},
      {"kv.key.utf8_invalid", "RAA", 33, Keyed("a\xff")},
      {"kv.key.utf8_invalid", "RAA", 34, Keyed("\xc3\xa9\xc3")},
      {"kv.key.utf8_invalid", "RAA", 34, Keyed("a \xed\xa0\x80")},
      {"kv.key.non_ascii", "RAA", 33, Keyed("a\xc3\xa9")},
      {"kv.key.nul_embedded", "RAA", 33, Keyed(Text("a", "b"))},
      {"kv.key.nul_embedded", "RAA", 33, Keyed(Text(Text("a")))},
      {"kv.key.nul_embedded", "RAA", 34, Keyed(Text("\xc3\xa9", "b"))},
      {"kv.key.nul_trailing", "RAA", 33, Keyed(Text("q"))},
      {"kv.key.whitespace", "RAA", 33, Keyed("a b")},
      {"kv.key.whitespace", "RAA", 33, Keyed("a\x7f")},
      {"kv.key.whitespace", "RAA", 32, Keyed("\na")},
      {"kv.key.grammar", "PAA", 32, Keyed("Aa")},
      {"kv.key.grammar", "PAA", 33, Keyed("a-b")},
      {"kv.key.grammar", "PAA", 34, Keyed("a..b")},
      {"kv.key.grammar", "PAA", 33, Keyed("a.")},
      {"kv.key.grammar", "PAA", 32, Keyed(".a")},
      {"kv.key.duplicate", "RRA", 43,
       Two(Kv("a.b", 4, U32(1)), Kv("a.b", 4, U32(2)))},
      {"kv.key.duplicate", "RRA", 43,
       Two(Kv("a.b", 4, U32(1)), Kv("a.b", 8, S("2")))},
      {"kv.key.reserved_name", "AAA", 0,
       Two(Kv("version", 4, U32(9)), Kv("tensor_count", 10, U64(9)))},
      {"kv.key.proto", "AAA", 0, Keyed("__proto__")},
      {"kv.order.any", "AAA", 0,
       Two(Kv("llama.block_count", 10, U64(1)),
           Kv("general.architecture", 8, S("llama")))},
      {"limit.string.cap",
       "LLL",
       24,
       H(3, 0, 1) + U64((1u << 30) + 1),
       {{0, {"kv.key.too_long", 24}}},
       1ull << 40},
      {"limit.string.cap", "LLL", 37, K(8, U64(1ull << 31)), {}, 1ull << 40},
      {"limit.string.cap",
       "LLL",
       49,
       K(9, A(8, 1) + U64(1ull << 31)),
       {},
       1ull << 40},
      {"limit.array.cap",
       "LLL",
       41,
       K(9, A(0, (1ull << 30) + 1)),
       {},
       1ull << 40},
      {"array.nested.depth_limit",
       "LRL",
       37 + 12 * 63,
       Nested(66),
       {{1, depth}}},
      {"array.nested.depth_limit",
       "LRL",
       37 + 12 * 63,
       Nested(3001),
       {{1, depth}}},
      {"array.nested.depth_limit",
       "LRL",
       37 + 12 * 63,
       Nested(1000001),
       {{1, depth}}},
      {"array.nested.within_limit", "ARA", 49, Nested(64), {{1, depth}}},
      {"array.nested.within_limit", "ARA", 49, Nested(3), {{1, depth}}},
  };
}

std::vector<Case> Values() {
  return {
      {"kv.type.unknown", "RRR", 33, K(13, Z(8))},
      {"kv.type.unknown", "RRR", 33, K(0xffffffff, Z(8))},
      {"kv.bool.range", "RAR", 37, K(7, "\2")},
      {"kv.string.length_wrap", "RRR", 37, K(8, U64(kTop))},
      {"kv.string.length_wrap", "RRR", 37, K(8, U64(~0ull) + "aaaaa")},
      {"kv.string.past_eof", "RRR", 37, K(8, U64(1ull << 32))},
      {"kv.string.past_eof", "RRR", 37, K(8, U64(4194304) + Z(5))},
      {"kv.string.past_eof", "RRR", 37, K(8, U64(100) + "abc")},
      {"kv.string.past_eof", "RRR", 58, K(9, A(8, 2) + S("a") + U64(2) + "b")},
      {"kv.string.empty", "AAA", 0, Two(Kv("k", 8, S("")), Kv("z", 0, "\1"))},
      {"kv.string.empty", "AAA", 0, K(9, A(8, 2) + S("") + S("x"))},
      {"kv.string.utf8_invalid", "RAA", 45, K(8, S("\xff\xfe"))},
      {"kv.string.utf8_invalid", "RAA", 46, K(8, S("a\xc0\xaf"))},
      {"kv.string.utf8_invalid", "RAA", 67,
       K(9, A(8, 2) + S("a") + S("b\xe2\x96"))},
      {"kv.string.multibyte", "AAA", 0, K(8, S("\xe2\x96\x81"))},
      {"kv.string.nul_embedded", "AAA", 0, K(8, S(Text("a", "b")))},
      {"kv.string.nul_trailing", "AAA", 0, K(8, S(Text("abc")))},
      {"kv.string.whitespace", "AAA", 0, K(8, S(" a "))},
      {"kv.scalar.nan", "AAA", 0, K(6, U32(0x7fc00000))},
      {"kv.tokens.duplicate", "AAA", 0,
       One(Kv("tokenizer.ggml.tokens", 9, A(8, 2) + S("a") + S("a")))},
      {"array.elem.unknown", "RRR", 37,
       Two(Kv("k", 9, A(200, 4) + Z(4)), Kv("z", 0, "\1"))},
      {"array.elem.unknown", "RRR", 37, K(9, A(13, ~0ull))},
      {"array.elem.unknown_empty", "RRR", 37, K(9, A(77, 0))},
      {"array.scalar.exact", "AAA", 0, K(9, A(4, 1) + U32(7))},
      {"array.empty.typed", "AAA", 0, K(9, A(4, 0))},
      {"array.bool.range", "RAR", 51, K(9, A(7, 3) + Text("") + "\1\xff")},
      {"array.nested.depth2", "ARA", 37, K(9, A(9, 0))},
      {"array.nested.depth2", "ARA", 37,
       Two(Kv("k", 9, A(9, 1) + A(0, 1) + "\7"), Kv("z", 0, "\1"))},
      {"array.length.wrap", "RRR", 41, K(9, A(4, (1ull << 62) + 1) + Z(16))},
      {"array.length.wrap", "RRR", 41, K(9, A(10, (1ull << 61) + 1) + Z(16))},
      {"array.length.wrap", "RRR", 41, K(9, A(8, 1ull << 61) + Z(16))},
      {"array.length.wrap",
       "RRR",
       41,
       K(9, A(9, ~0ull / 12 + 1) + Z(16)),
       {{1, {"array.nested.depth2", 37}}}},
      {"array.length.past_eof", "RRR", 41,
       K(9, A(8, (1ull << 60) + 1) + Z(32))},
      {"array.length.past_eof", "RRR", 41, K(9, A(0, kTop))},
      {"array.length.past_eof", "RRR", 41, K(9, A(4, 1000) + Z(16))},
      {"array.length.past_eof", "RRR", 41, K(9, A(0, 1ull << 60))},
      {"array.length.past_eof", "RRR", 41, K(9, A(8, 1ull << 32))},
      {"array.length.past_eof",
       "RRR",
       41,
       K(9, A(9, 2) + Z(23)),
       {{1, {"array.nested.depth2", 37}}}},
      {"kv.access.typed", "AAA", 0,
       Two(Kv("general.architecture", 8, S("llama")),
           Kv("llama.attention.head_count", 9, A(4, 2) + U32(8) + U32(8)))},
      {"io.chunk.straddle", "AAA", 0,
       Two(Kv("a", 8, S(Times(2000000, "x"))), Kv("z", 4, U32(7)))},
      {"limit.time.linear", "AAA", 0, K(9, A(0, 1000000) + Z(1000000))},
  };
}

}  // namespace

std::vector<Case> ValueCases() {
  std::vector<Case> cases = Keys();
  for (Case& more : Values()) cases.push_back(std::move(more));
  return cases;
}

}  // namespace weightproof::impls::testing
