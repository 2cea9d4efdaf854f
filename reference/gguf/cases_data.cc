#include "reference/gguf/test_case.h"

namespace weightproof::gguf::test {
namespace {

TestFile H(std::uint64_t tensors) { return TestFile().Header(3, tensors, 0); }

TestFile T(std::uint64_t elements, std::uint64_t offset = 0) {
  return H(1).Tensor("t", {elements}, 0, offset).Pad();
}

TestFile WithByte(TestFile f, std::uint64_t at) {
  f.bytes.at(at) = 0xaa;
  return f;
}

std::vector<Case> Present() {
  const Expected gap = {
      'R', "geometry.layout.first_nonzero", T(8, Pow2(20)).At("of"), {}};
  std::vector<Case> cases;
  cases.push_back({"data.tensor.past_eof", T(8).Fill(31), "RRR", "of"});
  cases.push_back({"data.tensor.past_eof", T(8), "RRR", "of"});
  cases.push_back(
      Case("data.tensor.past_eof", T(8, Pow2(20)).Fill(32), "RRR", "of")
          .Ggml(gap));
  cases.push_back({"data.tensor.past_eof",
                   H(1).Tensor("t", {1024, Pow2(40)}, 0, 0).Pad().Fill(32),
                   "RRR", "of"});
  cases.push_back({"data.tensor.bytes", T(8).Fill(32, 0x11), "AAA"});
  const TestFile sparse = H(1).Tensor("t", {Pow2(31)}, 24, 0).Pad();
  cases.push_back(
      Case("io.offset.64bit", sparse, "AAA")
          .Candle({'U', "tensor.type.extended", sparse.At("ty"), {}})
          .Sparse(sparse.size() + Pow2(31)));
  return cases;
}

std::vector<Case> Padding() {
  const TestFile four = T(4).Fill(32);
  const TestFile two =
      H(2).Tensor("a", {4}, 0, 0).Tensor("b", {4}, 0, 32).Pad().Fill(64);
  const TestFile gap =
      H(2).Tensor("a", {4}, 0, 0).Tensor("b", {4}, 0, 64).Pad().Fill(96);
  const Expected ggml_gap = {'R', "geometry.layout.gap", gap.At("of"), {}};
  const TestFile no_tensors = H(0).Fill(8);
  return {
      {"data.padding.header_nonzero",
       WithByte(T(8).Fill(32), T(8).At("data") - 1), "RAA", "data",
       ~std::uint64_t{0}},
      {"data.padding.header_nonzero", WithByte(T(8).Fill(32), T(8).At("pad")),
       "RAA", "pad"},
      {"data.padding.header_nonzero",
       WithByte(H(0).Fill(7).Mark("x").Fill(1), 31), "RAA", "x"},
      {"data.tail.padding_present", no_tensors, "AAA"},
      {"data.padding.between_nonzero", WithByte(four, four.At("data") + 16),
       "PAA"},
      {"data.padding.between_nonzero", WithByte(two, two.At("data") + 31),
       "PAA"},
      // The rest of a gap is nobody's padding.
      Case("geometry.layout.gap", WithByte(gap, gap.At("data") + 40), "ARA")
          .Ggml(ggml_gap),
      Case("data.padding.between_nonzero", WithByte(gap, gap.At("data") + 20),
           "PRA")
          .Ggml(ggml_gap),
  };
}

std::vector<Case> Tail() {
  return {
      {"data.tail.padding_missing", T(4).Fill(16), "AAA"},
      {"data.tail.padding_missing", T(4).Fill(20), "AAA"},
      {"data.tail.padding_present", T(4).Fill(32), "AAA"},
      {"data.tail.trailing_bytes", T(4).Fill(72), "PAA"},
      {"data.tail.trailing_bytes", T(4).Fill(33), "PAA"},
      {"data.tail.trailing_bytes", H(0).Fill(9), "PAA"},
      {"data.tail.trailing_bytes", T(0).Fill(1), "PAA"},
      Case("data.padding.between_nonzero", T(4).Fill(16).Fill(40, 0xbb), "PAA")
          .Spec({'A',
                 "",
                 0,
                 {"data.padding.between_nonzero", "data.tail.trailing_bytes"}}),
  };
}

}  // namespace

std::vector<Case> DataCases() {
  std::vector<Case> cases = Present();
  for (Case& c : Padding()) cases.push_back(std::move(c));
  for (Case& c : Tail()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace weightproof::gguf::test
