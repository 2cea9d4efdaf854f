// Cases: tensor entries, geometry, data.
#include "impls/cpu/gguf_view_testing.h"

namespace weightproof::impls::testing {
namespace {

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
const std::string kNul(1, '\0');

// One or two tensors, the padding and data. The first entry is at 24: with the
// name t, n_dims at 33, dims[0] at 37.
std::string One(const std::string& entry, std::uint64_t data) {
  return Pad(H(3, 1, 0) + entry) + Z(data);
}
std::string Two(const std::string& a, const std::string& b,
                std::uint64_t data) {
  return Pad(H(3, 2, 0) + a + b) + Z(data);
}
std::string Named(const std::string& name) {
  return One(Ti(name, {8}, 0, 0), 32);
}
std::string T(const std::vector<std::uint64_t>& dims, std::uint32_t type,
              std::uint64_t data) {
  return One(Ti("t", dims, type, 0), data);
}

std::vector<Case> Entries() {
  const std::uint64_t big = 1ull << 62;
  return {
      {"tensor.entry.truncated", "RRR", 56,
       H(3, 1, 0) + Ti("t", {8}, 0, 0).substr(0, 32)},
      {"tensor.entry.truncated",
       "RRR",
       48,
       H(3, 1, 0) + Ti("", {8}, 0, 0).substr(0, 24),
       {{0, {"tensor.entry.truncated", 48}}}},
      {"tensor.name.past_eof", "RRR", 24, H(3, 1, 0) + U64(~0ull) + Z(24)},
      {"tensor.name.past_eof", "RRR", 24, H(3, 1, 0) + U64(25) + Z(24)},
      {"tensor.name.empty", "PAA", 24, Named("")},
      {"tensor.name.length_63", "AAA", 0, Named(Times(63, "n"))},
      {"tensor.name.length_64", "ARA", 24, Named(Times(64, "n"))},
      {"tensor.name.too_long", "RRA", 24, Named(Times(65, "n"))},
      {"tensor.name.utf8_invalid", "RAA", 33, Named("a\xff")},
      {"tensor.name.nul", "PAA", 33, Named("a" + kNul + "b")},
      {"tensor.name.distinct_after_nul", "PRA", 59,
       Two(Ti("t" + kNul + "x", {8}, 0, 0), Ti("t" + kNul + "y", {8}, 0, 32),
           64)},
      {"tensor.name.distinct_after_nul", "PRA", 57,
       Two(Ti("t", {8}, 0, 0), Ti("t" + kNul, {8}, 0, 32), 64)},
      {"tensor.name.distinct_after_nul", "PRA", 58,
       Two(Ti("t" + kNul, {8}, 0, 0), Ti("t", {8}, 0, 32), 64)},
      {"tensor.name.duplicate", "RRA", 57,
       Two(Ti("t", {8}, 0, 0), Ti("t", {8}, 0, 32), 64)},
      {"tensor.name.duplicate", "RRA", 58,
       Two(Ti("t" + kNul, {8}, 0, 0), Ti("t" + kNul, {8}, 0, 32), 64)},
      {"tensor.n_dims.zero", "AAR", 33, T({}, 0, 32)},
      {"tensor.n_dims.too_many", "RRR", 33, T({1, 1, 1, 1, 8}, 0, 32)},
      {"tensor.n_dims.too_many", "RRR", 33,
       One(S("t") + U32(~0u) + U64(8) + U32(0) + U64(0), 32)},
      {"tensor.dim.zero", "AAA", 0, T({4, 0}, 0, 0)},
      {"tensor.dim.zero", "AAA", 0, T({1ull << 33, 0}, 0, 0)},
      {"tensor.dim.zero", "AAA", 0, T({0, kTop - 1, kTop - 1}, 0, 0)},
      {"tensor.dim.sign_bit", "RRR", 37, T({kTop}, 0, 32)},
      {"tensor.dim.sign_bit", "RRR", 37, T({~0ull}, 0, 32)},
      {"tensor.dim.sign_bit", "RRR", 45, T({0, kTop}, 0, 32)},
      {"tensor.dim.above_2p32", "AAA", 0, T({1ull << 33, 0}, 0, 0)},
      {"tensor.elements.overflow", "RRR", 45,
       T({1ull << 32, 1ull << 32}, 0, 32)},
      {"tensor.elements.overflow", "RRR", 45, T({kTop - 1, 2}, 24, 32)},
      {"tensor.elements.overflow", "RRR", 53,
       T({4194305, 4194305, 211106198978564}, 0, 16)},
      {"tensor.elements.overflow", "RRR", 45, T({(1ull << 61) + 1, 8}, 0, 32)},
      {"tensor.type.withdrawn", "RRR", 45, T({32}, 4, 32)},
      {"tensor.type.withdrawn", "RRR", 45, T({32}, 31, 32)},
      {"tensor.type.withdrawn", "RRR", 45, T({32}, 38, 32)},
      {"tensor.type.sign_bit", "RRR", 45, T({8}, 0xffffffff, 32)},
      {"tensor.type.sign_bit", "RRR", 45, T({8}, 0x80000000, 32)},
      {"tensor.type.unknown", "UUU", 45, T({32}, 43, 32)},
      {"tensor.type.unknown", "UUU", 45, T({32}, 100, 32)},
      {"tensor.type.unknown", "UUU", 45, T({32}, 0x7fffffff, 32)},
      {"tensor.type.fork_ptq1_0", "PUU", 45, T({128}, 143, 32)},
      {"tensor.type.common", "AAA", 0, T({256}, 14, 224)},
      {"tensor.type.intermediate", "AAU", 45, T({32}, 9, 64)},
      {"tensor.type.intermediate", "AAU", 45, T({256}, 15, 320)},
      {"tensor.type.extended", "AAU", 45, T({256}, 16, 96)},
      {"tensor.type.extended", "AAU", 45, T({4}, 28, 32)},
      {"tensor.type.newer", "AAU", 45, T({64}, 42, 32)},
      {"tensor.row.block_multiple", "RRR", 37, T({33}, 8, 68)},
      {"tensor.row.block_multiple",
       "RRR",
       33,
       T({}, 8, 34),
       {{2, {"tensor.n_dims.zero", 33}}}},
      {"tensor.bytes.overflow", "RRR", 37, T({1ull << 20, 1ull << 42}, 0, 32)},
      {"tensor.bytes.overflow",
       "RRU",
       37,
       T({1ull << 61}, 27, 32),
       {{2, {"tensor.type.extended", 45}}}},
      {"tensor.bytes.pad_overflow", "RRR", 37, T({big - 1}, 0, 32)},
      {"tensor.bytes.pad_overflow", "RRR", 70,
       Two(Ti("a", {64}, 0, 0),
           Ti("b", {4, (1u << 30) - 1, (1u << 30) + 1}, 0, 256), 256)},
  };
}

std::vector<Case> Geometry() {
  constexpr std::uint64_t big = 1ull << 62;
  const auto four = [](std::uint64_t last) {
    std::string bytes = H(3, 4, 0);
    for (int i = 0; i < 4; ++i) {
      bytes += Ti("t" + std::to_string(i), {i == 3 ? last : big}, 24, i * big);
    }
    return Pad(bytes);
  };
  const Also i8{"tensor.type.extended", 46};
  const std::string a = Ti("a", {8}, 0, 0);
  const std::string small = Pad(H(3, 1, 0) + Ti("t", {4}, 0, 0));
  const std::string mid =
      Pad(H(3, 2, 0) + Ti("a", {4}, 0, 0) + Ti("b", {8}, 0, 32));
  return {
      {"geometry.data_start.aligned", "AAA", 0, Named("tttttttt")},
      {"geometry.data_start.no_tensors", "AAA", 0, H(3, 0, 0)},
      {"geometry.data_start.past_eof", "RRR", 57,
       H(3, 1, 0) + Ti("t", {8}, 0, 0)},
      {"geometry.data_start.past_eof", "RRR", 57,
       H(3, 1, 0) + Ti("t", {0}, 0, 0)},
      {"geometry.offset.unaligned", "RRA", 49, One(Ti("t", {8}, 0, 4), 64)},
      {"geometry.offset.unaligned", "RRA", 49, One(Ti("t", {0}, 0, 4), 64)},
      {"geometry.size_sum.overflow",
       "RRU",
       24 + 3 * 34 + 26,
       four(big),
       {{2, i8}}},
      {"geometry.tensor_end.overflow",
       "RRU",
       24 + 3 * 34 + 26,
       four(big - 64),
       {{2, i8}}},
      {"geometry.tensor_end.overflow", "RRR", 49,
       One(Ti("a", {8}, 0, 0xFFFFFFFFFFFFFFE0ull), 32)},
      {"geometry.tensor_end.overflow", "RRR", 49,
       One(Ti("a", {0}, 0, 0xFFFFFFFFFFFFFFE0ull), 32)},
      {"geometry.layout.partial_overlap", "RRA", 82,
       Two(Ti("a", {16}, 0, 0), Ti("b", {8}, 0, 32), 64)},
      {"geometry.layout.partial_overlap", "RRA", 82,
       Two(Ti("a", {8}, 0, 32), Ti("b", {16}, 0, 0), 64)},
      {"geometry.layout.alias", "PRA", 82, Two(a, Ti("b", {8}, 0, 0), 32)},
      {"geometry.layout.empty_tensor", "AAA", 0,
       Two(a, Ti("b", {0}, 0, 32), 32)},
      {"geometry.layout.empty_tensor",
       "ARA",
       0,
       Two(a, Ti("b", {0}, 0, 0), 32),
       {{1, {"geometry.layout.out_of_order", 82}}}},
      {"geometry.layout.empty_tensor",
       "ARA",
       0,
       Two(Ti("b", {0}, 0, 1 << 20), a, 32),
       {{1, {"geometry.layout.out_of_order", 82}}}},
      {"geometry.layout.out_of_order", "ARA", 82,
       Two(Ti("a", {8}, 0, 32), Ti("b", {8}, 0, 0), 64)},
      {"geometry.layout.first_nonzero", "ARA", 49,
       One(Ti("t", {8}, 0, 32), 64)},
      {"geometry.layout.gap", "ARA", 82, Two(a, Ti("b", {8}, 0, 64), 96)},
      {"data.tensor.past_eof", "RRR", 49, T({8}, 0, 31)},
      {"data.tensor.past_eof", "RRR", 49, T({8}, 0, 0)},
      {"data.tensor.past_eof",
       "RRR",
       49,
       One(Ti("t", {8}, 0, 1 << 20), 32),
       {{1, {"geometry.layout.first_nonzero", 49}}}},
      {"data.tensor.past_eof", "RRR", 57, T({1024, 1ull << 40}, 0, 32)},
      {"data.padding.header_nonzero", "RAA", 57,
       H(3, 1, 0) + Ti("t", {8}, 0, 0) + Times(7, "\xaa") + Z(32)},
      {"data.padding.header_nonzero", "RAA", 26, H(3, 0, 0) + Z(2) + "\1"},
      {"data.padding.between_nonzero", "PAA", 112,
       small + Z(16) + "\1" + Z(15)},
      {"data.padding.between_nonzero", "PAA", 112, mid + Z(31) + "\1" + Z(32)},
      {"data.tail.padding_missing", "AAA", 0, small + Z(16)},
      {"data.tail.padding_present", "AAA", 0, small + Z(32)},
      {"data.tail.trailing_bytes", "PAA", 128, small + Z(72)},
      {"data.tail.trailing_bytes", "PAA", 32, H(3, 0, 0) + Z(9)},
      {"data.tensor.bytes", "AAA", 0, RichFile().substr(0, 0) + small + Z(16)},
  };
}

}  // namespace

std::vector<Case> TensorCases() {
  std::vector<Case> cases = Entries();
  for (Case& more : Geometry()) cases.push_back(std::move(more));
  return cases;
}

}  // namespace weightproof::impls::testing
