// Where the data lies: start, placement, layout, extents, padding.
#include <algorithm>

#include "impls/cpu/gguf_view_internal.h"
#include "reference/gguf/rules.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {
namespace gguf_internal {
namespace rules = gguf::rules;

bool RoundUp(std::uint64_t value, std::uint64_t alignment,
             std::uint64_t* rounded) {
  const std::uint64_t over = value % alignment;
  return !__builtin_add_overflow(value, over == 0 ? 0 : alignment - over,
                                 rounded);
}

std::uint64_t FirstNonZero(const std::uint8_t* data, std::uint64_t from,
                           std::uint64_t to) {
  if (from > to) return to;
  for (std::uint64_t eight = 0; to - from >= 8; from += 8) {
    std::memcpy(&eight, data + from, 8);
    if (eight != 0) break;
  }
  while (from < to && data[from] == 0) ++from;
  return from;
}

bool Reader::DataStart() {
  // ggml and candle align positions in the file, the text those in the GGUF.
  const std::uint64_t origin =
      input_.profile == GgufProfile::kSpec ? input_.base : 0;
  std::uint64_t start = 0;
  const bool fits = RoundUp(pos_ - origin, view_.alignment, &start) &&
                    !__builtin_add_overflow(start, origin, &start);
  if (tensor_count_ == 0) {
    view_.data_start = fits ? start : UINT64_MAX;
    return Loaded(std::min(view_.data_start, file_size_) - pos_);
  }
  if (input_.base != 0 && !Fail(rules::kGeometryDataStartBase, input_.base)) {
    return false;
  }
  if (!fits || start > file_size_) {
    return Fail(rules::kGeometryDataStartPastEof, file_size_);
  }
  view_.data_start = start;
  return Loaded(start - pos_);
}

bool Reader::Placement() {
  std::uint64_t sum = 0;
  for (const GgufTensor& tensor : view_.tensors) {
    const std::uint64_t at = OffsetField(tensor);
    if (tensor.offset % view_.alignment != 0 &&
        !Fail(rules::kGeometryOffsetUnaligned, at)) {
      return false;
    }
    std::uint64_t padded = 0, end = 0;
    RoundUp(tensor.size, view_.alignment, &padded);
    if (__builtin_add_overflow(sum, padded, &sum)) {
      return Fail(rules::kGeometrySizeSumOverflow, at);
    }
    if (__builtin_add_overflow(view_.data_start, tensor.offset, &end) ||
        __builtin_add_overflow(end, tensor.size, &end)) {
      return Fail(rules::kGeometryTensorEndOverflow, at);
    }
  }
  return true;
}

bool Reader::Overlaps() {
  if (!judge_.CaresAny({rules::kGeometryLayoutPartialOverlap,
                        rules::kGeometryLayoutAlias})) {
    return true;
  }
  const std::vector<GgufTensor>& tensors = view_.tensors;
  std::vector<std::uint32_t>& order = order_;
  bool sorted = true;
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].size == 0) continue;
    if (!order.empty()) {
      sorted &= tensors[order.back()].offset <= tensors[i].offset;
    }
    order.push_back(i);
  }
  if (!sorted) {
    std::ranges::sort(order, [&tensors](std::uint32_t a, std::uint32_t b) {
      if (tensors[a].offset != tensors[b].offset) {
        return tensors[a].offset < tensors[b].offset;
      }
      return a < b;
    });
  }
  // first: the earliest in this order of the tensors that reach furthest.
  std::size_t first = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const GgufTensor& before = tensors[order[first]];
    const GgufTensor& tensor = tensors[order[i]];
    if (tensor.offset >= before.offset + before.size) {
      first = i;
      continue;
    }
    const bool alias =
        tensor.offset == before.offset && tensor.size == before.size;
    if (!Fail(alias ? rules::kGeometryLayoutAlias
                    : rules::kGeometryLayoutPartialOverlap,
              OffsetField(tensors[std::max(order[first], order[i])]))) {
      return false;
    }
    if (tensor.offset + tensor.size > before.offset + before.size) first = i;
  }
  return true;
}

bool Reader::TableOrder() {
  if (!judge_.CaresAny({rules::kGeometryLayoutOutOfOrder,
                        rules::kGeometryLayoutFirstNonzero,
                        rules::kGeometryLayoutGap})) {
    return true;
  }
  const GgufTensor* gap = nullptr;
  const GgufTensor* lowest = nullptr;
  std::uint64_t next = 0;
  for (const GgufTensor& tensor : view_.tensors) {
    // Empty ones too: ggml expects each entry where the one before ends.
    if (lowest != nullptr) {
      if (tensor.offset < next &&
          !Fail(rules::kGeometryLayoutOutOfOrder, OffsetField(tensor))) {
        return false;
      }
      if (tensor.offset > next && gap == nullptr) gap = &tensor;
    }
    if (lowest == nullptr || tensor.offset < lowest->offset) lowest = &tensor;
    if (!RoundUp(tensor.offset + tensor.size, view_.alignment, &next)) {
      next = UINT64_MAX;
    }
  }
  if (lowest != nullptr && lowest->offset != 0 &&
      !Fail(rules::kGeometryLayoutFirstNonzero, OffsetField(*lowest))) {
    return false;
  }
  return gap == nullptr || Fail(rules::kGeometryLayoutGap, OffsetField(*gap));
}

bool Reader::Extents() {
  const std::uint64_t room =
      file_size_ - std::min(file_size_, view_.data_start);
  for (const GgufTensor& tensor : view_.tensors) {
    if (tensor.size == 0) continue;
    if (tensor.offset > room || tensor.size > room - tensor.offset) {
      if (!Fail(rules::kDataTensorPastEof, OffsetField(tensor))) return false;
    }
  }
  return true;
}

bool Reader::HeaderPadding() {
  if (!judge_.Cares(rules::kDataPaddingHeaderNonzero)) return true;
  const std::uint64_t start = std::min(view_.data_start, file_size_);
  const std::uint64_t at = FirstNonZero(in_.data, pos_, start);
  return at == start || Fail(rules::kDataPaddingHeaderNonzero, at);
}

bool Reader::TensorPadding() {
  if (!judge_.Cares(rules::kDataPaddingBetweenNonzero)) return true;
  const std::uint64_t known = std::min(file_size_, loaded_);
  std::uint64_t checked = 0;
  for (const std::uint32_t i : order_) {
    const std::uint64_t end = view_.tensors[i].offset + view_.tensors[i].size;
    // Tensors may share their bytes by the thousand: look once.
    if (end == checked) continue;
    checked = end;
    std::uint64_t next = 0;
    if (!RoundUp(end, view_.alignment, &next)) next = UINT64_MAX;
    const std::uint64_t to =
        view_.data_start +
        std::min(next, known - std::min(known, view_.data_start));
    const std::uint64_t at = FirstNonZero(in_.data, view_.data_start + end, to);
    if (at < to && !Fail(rules::kDataPaddingBetweenNonzero, at)) return false;
  }
  return true;
}

bool Reader::Tail() {
  std::uint64_t last = 0;
  for (const GgufTensor& tensor : view_.tensors) {
    if (tensor.size == 0) continue;
    last = std::max(last, tensor.offset + tensor.size);
  }
  std::uint64_t end = 0;
  if (!RoundUp(last, view_.alignment, &last) ||
      __builtin_add_overflow(view_.data_start, last, &end)) {
    return true;
  }
  return end >= file_size_ || Fail(rules::kDataTailTrailingBytes, end);
}

}  // namespace gguf_internal
}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls
