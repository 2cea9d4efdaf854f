#include "reference/gguf/test_case.h"

namespace weightproof::gguf::test {
namespace {

TestFile H(std::uint64_t tensors) { return TestFile().Header(3, tensors, 0); }

// F32 tensors of this many elements at these offsets, and enough data. Marks
// of0, of1, ...: their offset fields.
struct Placed {
  std::uint64_t elements, offset;
};
TestFile Place(const std::vector<Placed>& tensors, std::uint64_t data) {
  TestFile f = H(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    f.Tensor(std::string(1, static_cast<char>('a' + i)), {tensors[i].elements},
             0, tensors[i].offset);
    f.marks["of" + std::to_string(i)] = f.At("of");
  }
  return f.Pad().Fill(data);
}

std::vector<Case> DataStart() {
  const TestFile no_data = H(1).Tensor("t", {8}, 0, 0);
  TestFile embedded = TestFile().Fill(32, 0xee);
  embedded.Header(3, 1, 0).Tensor("t", {8}, 0, 0).Pad().Fill(32);
  return {
      {"geometry.data_start.aligned",
       H(1).Tensor("tttttttt", {8}, 0, 0).Fill(32), "AAA"},
      {"geometry.data_start.no_tensors", H(0), "AAA"},
      {"geometry.data_start.past_eof", no_data, "RRR", "eof"},
      {"geometry.data_start.past_eof", H(1).Tensor("t", {0}, 0, 0), "RRR",
       "eof"},
      Case("geometry.data_start.base", embedded, "PAA").Base(32),
  };
}

std::vector<Case> Arithmetic() {
  const auto four = [](std::uint64_t last) {
    TestFile f = H(4);
    for (std::uint64_t i = 0; i < 4; ++i) {
      f.Tensor("t" + std::to_string(i), {i < 3 ? Pow2(62) : last}, 24,
               i * Pow2(62));
      if (i == 0) f.marks["ty0"] = f.At("ty");
    }
    return f.Pad();
  };
  const Expected candle = {'U', "tensor.type.extended", four(0).At("ty0"), {}};
  std::vector<Case> cases;
  cases.push_back({"geometry.offset.unaligned",
                   H(1).Tensor("t", {8}, 0, 4).Pad().Fill(36), "RRA", "of"});
  cases.push_back(
      Case("geometry.size_sum.overflow", four(Pow2(62)), "RRR", "of")
          .Candle(candle));
  cases.push_back({"geometry.size_sum.overflow",
                   Place({{Pow2(60), 0},
                          {Pow2(60), Pow2(62)},
                          {Pow2(60), Pow2(63)},
                          {Pow2(60), Pow2(62) + Pow2(63)}},
                         0),
                   "RRR", "of3"});
  cases.push_back(
      Case("geometry.tensor_end.overflow", four(Pow2(62) - 64), "RRR", "of")
          .Candle(candle));
  cases.push_back(
      {"geometry.tensor_end.overflow",
       H(1).Tensor("a", {8}, 0, ~std::uint64_t{0} - 31).Pad().Fill(32), "RRR",
       "of"});
  // Even a tensor without bytes has an address.
  cases.push_back({"geometry.tensor_end.overflow",
                   H(1).Tensor("a", {0}, 0, ~std::uint64_t{0} - 31).Pad(),
                   "RRR", "of"});
  return cases;
}

std::vector<Case> Overlaps() {
  const std::string order = "geometry.layout.out_of_order";
  const auto ggml = [&order](const TestFile& f, const std::string& mark) {
    return Expected{'R', order, f.At(mark), {}};
  };
  // a and c, then a and d: the first pair in offset order.
  const TestFile two_pairs = Place({{32, 0}, {8, 128}, {8, 32}, {8, 64}}, 160);
  const TestFile alias_then_partial = Place({{16, 0}, {16, 0}, {16, 32}}, 96);
  std::vector<Case> cases;
  cases.push_back({"geometry.layout.partial_overlap",
                   Place({{16, 0}, {8, 32}}, 64), "RRA", "of1"});
  cases.push_back({"geometry.layout.partial_overlap",
                   Place({{8, 32}, {16, 0}}, 64), "RRA", "of1"});
  cases.push_back({"geometry.layout.partial_overlap", two_pairs, "RRA", "of2"});
  cases.push_back(
      {"geometry.layout.alias", Place({{8, 0}, {8, 0}}, 32), "PRA", "of1"});
  cases.push_back({"geometry.layout.partial_overlap",
                   Place({{16, 0}, {8, 0}}, 64), "RRA", "of1"});
  cases.push_back(
      Case("geometry.layout.partial_overlap", alias_then_partial, "RRA", "of2")
          .Ggml({'R',
                 "geometry.layout.alias",
                 alias_then_partial.At("of1"),
                 {}}));
  // Half-open ranges: neighbours share nothing.
  cases.push_back(
      {"geometry.layout.empty_tensor", Place({{8, 0}, {8, 32}}, 64), "AAA"});
  cases.push_back(
      {"geometry.layout.empty_tensor", Place({{0, 0}, {8, 0}}, 32), "AAA"});
  cases.push_back(
      {"geometry.layout.empty_tensor", Place({{8, 0}, {0, 32}}, 32), "AAA"});
  cases.push_back(
      Case("geometry.layout.empty_tensor", Place({{16, 0}, {0, 32}}, 64), "ARA")
          .Ggml(ggml(Place({{16, 0}, {0, 32}}, 64), "of1")));
  return cases;
}

std::vector<Case> Layout() {
  const TestFile far_empty = Place({{8, 0}, {0, Pow2(40)}}, 32);
  const TestFile gap_before_order = Place({{8, 0}, {8, 64}, {8, 32}}, 96);
  return {
      {"geometry.layout.out_of_order", Place({{8, 32}, {8, 0}}, 64), "ARA",
       "of1"},
      {"geometry.layout.out_of_order", gap_before_order, "ARA", "of2"},
      {"geometry.layout.first_nonzero", Place({{8, 32}}, 64), "ARA", "of0"},
      {"geometry.layout.first_nonzero", Place({{8, 32}, {8, 128}}, 160), "ARA",
       "of0"},
      {"geometry.layout.gap", Place({{8, 0}, {8, 64}}, 96), "ARA", "of1"},
      Case("geometry.layout.empty_tensor", far_empty, "ARA")
          .Ggml({'R', "geometry.layout.gap", far_empty.At("of1"), {}}),
  };
}

}  // namespace

std::vector<Case> GeometryCases() {
  std::vector<Case> cases = DataStart();
  for (Case& c : Arithmetic()) cases.push_back(std::move(c));
  for (Case& c : Overlaps()) cases.push_back(std::move(c));
  for (Case& c : Layout()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace weightproof::gguf::test
