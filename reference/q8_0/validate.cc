#include "reference/q8_0/validate.h"

#include "reference/q8_0/blocks.h"
#include "reference/q8_0/rules.h"

namespace weightproof::q8_0 {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint16_t kExponent = 0x7c00;

bool IsInfinite(std::uint16_t half) { return (half & 0x7fff) == kExponent; }
bool IsNan(std::uint16_t half) {
  return (half & kExponent) == kExponent && !IsInfinite(half);
}

// The rules of one format, in the order of the registry.
struct RuleSet {
  RuleIndex size, scale_inf, scale_nan, code_neg128, scale_negative, max_code,
      sum_inf, sum_nan;
};
constexpr RuleSet kRules80 = {rules::kValidateSize,
                              rules::kValidateScaleInf,
                              rules::kValidateScaleNan,
                              rules::kValidateCodeNeg128,
                              rules::kValidateScaleNegative,
                              rules::kValidateMaxCode,
                              kNoRule,
                              kNoRule};
constexpr RuleSet kRules81 = {
    rules::kQ81ValidateSize,          rules::kQ81ValidateScaleInf,
    rules::kQ81ValidateScaleNan,      rules::kQ81ValidateCodeNeg128,
    rules::kQ81ValidateScaleNegative, rules::kQ81ValidateMaxCode,
    rules::kQ81ValidateSumInf,        rules::kQ81ValidateSumNan};

// Where the fields of a block lie.
struct Layout {
  std::size_t bytes = 0, codes = 0;
  bool has_sum = false;  // a half that can be infinite or NaN
};

Layout LayoutOf(BlockFormat format) {
  if (format == BlockFormat::kQ80) return {kQ80Bytes, 2, false};
  return {kQ81Bytes, 4, format == BlockFormat::kQ81};
}

std::string Hex(unsigned value, int digits) {
  std::string text;
  for (int i = digits - 1; i >= 0; --i) {
    text += "0123456789abcdef"[(value >> (4 * i)) & 0xf];
  }
  return text;
}

// One block under examination.
struct View {
  const RuleSet& rules;
  Layout layout;
  Bytes bytes;  // of the block
  std::uint64_t index = 0;

  std::uint16_t Half(std::size_t at) const {
    return static_cast<std::uint16_t>(bytes[at] | (bytes[at + 1] << 8));
  }
  std::uint8_t Code(std::size_t i) const { return bytes[layout.codes + i]; }
  Finding At(RuleIndex rule, std::size_t at, std::uint16_t value) const {
    Finding finding;
    finding.rule = rule;
    finding.block = index;
    finding.offset = index * layout.bytes + at;
    finding.value = value;
    finding.has_place = true;
    const int digits = at >= layout.codes ? 2 : 4;
    finding.detail = "block " + std::to_string(index) + ", byte " +
                     std::to_string(finding.offset) + ": " + Hex(value, digits);
    return finding;
  }
};

// The finding that makes a profile refuse the block.
std::optional<Finding> Rejecting(const View& view) {
  const std::uint16_t d = view.Half(0);
  if (IsInfinite(d)) return view.At(view.rules.scale_inf, 0, d);
  if (IsNan(d)) return view.At(view.rules.scale_nan, 0, d);
  if (!view.layout.has_sum) return std::nullopt;
  const std::uint16_t s = view.Half(2);
  if (IsInfinite(s)) return view.At(view.rules.sum_inf, 2, s);
  if (IsNan(s)) return view.At(view.rules.sum_nan, 2, s);
  return std::nullopt;
}

bool HasMaxCode(const View& view) {
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    if (view.Code(i) == 0x7f || view.Code(i) == 0x81) return true;
  }
  return false;
}

// What is sound but no quantizer of the specification writes.
std::optional<Finding> NotCanonical(const View& view) {
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    if (view.Code(i) == 0x80) {
      return view.At(view.rules.code_neg128, view.layout.codes + i, 0x80);
    }
  }
  const std::uint16_t d = view.Half(0);
  if ((d & 0x8000) != 0 && (d & kExponent) != kExponent) {
    return view.At(view.rules.scale_negative, 0, d);
  }
  const bool normal = (d & kExponent) != 0 && (d & kExponent) != kExponent;
  if (normal && !HasMaxCode(view)) {
    return view.At(view.rules.max_code, 0, d);
  }
  return std::nullopt;
}

// The number of bytes, or nothing if it does not fit 64 bits.
std::optional<std::uint64_t> ExpectedSize(std::uint64_t n, std::uint64_t rows,
                                          std::size_t block_bytes) {
  std::uint64_t blocks = 0, bytes = 0;
  if (__builtin_mul_overflow(n / kBlockValues, rows, &blocks) ||
      __builtin_mul_overflow(blocks, block_bytes, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

Validation Refuse(RuleIndex rule, std::string detail) {
  Validation result;
  result.verdict = Cell::kReject;
  result.finding = Finding{rule, 0, 0, 0, false, std::move(detail)};
  return result;
}

Validation CheckBlocks(const RuleSet& rules, const Layout& layout,
                       Reader reader, Bytes bytes) {
  Validation result;
  for (std::uint64_t b = 0; b < bytes.size() / layout.bytes; ++b) {
    const View view{rules, layout,
                    bytes.subspan(b * layout.bytes, layout.bytes), b};
    if (auto finding = Rejecting(view)) {
      if (reader == Reader::kSpec || reader == Reader::kGgml) {
        result.verdict = Cell::kReject;
        result.finding = finding;
        return result;
      }
    }
    if (!result.finding) result.finding = NotCanonical(view);
  }
  return result;
}

}  // namespace

Validation Validate(BlockFormat format, Reader reader, Bytes bytes,
                    std::uint64_t n, std::uint64_t rows) {
  const RuleSet& rules = format == BlockFormat::kQ80 ? kRules80 : kRules81;
  const Layout layout = LayoutOf(format);
  if (n % kBlockValues != 0) {
    return Refuse(rules::kShapeNotMultiple, "row length " + std::to_string(n) +
                                                " is not a multiple of 32");
  }
  const auto expected = ExpectedSize(n, rows, layout.bytes);
  if (!expected || bytes.size() != *expected) {
    return Refuse(rules.size,
                  std::to_string(bytes.size()) + " bytes for " +
                      std::to_string(rows) + " rows of " + std::to_string(n) +
                      " values, not " +
                      (expected ? std::to_string(*expected) : "2^64 or more"));
  }
  if (reader == Reader::kContainer) return {};
  // ggml's row check knows no Q8_1 and makes no statement about it.
  if (reader == Reader::kGgml && format != BlockFormat::kQ80) {
    return {Cell::kNotApplicable, std::nullopt};
  }
  return CheckBlocks(rules, layout, reader, bytes);
}

}  // namespace weightproof::q8_0
