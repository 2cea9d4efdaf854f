#include "reference/gguf/test_case.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf::test {
namespace {

// general.alignment of this type; the value, then perhaps a tensor.
TestFile Stated(std::uint32_t type, std::uint64_t tensors = 0) {
  return TestFile().Header(3, tensors, 1).Key("general.alignment", type);
}

TestFile WithTensor(TestFile f, std::uint64_t alignment, std::uint64_t data) {
  return f.Tensor("t", {8}, 0, 0).Pad(alignment).Fill(data);
}

TestFile U32(std::uint64_t value) { return Stated(4).U32(value); }

std::vector<Case> Values() {
  TestFile honoured = WithTensor(Stated(4, 1).U32(64), 64, 64);
  return {
      {"align.value.default", OneTensor(), "AAA"},
      {"align.value.zero", U32(0), "RRR", "vv"},
      {"align.value.zero", WithTensor(Stated(4, 1).U32(0), 32, 32), "RRR",
       "vv"},
      // Candle takes a small integer as it stands, and 0 is none to divide by.
      Case("align.type.small_int", Stated(5).U32(0), "RRR", "vt")
          .Candle({'R', "align.value.zero", 24 + 29, {}}),
      {"align.value.pow2_below_8", U32(1), "RAA", "vv"},
      {"align.value.pow2_below_8", U32(2), "RAA", "vv"},
      {"align.value.pow2_below_8", WithTensor(Stated(4, 1).U32(4), 4, 32),
       "RAA", "vv"},
      {"align.value.not_multiple_of_8", U32(3), "RRA", "vv"},
      {"align.value.not_multiple_of_8", U32(7), "RRA", "vv"},
      {"align.value.not_multiple_of_8", U32(12), "RRA", "vv"},
      {"align.value.not_multiple_of_8", U32(0xffffffff), "RRA", "vv"},
      {"align.value.multiple_of_8", WithTensor(Stated(4, 1).U32(24), 24, 48),
       "ARA", "vv"},
      {"align.value.honoured", honoured, "AAA"},
      {"align.value.huge", U32(Pow2(31)), "AAA"},
      {"geometry.data_start.past_eof",
       Stated(4, 1).U32(Pow2(31)).Tensor("t", {8}, 0, 0).Fill(64), "RRR",
       "eof"},
  };
}

std::vector<Case> Types() {
  const auto small = [](std::uint32_t type, int width) {
    return Stated(type, 1).Int(64, width);
  };
  const TestFile negative = WithTensor(Stated(5, 1).U32(0xffffffe0), 32, 32);
  // candle uses 32 where the type is beyond it.
  const TestFile int64 = WithTensor(Stated(10, 1).U64(64), 32, 32);
  std::vector<Case> cases;
  const int widths[] = {1, 1, 2, 2, 0, 4};
  for (const std::uint32_t type : {0u, 1u, 2u, 3u, 5u}) {
    cases.push_back({"align.type.small_int",
                     WithTensor(small(type, widths[type]), 64, 64), "RRA",
                     "vt"});
  }
  cases.push_back({"align.type.small_int",
                   WithTensor(Stated(0, 1).U8(0x80), 128, 128), "RRA", "vt"});
  cases.push_back({"align.type.negative", negative, "RRA", "vt"});
  cases.push_back({"align.type.negative", Stated(1).U8(0x80), "RRA", "vt"});
  cases.push_back({"align.type.negative", Stated(3).U16(0xffff), "RRA", "vt"});
  cases.push_back({"align.type.int64", int64, "RRA", "vt"});
  cases.push_back({"align.type.int64", Stated(11).U64(64), "RRA", "vt"});
  cases.push_back(
      {"align.type.int64", Stated(11).U64(~std::uint64_t{0}), "RRA", "vt"});
  cases.push_back({"align.type.other", Stated(6).U32(0x42800000), "RRA", "vt"});
  cases.push_back({"align.type.other", Stated(12).U64(0), "RRA", "vt"});
  cases.push_back({"align.type.other", Stated(8).String("64"), "RRA", "vt"});
  cases.push_back({"align.type.other", Stated(7).U8(1), "RRA", "vt"});
  cases.push_back(
      {"align.type.other", Stated(9).Array(4, 1).U32(64), "RRA", "vt"});
  return cases;
}

// Of two alignments candle takes the last.
std::vector<Case> Twice() {
  TestFile f = TestFile().Header(3, 1, 2).Alignment(128).Alignment(32);
  f.Tensor("t", {8}, 0, 0).Pad(32).Fill(32);
  return {{"kv.key.duplicate", f, "RRA", "kl"}};
}

}  // namespace

std::vector<Case> AlignmentCases() {
  std::vector<Case> cases = Values();
  for (Case& c : Types()) cases.push_back(std::move(c));
  for (Case& c : Twice()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace weightproof::gguf::test
