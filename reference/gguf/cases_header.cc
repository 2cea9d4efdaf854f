#include "reference/gguf/test_case.h"

namespace weightproof::gguf::test {
namespace {

constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

TestFile H(std::uint64_t version, std::uint64_t tensors, std::uint64_t keys) {
  return TestFile().Header(version, tensors, keys);
}

TestFile Start(std::string_view bytes) { return TestFile().Raw(bytes); }

std::vector<Case> MagicAndVersion() {
  const TestFile reversed = TestFile().Header(3, 0, 0, "FUGG");
  const TestFile reversed_be = TestFile(true).Header(3, 0, 0, "FUGG");
  const Expected cut = {'R', "header.version.truncated", 4, {}};
  return {
      {"header.magic.truncated", Start(""), "RRR", "eof"},
      {"header.magic.truncated", Start("G"), "RRR", "eof"},
      {"header.magic.truncated", Start("GGU"), "RRR", "eof"},
      {"header.magic.truncated", Start("xy"), "RRR", "eof"},
      {"header.magic.wrong", TestFile().Header(3, 0, 0, "gguf"), "RRR"},
      {"header.magic.wrong", TestFile().Header(3, 0, 0, "GGUg"), "RRR"},
      {"header.magic.wrong", Start("PK\3\4"), "RRR"},
      {"header.magic.reversed", reversed, "RRA"},
      Case("header.magic.reversed", Start("FUGG"), "RRR").Candle(cut),
      {"header.magic.reversed_be", reversed_be, "RRR"},
      {"header.magic.reversed_be", TestFile(true).Header(1, 0, 0, "FUGG"),
       "RRR"},
      {"header.magic.reversed_be", TestFile(true).Header(2, 0, 0, "FUGG"),
       "RRR"},
      {"header.version.truncated", Start("GGUF"), "RRR", "eof"},
      {"header.version.truncated", Start(std::string("GGUF\3\0\0", 7)), "RRR",
       "eof"},
      {"header.version.zero", H(0, 0, 0), "RRR", "version"},
      {"header.version.one", H(1, 0, 0), "PUA", "version"},
      {"header.version.two", H(2, 0, 0), "AAA"},
      {"header.version.big_endian", TestFile(true).Header(3, 0, 0), "AUU",
       "version"},
      {"header.version.future", H(4, 0, 0), "UUU", "version"},
      {"header.version.future", H(65535, 0, 0), "UUU", "version"},
      {"header.version.garbage", H(65536, 0, 0), "RRR", "version"},
      {"header.version.garbage", H(0x00010003, 0, 0), "RRR", "version"},
      {"header.version.garbage", TestFile(true).Header(2, 0, 0), "RRR",
       "version"},
  };
}

std::vector<Case> Counts() {
  TestFile cut = H(3, 0, 0);
  cut.bytes.pop_back();
  const std::uint64_t wraps_times_24 = 0x0AAAAAAAAAAAAAAB;
  return {
      {"header.counts.truncated", cut, "RRR", "eof"},
      {"header.counts.truncated", TestFile().Raw("GGUF").U32(3), "RRR", "eof"},
      {"header.counts.truncated", TestFile().Raw("GGUF").U32(3).U64(Pow2(63)),
       "RRR", "eof"},
      {"header.tensor_count.sign_bit", H(3, kAllOnes, 0), "RRR", "tc"},
      {"header.tensor_count.sign_bit", H(3, Pow2(63), kAllOnes), "RRR", "tc"},
      {"header.kv_count.sign_bit", H(3, 0, kAllOnes), "RRR", "kc"},
      {"header.kv_count.sign_bit", H(3, Pow2(62), Pow2(63)), "RRR", "kc"},
      {"header.tensor_count.exceeds_file", H(3, Pow2(62), 0), "RRR", "tc"},
      {"header.tensor_count.exceeds_file", H(3, 1, 0).Fill(23), "RRR", "tc"},
      {"header.tensor_count.exceeds_file", H(3, 1, 9).Fill(23), "RRR", "tc"},
      {"header.kv_count.exceeds_file", H(3, 0, wraps_times_24), "RRR", "kc"},
      {"header.kv_count.exceeds_file", H(3, 0, Pow2(32)), "RRR", "kc"},
      {"header.kv_count.exceeds_file", H(3, 0, 1).Fill(12), "RRR", "kc"},
      {"header.counts.exceed_file", H(3, 1, 1).Fill(36), "RRR", "kc"},
      {"header.kv_count.minimum_entry", H(3, 0, 1).Key("a", 0).U8(7), "AAA"},
      {"header.file.minimal", H(3, 0, 0), "AAA"},
      Case("limit.counts.cap", H(3, Pow2(30) + 1, 0), "LLL", "tc")
          .Sparse(Pow2(40)),
      Case("limit.counts.cap", H(3, 0, Pow2(30) + 1), "LLL", "kc")
          .Sparse(Pow2(40)),
      Case("header.kv_count.exceeds_file", H(3, 0, Pow2(30) + 1), "RRR", "kc")
          .Sparse(Pow2(33)),
  };
}

// Version 1: fields of 32 bits; under spec the version is a policy too.
std::vector<Case> VersionOne() {
  const std::vector<std::string> one = {"header.version.one"};
  const Expected unsupported = {'U', "header.version.one", 4, {}};
  const TestFile empty_key = H(1, 0, 1).Mark("kl").U32(0).U32(0).U8(1);
  std::vector<Case> cases;
  cases.push_back(
      Case("kv.key.empty", empty_key, "RUA", "kl").Ggml(unsupported));
  cases.push_back(
      Case("header.kv_count.exceeds_file", H(1, 0, 1).Fill(8), "RRR", "kc")
          .Ggml(unsupported));
  cases.push_back(
      Case("header.tensor_count.exceeds_file", H(1, 1, 0).Fill(19), "RRR", "tc")
          .Ggml(unsupported));
  cases.push_back(
      Case("header.counts.exceed_file", H(1, 1, 1).Fill(28), "RRR", "kc")
          .Ggml(unsupported));
  cases.push_back(Case("header.counts.truncated",
                       TestFile().Raw("GGUF").U32(1).U32(0).Fill(3), "RRR",
                       "eof")
                      .Ggml(unsupported));
  const TestFile whole = H(1, 1, 2)
                             .Key("k", 9)
                             .Array(8, 2)
                             .String("a")
                             .String("bc")
                             .Key("n", 9)
                             .Array(9, 1)
                             .Array(4, 1)
                             .U32(7)
                             .Tensor("t", {8}, 0, 0)
                             .Pad()
                             .Fill(32);
  cases.push_back(
      Case("header.version.one", whole, "PUA", "tc").Ggml(unsupported));
  TestFile cut = whole;
  cut.bytes.resize(cut.At("ty") + 2);
  cases.push_back(
      Case("tensor.entry.truncated", cut, "RRR", "eof").Ggml(unsupported));
  return cases;
}

}  // namespace

std::vector<Case> HeaderCases() {
  std::vector<Case> cases = MagicAndVersion();
  for (Case& c : Counts()) cases.push_back(std::move(c));
  for (Case& c : VersionOne()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace weightproof::gguf::test
