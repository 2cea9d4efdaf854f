// The trusted numeric operations behind the C ABI.
#include <bit>
#include <cstring>
#include <span>
#include <string>

#include "impls/reference_ops.h"
#include "reference/q8_0/blocks.h"
#include "reference/q8_0/dot.h"
#include "reference/q8_0/f16.h"
#include "reference/q8_0/quantize.h"
#include "reference/q8_0/validate.h"
#include "reference/rule.h"

namespace weightproof::impls {
namespace {

using Image = std::span<const std::uint8_t>;

// A buffer of the caller: it need not be aligned, and may be null if empty.
Image ImageOf(const void* data, std::uint64_t size) {
  return {static_cast<const std::uint8_t*>(data),
          static_cast<std::size_t>(size)};
}

std::uint64_t BlockBytes(std::uint64_t n, std::uint64_t rows) {
  return n / q8_0::kBlockValues * rows * q8_0::kQ80Bytes;
}

void SetDetail(const std::string& text, wp_answer* answer) {
  const std::size_t size = text.size() < sizeof(answer->detail)
                               ? text.size()
                               : sizeof(answer->detail) - 1;
  std::memcpy(answer->detail, text.data(), size);
  answer->detail[size] = '\0';
}

// The reference has one code path, without a name.
bool HasVariant(const char* variant, wp_answer* answer) {
  if (variant == nullptr) return false;
  answer->status = WP_STATUS_NOT_IMPLEMENTED;
  SetDetail("the reference has no variants", answer);
  return true;
}

void Accept(wp_answer* answer) {
  answer->status = WP_STATUS_OK;
  answer->verdict = WP_ACCEPT;
}

void Refuse(const q8_0::Refusal& refusal, wp_answer* answer) {
  answer->status = WP_STATUS_OK;
  answer->verdict = WP_REJECT;
  if (refusal.rule != kNoRule) {
    answer->rule = Rules()[refusal.rule].id.data();
  }
  answer->offset = refusal.offset.value_or(WP_NO_OFFSET);
  if (refusal.row) answer->row = static_cast<std::int64_t>(*refusal.row);
  SetDetail(refusal.detail, answer);
}

void Answer(const std::expected<q8_0::Bytes, q8_0::Refusal>& result, void* y,
            wp_answer* answer) {
  if (!result) return Refuse(result.error(), answer);
  if (!result->empty()) std::memcpy(y, result->data(), result->size());
  Accept(answer);
}

void Validate(q8_0::BlockFormat format, wp_slice x, std::uint64_t n,
              std::uint64_t rows, wp_answer* answer) {
  const q8_0::Validation validation = q8_0::Validate(
      format, q8_0::Reader::kSpec, ImageOf(x.data, x.size), n, rows);
  Accept(answer);
  if (!validation.finding) return;
  const q8_0::Finding& finding = *validation.finding;
  if (validation.verdict != Cell::kReject) {
    SetDetail("not canonical: " + std::string(Rules()[finding.rule].id) + ", " +
                  finding.detail,
              answer);
    return;
  }
  answer->verdict = WP_REJECT;
  answer->rule = Rules()[finding.rule].id.data();
  if (finding.has_place) answer->offset = finding.offset;
  SetDetail(finding.detail, answer);
}

// The ABI's outputs need not be aligned: an untyped destination promises none.
void CopyOut(const void* from, std::size_t bytes, void* to) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace

void ReferenceQ80Quantize(const char* variant, const float* x, uint64_t n,
                          uint64_t rows, uint8_t* y, wp_answer* answer) {
  if (HasVariant(variant, answer)) return;
  Answer(q8_0::Quantize(ImageOf(x, n * rows * 4), n, rows), y, answer);
}

void ReferenceQ81Quantize(const char* variant, const float* x, uint64_t n,
                          uint64_t rows, uint8_t* y, wp_answer* answer) {
  if (HasVariant(variant, answer)) return;
  Answer(q8_0::QuantizeQ81(ImageOf(x, n * rows * 4), n, rows), y, answer);
}

void ReferenceQ80Dequantize(const char* variant, const uint8_t* x, uint64_t n,
                            uint64_t rows, float* y, wp_answer* answer) {
  if (HasVariant(variant, answer)) return;
  Answer(q8_0::Dequantize(ImageOf(x, BlockBytes(n, rows)), n, rows), y, answer);
}

void ReferenceQ80Dot(const char* variant, const uint8_t* w, const uint8_t* x,
                     uint64_t n, float* y, int32_t* isum, wp_answer* answer) {
  if (HasVariant(variant, answer)) return;
  const auto result = q8_0::DotOperation(ImageOf(w, BlockBytes(n, 1)),
                                         ImageOf(x, BlockBytes(n, 1)), n);
  if (!result) return Refuse(result.error(), answer);
  CopyOut(&result->y, sizeof(float), y);
  if (isum != nullptr) {
    CopyOut(result->isum.data(), result->isum.size() * sizeof(std::int32_t),
            isum);
  }
  Accept(answer);
}

void ReferenceQ80Matvec(const char* variant, const uint8_t* w,
                        const uint8_t* x_blocks, const float* x_f32, uint64_t n,
                        uint64_t rows, uint64_t cols, uint32_t /*threads*/,
                        float* y, wp_answer* answer) {
  if (HasVariant(variant, answer)) return;
  q8_0::MatvecInput input;
  input.x_is_f32 = x_f32 != nullptr;
  input.w = ImageOf(w, BlockBytes(n, rows));
  input.x = input.x_is_f32 ? ImageOf(x_f32, n * cols * 4)
                           : ImageOf(x_blocks, BlockBytes(n, cols));
  input.n = n;
  input.rows = rows;
  input.cols = cols;
  const auto result = q8_0::Matvec(input);
  if (!result) return Refuse(result.error(), answer);
  CopyOut(result->data(), result->size() * sizeof(float), y);
  Accept(answer);
}

void ReferenceQ80Validate(wp_slice x, uint64_t n, uint64_t rows,
                          wp_answer* answer) {
  Validate(q8_0::BlockFormat::kQ80, x, n, rows, answer);
}

void ReferenceQ81Validate(wp_slice x, uint64_t n, uint64_t rows,
                          wp_answer* answer) {
  Validate(q8_0::BlockFormat::kQ81, x, n, rows, answer);
}

void ReferenceF16FromF32(const char* variant, const float* x, uint64_t count,
                         uint16_t* y, wp_answer* answer) {
  if (HasVariant(variant, answer)) return;
  const Image image = ImageOf(x, count * 4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint16_t half = q8_0::F16FromF32(std::bit_cast<std::uint32_t>(
        q8_0::ReadF32(image, static_cast<std::size_t>(i))));
    std::memcpy(reinterpret_cast<std::uint8_t*>(y) + 2 * i, &half, 2);
  }
  Accept(answer);
}

void ReferenceF16ToF32(const char* variant, const uint16_t* x, uint64_t count,
                       float* y, wp_answer* answer) {
  if (HasVariant(variant, answer)) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, reinterpret_cast<const std::uint8_t*>(x) + 2 * i, 2);
    const std::uint32_t pattern = q8_0::F32FromF16(half);
    std::memcpy(reinterpret_cast<std::uint8_t*>(y) + 4 * i, &pattern, 4);
  }
  Accept(answer);
}

}  // namespace weightproof::impls
