// The data check of the optimized implementations: one pass, stops at the
// first block that must be refused.
#include <cstring>

#include "impls/cpu/q8_0.h"
#include "reference/q8_0/rules.h"
#include "reference/rule.h"

namespace weightproof::impls {
namespace {

using namespace q8_0::rules;  // generated constants only

void SetDetail(const char* text, wp_answer* answer) {
  std::strncpy(answer->detail, text, sizeof(answer->detail) - 1);
  answer->detail[sizeof(answer->detail) - 1] = '\0';
}

void Reject(RuleIndex rule, std::uint64_t offset, const char* detail,
            wp_answer* answer) {
  answer->verdict = WP_REJECT;
  answer->rule = Rules()[rule].id.data();
  answer->offset = offset;
  SetDetail(detail, answer);
}

unsigned Half(const std::uint8_t* at) {
  return static_cast<unsigned>(at[0]) | static_cast<unsigned>(at[1]) << 8;
}

constexpr unsigned kExponent = 0x7c00;

// 0 sound, 1 infinite, 2 NaN.
int Kind(unsigned half) {
  if ((half & kExponent) != kExponent) return 0;
  return (half & 0x3ff) == 0 ? 1 : 2;
}

bool IsCanonical(const std::uint8_t* block, const std::uint8_t* codes) {
  bool extreme = false, lowest = false;
  for (int i = 0; i < 32; ++i) {
    lowest |= codes[i] == 0x80;
    extreme |= codes[i] == 0x7f || codes[i] == 0x81;
  }
  const unsigned d = Half(block);
  const bool normal = d >= 0x0400 && d < kExponent;
  return !lowest && (d & 0x8000) == 0 && (extreme || !normal);
}

}  // namespace

void ValidateQ80Data(wp_slice x, std::uint64_t n, std::uint64_t rows,
                     bool is_q8_1, wp_answer* answer) {
  answer->status = WP_STATUS_OK;
  answer->verdict = WP_ACCEPT;
  const std::uint64_t stride = is_q8_1 ? 36 : 34;
  std::uint64_t blocks = 0, expected = 0;
  if (n % 32 != 0) {
    return Reject(kShapeNotMultiple, WP_NO_OFFSET,
                  "row length is not a multiple of 32", answer);
  }
  if (__builtin_mul_overflow(n / 32, rows, &blocks) ||
      __builtin_mul_overflow(blocks, stride, &expected) || expected != x.size) {
    return Reject(is_q8_1 ? kQ81ValidateSize : kValidateSize, WP_NO_OFFSET,
                  "the number of bytes is wrong", answer);
  }
  bool canonical = true;
  for (std::uint64_t at = 0; at < x.size; at += stride) {
    const std::uint8_t* block = x.data + at;
    if (const int kind = Kind(Half(block)); kind != 0) {
      const RuleIndex inf = is_q8_1 ? kQ81ValidateScaleInf : kValidateScaleInf;
      const RuleIndex nan = is_q8_1 ? kQ81ValidateScaleNan : kValidateScaleNan;
      return Reject(kind == 1 ? inf : nan, at, "scale", answer);
    }
    if (const int kind = is_q8_1 ? Kind(Half(block + 2)) : 0; kind != 0) {
      return Reject(kind == 1 ? kQ81ValidateSumInf : kQ81ValidateSumNan, at + 2,
                    "sum", answer);
    }
    if (canonical) canonical = IsCanonical(block, block + stride - 32);
  }
  if (!canonical) SetDetail("not canonical", answer);
}

}  // namespace weightproof::impls
