// Cases: magic, version, counts, alignment.
#include "impls/cpu/gguf_view_testing.h"

namespace weightproof::impls::testing {
namespace {

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

std::string One(std::string_view kv) { return H(3, 0, 1) + std::string(kv); }

// A file with one alignment key and one tensor of 32 bytes.
std::string Aligned(std::uint32_t type, std::string_view payload,
                    std::uint64_t alignment, std::uint64_t data = 32) {
  return Pad(H(3, 1, 1) + Kv("general.alignment", type, payload) +
                 Ti("t", {8}, 0, 0),
             alignment) +
         Z(data);
}

constexpr std::uint64_t kType = 24 + 8 + 17;  // of general.alignment
constexpr std::uint64_t kValue = kType + 4;

}  // namespace

std::vector<Case> HeaderCases() {
  const std::string body = U64(0) + U64(0);
  return {
      {"header.magic.truncated", "RRR", 0, ""},
      {"header.magic.truncated", "RRR", 3, "GGU"},
      {"header.magic.wrong", "RRR", 0, "gguf" + U32(3) + body},
      {"header.magic.wrong", "RRR", 0, "GGML" + U32(3) + body},
      {"header.magic.reversed", "RRA", 0, "FUGG" + U32(3) + body},
      {"header.magic.reversed",
       "RRR",
       0,
       "FUGG" + U16(3),
       {{2, {"header.version.truncated", 6}}}},
      {"header.magic.reversed_be", "RRR", 0, "FUGG" + U32(0x03000000) + body},
      {"header.magic.reversed_be", "RRR", 0, "FUGG" + U32(0x01000000) + body},
      {"header.version.truncated", "RRR", 4, "GGUF"},
      {"header.version.truncated", "RRR", 7, "GGUF" + U32(3).substr(0, 3)},
      {"header.version.zero", "RRR", 4, H(0, 0, 0)},
      {"header.version.one", "PUA", 4, "GGUF" + U32(1) + U32(0) + U32(0)},
      {"header.version.two", "AAA", 4, H(2, 0, 0)},
      {"header.version.big_endian", "AUU", 4, "GGUF" + U32(0x03000000) + body},
      {"header.version.future", "UUU", 4, H(4, 0, 0)},
      {"header.version.future", "UUU", 4, H(65535, 0, 0)},
      {"header.version.garbage", "RRR", 4, H(0x00010003, 0, 0)},
      {"header.version.garbage", "RRR", 4, H(0x02000000, 0, 0)},
      {"header.counts.truncated", "RRR", 8, "GGUF" + U32(3)},
      {"header.counts.truncated", "RRR", 23, H(3, 0, 0).substr(0, 23)},
      {"header.tensor_count.sign_bit", "RRR", 8, H(3, ~0ull, 0)},
      {"header.tensor_count.sign_bit", "RRR", 8, H(3, kTop, kTop)},
      {"header.kv_count.sign_bit", "RRR", 16, H(3, 0, kTop)},
      {"header.tensor_count.exceeds_file", "RRR", 8, H(3, 1ull << 62, 0)},
      {"header.tensor_count.exceeds_file", "RRR", 8, H(3, 1, 0) + Z(23)},
      {"header.kv_count.exceeds_file", "RRR", 16,
       H(3, 0, 0x0AAAAAAAAAAAAAABull)},
      {"header.kv_count.exceeds_file", "RRR", 16, H(3, 0, 1ull << 32)},
      {"header.kv_count.exceeds_file", "RRR", 16, H(3, 0, 1) + Z(12)},
      {"header.counts.exceed_file", "RRR", 16, H(3, 1, 1) + Z(36)},
      {"header.kv_count.minimum_entry", "AAA", 0, One(Kv("a", 0, "\7"))},
      {"header.file.minimal", "AAA", 0, H(3, 0, 0)},
      {"limit.counts.cap",
       "LLL",
       16,
       H(3, 0, (1ull << 30) + 1),
       {},
       1ull << 40},
      {"limit.counts.cap",
       "LLL",
       8,
       H(3, (1ull << 30) + 1, (1ull << 30) + 1),
       {},
       1ull << 40},
      {"kv.key.empty",
       "RUA",
       16,
       "GGUF" + U32(1) + U32(0) + U32(1) + U32(0) + U32(0) + "\1",
       {{1, {"header.version.one", 4}}}},
      // alignment
      {"align.value.default", "AAA", 0,
       Pad(H(3, 1, 0) + Ti("t", {8}, 0, 0)) + Z(32)},
      {"align.value.zero", "RRR", kValue,
       One(Kv("general.alignment", 4, U32(0)))},
      {"align.value.zero", "RRR", kValue, Aligned(4, U32(0), 32)},
      {"align.value.zero",
       "RRR",
       kValue,
       Aligned(0, U8(0), 32),
       {{0, {"align.type.small_int", kType}},
        {1, {"align.type.small_int", kType}}}},
      {"align.value.pow2_below_8", "RAA", kValue, Aligned(4, U32(4), 4)},
      {"align.value.pow2_below_8", "RAA", kValue, Aligned(4, U32(1), 1)},
      {"align.value.not_multiple_of_8", "RRA", kValue,
       Aligned(4, U32(3), 3, 33)},
      {"align.value.not_multiple_of_8", "RRA", kValue,
       Aligned(4, U32(12), 12, 36)},
      {"align.value.not_multiple_of_8",
       "RRR",
       kValue,
       Aligned(4, U32(0xffffffff), 32),
       {{2, {"geometry.data_start.past_eof", 128}}}},
      {"align.value.multiple_of_8", "ARA", kValue, Aligned(4, U32(24), 24, 48)},
      {"align.value.honoured", "AAA", 0, Aligned(4, U32(64), 64, 64)},
      {"align.value.huge", "AAA", 0,
       One(Kv("general.alignment", 4, U32(0x80000000)))},
      {"geometry.data_start.past_eof", "RRR", 160,
       H(3, 1, 1) + Kv("general.alignment", 4, U32(0x80000000)) +
           Ti("t", {8}, 0, 0) + Z(70)},
      {"align.type.small_int", "RRA", kType, Aligned(5, U32(64), 64, 64)},
      {"align.type.small_int", "RRA", kType, Aligned(0, U8(64), 64, 64)},
      {"align.type.small_int", "RRA", kType, Aligned(1, U8(64), 64, 64)},
      {"align.type.small_int", "RRA", kType, Aligned(2, U16(256), 256, 256)},
      {"align.type.small_int", "RRA", kType, Aligned(3, U16(256), 256, 256)},
      {"align.type.negative", "RRA", kType, Aligned(5, U32(0xffffffe0), 32)},
      {"align.type.negative", "RRA", kType, Aligned(1, U8(0xe0), 32)},
      {"align.type.negative", "RRA", kType, Aligned(3, U16(0xffe0), 32)},
      {"align.type.int64", "RRA", kType, Aligned(10, U64(64), 32)},
      {"align.type.int64", "RRA", kType, Aligned(11, U64(~63ull), 32)},
      {"align.type.other", "RRA", kType, Aligned(6, F32(64), 32)},
      {"align.type.other", "RRA", kType, Aligned(12, U64(0), 32)},
      {"align.type.other", "RRA", kType, Aligned(7, U8(1), 32)},
      {"align.type.other", "RRA", kType, Aligned(8, S("64"), 32)},
      {"align.type.other", "RRA", kType, Aligned(9, A(4, 1) + U32(64), 32)},
  };
}

}  // namespace weightproof::impls::testing
