#include "reference/gguf/test_case.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf::test {
namespace {

using namespace std::string_view_literals;

TestFile H(std::uint64_t tensors) { return TestFile().Header(3, tensors, 0); }

// One tensor named t at offset 0; what follows is padded and filled.
TestFile T(const std::vector<std::uint64_t>& dims, std::uint32_t type,
           std::uint64_t data = 32) {
  return H(1).Tensor("t", dims, type, 0).Pad().Fill(data);
}

TestFile Named(std::string_view name) {
  return H(1).Tensor(name, {8}, 0, 0).Pad().Fill(32);
}

TestFile TwoNames(std::string_view a, std::string_view b) {
  return H(2).Tensor(a, {8}, 0, 0).Tensor(b, {8}, 0, 32).Pad().Fill(64);
}

std::vector<Case> Names() {
  const std::string nul = "tensor.name.nul";
  TestFile cut_dims = H(1).Tensor("tttt", {8, 8}, 0, 0);
  cut_dims.bytes.resize(cut_dims.At("d1") + 3);
  TestFile cut_offset = H(1).Tensor("tttt", {8}, 0, 0);
  cut_offset.bytes.resize(cut_offset.At("of") + 7);
  return {
      {"tensor.entry.truncated", cut_dims, "RRR", "eof"},
      {"tensor.entry.truncated", cut_offset, "RRR", "eof"},
      {"tensor.entry.truncated", H(2).Tensor("tttttttttttt", {8}, 0, 0).Fill(4),
       "RRR", "eof"},
      {"tensor.name.past_eof", H(1).Mark("nl").U64(~std::uint64_t{0}).Fill(16),
       "RRR", "nl"},
      {"tensor.name.past_eof", H(1).Mark("nl").U64(17).Fill(16), "RRR", "nl"},
      {"tensor.name.empty", Named(""), "PAA"},
      {"tensor.name.length_63", Named(std::string(63, 'n')), "AAA"},
      {"tensor.name.length_64", Named(std::string(64, 'n')), "ARA", "nl"},
      {"tensor.name.too_long", Named(std::string(65, 'n')), "RRA", "nl"},
      {"tensor.name.too_long", Named(std::string(70000, 'n')), "RRA", "nl"},
      {"tensor.name.utf8_invalid", Named("n\xff"), "RAA", "nb", 1},
      {"tensor.name.length_63", Named("\xc3\xa9"), "AAA"},
      {"tensor.name.nul", Named("n\0m"sv), "PAA"},
      {"tensor.name.nul", Named("n\0"sv), "PAA"},
      Case("tensor.name.distinct_after_nul", TwoNames("t\0x"sv, "t\0y"sv),
           "PRA", "nl")
          .Spec({'A', "", 0, {nul, "tensor.name.distinct_after_nul"}}),
      Case("tensor.name.distinct_after_nul", TwoNames("t\0x"sv, "t"), "PRA",
           "nl")
          .Spec({'A', "", 0, {nul, "tensor.name.distinct_after_nul"}}),
      Case("tensor.name.distinct_after_nul", TwoNames("t", "t\0"sv), "PRA",
           "nl")
          .Spec({'A', "", 0, {nul, "tensor.name.distinct_after_nul"}}),
      Case("tensor.name.nul", TwoNames("ta\0"sv, "t\0"sv), "PAA"),
      {"tensor.name.duplicate", TwoNames("t", "t"), "RRA", "nl"},
      {"tensor.name.duplicate", TwoNames("t\0x"sv, "t\0x"sv), "RRA", "nl"},
      Case("tensor.name.too_long", H(1).Mark("nl").U64(Pow2(30) + 1).Fill(16),
           "RRL", "nl")
          .Candle({'L', "limit.string.cap", 24, {}})
          .Sparse(Pow2(31)),
  };
}

std::vector<Case> Dims() {
  TestFile many = T({1, 1, 1, 1, 8}, 0);
  TestFile all_ones = T({8}, 0);
  for (std::uint64_t i = 0; i < 4; ++i) {
    all_ones.bytes[all_ones.At("nd") + i] = 0xff;
  }
  const std::uint64_t big = Pow2(63);
  return {
      {"tensor.n_dims.zero", T({}, 0), "AAR", "nd"},
      {"tensor.n_dims.too_many", many, "RRR", "nd"},
      {"tensor.n_dims.too_many", all_ones, "RRR", "nd"},
      {"tensor.dim.zero", T({4, 0}, 0, 0), "AAA"},
      {"tensor.dim.sign_bit", T({big}, 0), "RRR", "d0"},
      {"tensor.dim.sign_bit", T({~std::uint64_t{0}}, 0), "RRR", "d0"},
      {"tensor.dim.sign_bit", T({0, big}, 0), "RRR", "d1"},
      {"tensor.dim.sign_bit", T({Pow2(40), Pow2(40), big}, 0), "RRR", "d2"},
      {"tensor.dim.above_2p32", T({Pow2(33), 0}, 0, 0), "AAA"},
      // 0 elements, whatever the others say.
      {"tensor.dim.zero", T({Pow2(62), Pow2(62), 0}, 0, 0), "AAA"},
      {"tensor.elements.overflow", T({Pow2(32), Pow2(32)}, 0), "RRR", "d1"},
      {"tensor.elements.overflow", T({Pow2(61) + 1, 8}, 0), "RRR", "d1"},
      Case("tensor.elements.overflow", T({Pow2(63) - 1, 2}, 24), "RRR", "d1"),
      {"tensor.elements.overflow", T({Pow2(62), 2}, 0), "RRR", "d1"},
      {"tensor.elements.overflow",
       T({4194305, 4194305, 211106198978564}, 0, 16), "RRR", "d2"},
  };
}

std::vector<Case> TypeIds() {
  std::vector<Case> cases;
  for (const std::uint32_t id : {4, 5, 31, 32, 33, 36, 37, 38}) {
    cases.push_back({"tensor.type.withdrawn", T({32}, id), "RRR", "ty"});
  }
  for (const std::uint32_t id : {Pow2(31), Pow2(32) - 1}) {
    cases.push_back({"tensor.type.sign_bit", T({8}, id), "RRR", "ty"});
  }
  for (const std::uint32_t id : {43u, 100u, 142u, 144u, 0x7fffffffu}) {
    cases.push_back({"tensor.type.unknown", T({32}, id), "UUU", "ty"});
  }
  return cases;
}

// One block of every type: the size decides where the trailing bytes start.
std::vector<Case> TypeSizes() {
  struct Row {
    std::uint32_t id;
    std::uint64_t elements, bytes;
  };
  const auto rows = [](const std::string& rule, std::string_view sgc,
                       const std::vector<Row>& table) {
    std::vector<Case> cases;
    for (const Row& row : table) {
      cases.push_back({rule, T({row.elements}, row.id, row.bytes), sgc, "ty"});
    }
    return cases;
  };
  std::vector<Case> all = rows("tensor.type.common", "AAA",
                               {{0, 1, 4},
                                {1, 1, 2},
                                {2, 32, 18},
                                {3, 32, 20},
                                {6, 32, 22},
                                {7, 32, 24},
                                {8, 32, 34},
                                {10, 256, 84},
                                {11, 256, 110},
                                {12, 256, 144},
                                {13, 256, 176},
                                {14, 256, 210},
                                {30, 1, 2}});
  const std::vector<Case> more[] = {
      rows("tensor.type.intermediate", "AAU", {{9, 32, 36}, {15, 256, 292}}),
      rows("tensor.type.extended", "AAU",
           {{16, 256, 66},
            {17, 256, 74},
            {18, 256, 98},
            {19, 256, 50},
            {20, 32, 18},
            {21, 256, 110},
            {22, 256, 82},
            {23, 256, 136},
            {24, 1, 1},
            {25, 1, 2},
            {26, 1, 4},
            {27, 1, 8},
            {28, 1, 8},
            {29, 256, 56},
            {34, 256, 54},
            {35, 256, 66},
            {39, 32, 17}}),
      rows("tensor.type.newer", "AAU",
           {{40, 64, 36}, {41, 128, 18}, {42, 64, 18}}),
      rows("tensor.type.fork_ptq1_0", "PUU", {{143, 128, 28}}),
  };
  for (const auto& group : more)
    all.insert(all.end(), group.begin(), group.end());
  // One byte fewer and the tensor ends after the file.
  std::vector<Case> short_files;
  for (const Case& c : all) {
    Case cut("data.tensor.past_eof", c.file, "RRR", "of");
    cut.file.bytes.pop_back();
    for (std::size_t i = 1; i < 3; ++i) {
      if (c.expected[i].verdict == 'U') cut.expected[i] = c.expected[i];
    }
    short_files.push_back(cut);
  }
  all.insert(all.end(), short_files.begin(), short_files.end());
  return all;
}

std::vector<Case> Sizes() {
  const Expected i64 = {'U', "tensor.type.extended", 24 + 9 + 4 + 8, {}};
  const TestFile padded =
      H(2).Tensor("a", {64}, 0, 0)
          .Tensor("b", {4, Pow2(30) - 1, Pow2(30) + 1}, 0, 256)
          .Pad()
          .Fill(256);
  std::vector<Case> cases;
  cases.push_back({"tensor.row.block_multiple", T({33}, 8, 68), "RRR", "d0"});
  cases.push_back({"tensor.row.block_multiple", T({33, 0}, 8), "RRR", "d0"});
  cases.push_back({"tensor.row.block_multiple", T({16, 2}, 8), "RRR", "d0"});
  cases.push_back(Case("tensor.row.block_multiple", T({}, 8), "RRR", "nd")
                      .Candle({'R', "tensor.n_dims.zero", 24 + 9, {}}));
  cases.push_back(
      {"tensor.bytes.overflow", T({Pow2(20), Pow2(42)}, 0), "RRR", "d0"});
  cases.push_back(Case("tensor.bytes.overflow", T({Pow2(61)}, 27), "RRR", "d0")
                      .Candle(i64));
  cases.push_back(
      {"tensor.bytes.pad_overflow", T({Pow2(62) - 1}, 0), "RRR", "d0"});
  cases.push_back({"tensor.bytes.pad_overflow", padded, "RRR", "d0"});
  return cases;
}

}  // namespace

std::vector<Case> TensorCases() {
  std::vector<Case> cases = Names();
  for (Case& c : Dims()) cases.push_back(std::move(c));
  for (Case& c : TypeIds()) cases.push_back(std::move(c));
  for (Case& c : TypeSizes()) cases.push_back(std::move(c));
  for (Case& c : Sizes()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace weightproof::gguf::test
