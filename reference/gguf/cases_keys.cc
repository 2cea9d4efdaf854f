#include "reference/gguf/test_case.h"

namespace weightproof::gguf::test {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

TestFile H(std::uint64_t keys) { return TestFile().Header(3, 0, keys); }

TestFile OneKey(std::string_view key) { return H(1).Key(key, 0).U8(1); }

// The key's length field says what it likes.
TestFile KeyLength(std::uint64_t length, std::uint64_t bytes) {
  return H(1).Mark("kl").U64(length).Fill(bytes, 'a');
}

std::vector<Case> Lengths() {
  return {
      {"kv.key.length_wrap", KeyLength(kAllOnes, 5), "RRR", "kl"},
      {"kv.key.length_wrap", KeyLength(Pow2(63), 5), "RRR", "kl"},
      {"kv.key.past_eof", KeyLength(Pow2(63) - 1, 5), "RRR", "kl"},
      {"kv.key.past_eof", KeyLength(6, 5), "RRR", "kl"},
      {"kv.entry.truncated", KeyLength(5, 5), "RRR", "eof"},
      {"kv.entry.truncated", KeyLength(5, 8), "RRR", "eof"},
      {"kv.entry.truncated", H(2).Key("a", 8).String("x").Fill(5), "RRR",
       "eof"},
      {"kv.entry.truncated", H(2).Key("a", 8).String("xxxxxx").Fill(7), "RRR",
       "eof"},
      {"kv.key.empty", OneKey(""), "RRA", "kl"},
      {"kv.key.too_long", OneKey(std::string(65536, 'a')), "RAA", "kl"},
      {"header.kv_count.minimum_entry", OneKey(std::string(65535, 'a')), "AAA"},
      Case("kv.key.too_long", KeyLength(Pow2(30) + 1, 5), "RLL", "kl")
          .Ggml({'L', "limit.string.cap", 24, {}})
          .Candle({'L', "limit.string.cap", 24, {}})
          .Sparse(Pow2(31)),
  };
}

std::vector<Case> Texts() {
  return {
      {"kv.key.utf8_invalid", OneKey("a\xff"sv), "RAA", "kb", 1},
      {"kv.key.utf8_invalid", OneKey("ab\xe2\x96"sv), "RAA", "kb", 2},
      {"kv.key.utf8_invalid", OneKey("\xc0\x80"sv), "RAA", "kb"},
      {"kv.key.utf8_invalid", OneKey("a\0\xff"sv), "RAA", "kb", 2},
      {"kv.key.non_ascii", OneKey("a\xc3\xa9"sv), "RAA", "kb", 1},
      {"kv.key.nul_embedded", OneKey("a\0b"sv), "RAA", "kb", 1},
      {"kv.key.nul_embedded", OneKey("a\0\0"sv), "RAA", "kb", 1},
      {"kv.key.nul_trailing", OneKey("q\0"sv), "RAA", "kb", 1},
      {"kv.key.nul_trailing", OneKey("\0"sv), "RAA", "kb"},
      // Both profiles that accept it have two keys.
      {"kv.key.nul_trailing",
       H(2).Mark("x").Key("q\0"sv, 0).U8(1).Key("q", 0).U8(2), "RAA", "x", 9},
      {"kv.key.whitespace", OneKey("a b"), "RAA", "kb", 1},
      {"kv.key.whitespace", OneKey("a\tb"), "RAA", "kb", 1},
      {"kv.key.whitespace", OneKey("ab\x7f"), "RAA", "kb", 2},
      {"kv.key.whitespace", OneKey("A b"), "RAA", "kb", 1},
      {"kv.key.grammar", OneKey("Abc"), "PAA"},
      {"kv.key.grammar", OneKey("gpt-oss.block_count"), "PAA"},
      {"kv.key.grammar", OneKey("a..b"), "PAA"},
      {"kv.key.grammar", OneKey(".a"), "PAA"},
      {"kv.key.grammar", OneKey("a."), "PAA"},
      {"kv.key.grammar", H(2).Key("A", 0).U8(1).Key("B", 0).U8(1), "PAA"},
  };
}

std::vector<Case> Names() {
  const TestFile twice = H(2).Key("a.b", 4).U32(1).Key("a.b", 4).U32(2);
  const TestFile other_type =
      H(2).Key("a.b", 4).U32(1).Key("a.b", 8).String("x");
  const TestFile reserved = H(3).Key("version", 4)
                                .U32(7)
                                .Key("tensor_count", 10)
                                .U64(9)
                                .Key("kv_count", 10)
                                .U64(8);
  return {
      {"kv.key.duplicate", twice, "RRA", "kl"},
      {"kv.key.duplicate", other_type, "RRA", "kl"},
      // The repeated key is found before the next one's unknown type.
      Case(
          "kv.key.duplicate",
          H(3).Key("a", 0).U8(1).Mark("x").Key("a", 0).U8(1).Key("b", 99).U8(1),
          "RRR", "x")
          .Candle({'R', "kv.type.unknown", 24 + 14 + 14 + 9, {}}),
      {"kv.key.reserved_name", reserved, "AAA"},
      {"kv.key.proto", OneKey("__proto__"), "AAA"},
      {"kv.order.any",
       H(2).Key("llama.block_count", 10)
           .U64(1)
           .Key("general.architecture", 8)
           .String("llama"),
       "AAA"},
      {"kv.type.unknown", H(1).Key("k", 13).Fill(8), "RRR", "vt"},
      {"kv.type.unknown", H(1).Key("k", 0xffffffff).Fill(8), "RRR", "vt"},
  };
}

std::vector<Case> Required() {
  const auto arch = [](std::uint64_t tensors, std::uint64_t keys) {
    return TestFile()
        .Header(3, tensors, keys)
        .Key("general.architecture", 8)
        .String("llama");
  };
  const auto tensor = [](TestFile f, std::uint32_t type) {
    return f.Tensor("t", {32}, type, 0).Pad().Fill(128);
  };
  std::vector<Case> cases;
  cases.push_back(Case("kv.required.keys", OneKey("k"), "PAA").Required());
  cases.push_back(Case("kv.order.any", OneKey("k"), "AAA"));
  cases.push_back(Case("kv.order.any", arch(0, 1), "AAA").Required());
  cases.push_back(
      Case("kv.order.any", tensor(arch(1, 1), 0), "AAA").Required());
  cases.push_back(
      Case("kv.required.keys", tensor(arch(1, 1), 8), "PAA")
          .Spec({'A', "", 0, {"kv.required.keys", "data.tail.trailing_bytes"}})
          .Required());
  cases.push_back(
      Case("kv.order.any",
           tensor(arch(1, 2).Key("general.quantization_version", 4).U32(2), 8),
           "AAA")
          .Spec({'A', "", 0, {"data.tail.trailing_bytes"}})
          .Required());
  return cases;
}

}  // namespace

std::vector<Case> KeyCases() {
  std::vector<Case> cases = Lengths();
  for (Case& c : Texts()) cases.push_back(std::move(c));
  for (Case& c : Names()) cases.push_back(std::move(c));
  for (Case& c : Required()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace weightproof::gguf::test
