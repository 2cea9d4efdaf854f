// Stage 7: where the tensors lie.
#include <algorithm>
#include <vector>

#include "reference/gguf/checked.h"
#include "reference/gguf/stages.h"

namespace weightproof::gguf {
namespace {

// Nothing if 64 bits do not hold it.
std::optional<std::uint64_t> DataStart(const Context& c) {
  const File& file = c.file;
  if (c.profile().base_meaning == BaseMeaning::kAbsolute) {
    return AlignUp(file.entries_end, file.alignment);
  }
  const auto relative = AlignUp(file.entries_end - file.base, file.alignment);
  return relative ? CheckedAdd(file.base, *relative) : std::nullopt;
}

bool CheckDataStart(Context& c) {
  const auto start = DataStart(c);
  c.file.data_start = start.value_or(kU64Max);
  // Without tensors there is no data to start.
  const bool tensors = !c.file.tensors.empty();
  if (tensors && (!start || *start > c.file.file_size)) {
    return c.Refuse(rules::kGeometryDataStartPastEof, c.file.file_size,
                    "the file ends before the tensor data");
  }
  // The header reaches up to the data start: its padding is judged too.
  const std::uint64_t end = std::min(c.file.data_start, c.file.file_size);
  if (!c.Have(end - c.pos(), rules::kGeometryDataStartPastEof)) return false;
  return !tensors || c.file.base == 0 ||
         c.Permits(rules::kGeometryDataStartBase, c.file.base,
                   "the GGUF starts inside the file");
}

// Alignment, running sum of padded sizes, end: per tensor in table order.
bool CheckRanges(Context& c) {
  const File& file = c.file;
  std::uint64_t sum = 0;
  for (const Tensor& tensor : file.tensors) {
    const std::uint64_t at = tensor.offset_field;
    if (tensor.offset % file.alignment != 0 &&
        !c.Permits(rules::kGeometryOffsetUnaligned, at,
                   "offset " + std::to_string(tensor.offset) +
                       " is no multiple of " +
                       std::to_string(file.alignment))) {
      return false;
    }
    // The padded size itself was checked when the entry was read.
    const auto padded = AlignUp(tensor.size, file.alignment);
    const auto total = CheckedAdd(sum, padded.value_or(kU64Max));
    if (!total) {
      return c.Refuse(rules::kGeometrySizeSumOverflow, at,
                      "the sum of padded sizes does not fit in 64 bits");
    }
    sum = *total;
    const auto begin = CheckedAdd(file.data_start, tensor.offset);
    if (!begin || !CheckedAdd(*begin, tensor.size)) {
      return c.Refuse(rules::kGeometryTensorEndOverflow, at,
                      "the tensor's end does not fit in 64 bits");
    }
  }
  return true;
}

// Numbers of the tensors that occupy bytes, by offset, then table order.
std::vector<std::uint64_t> ByOffset(Context& c) {
  const auto& tensors = c.file.tensors;
  std::vector<std::uint64_t> order;
  order.reserve(tensors.size());
  for (std::uint64_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].size != 0) order.push_back(i);
  }
  Work* work = c.work();
  std::sort(order.begin(), order.end(),
            [&tensors, work](std::uint64_t a, std::uint64_t b) {
              ++work->comparisons;
              return tensors[a].offset != tensors[b].offset
                         ? tensors[a].offset < tensors[b].offset
                         : a < b;
            });
  return order;
}

bool CheckPair(Context& c, std::uint64_t first, std::uint64_t second) {
  const Tensor& a = c.file.tensors[first];
  const Tensor& b = c.file.tensors[second];
  const std::uint64_t at = c.file.tensors[std::max(first, second)].offset_field;
  const std::string detail =
      "tensors " + std::to_string(first) + " and " + std::to_string(second);
  if (a.offset == b.offset && a.size == b.size) {
    return c.Permits(rules::kGeometryLayoutAlias, at,
                     detail + " have the same bytes");
  }
  return c.Permits(rules::kGeometryLayoutPartialOverlap, at,
                   detail + " share bytes");
}

bool CheckOverlaps(Context& c) {
  const auto& tensors = c.file.tensors;
  const std::vector<std::uint64_t> order = ByOffset(c);
  // Of the tensors so far, the first that reaches furthest.
  std::optional<std::uint64_t> reach;
  for (const std::uint64_t i : order) {
    if (!reach) {
      reach = i;
      continue;
    }
    const std::uint64_t end = tensors[*reach].offset + tensors[*reach].size;
    if (tensors[i].offset < end && !CheckPair(c, *reach, i)) return false;
    if (tensors[i].offset + tensors[i].size > end) reach = i;
  }
  return true;
}

// Where a writer that leaves no gap puts the entry after this one.
std::uint64_t PaddedEnd(const File& file, const Tensor& tensor) {
  return AlignUp(tensor.offset + tensor.size, file.alignment).value_or(kU64Max);
}

bool CheckOrder(Context& c) {
  const auto& tensors = c.file.tensors;
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i].offset < PaddedEnd(c.file, tensors[i - 1]) &&
        !c.Permits(rules::kGeometryLayoutOutOfOrder, tensors[i].offset_field,
                   "tensor " + std::to_string(i) +
                       " does not follow its predecessor")) {
      return false;
    }
  }
  return true;
}

bool CheckFirstOffset(Context& c) {
  const auto lowest =
      std::ranges::min_element(c.file.tensors, {}, &Tensor::offset);
  return lowest == c.file.tensors.end() || lowest->offset == 0 ||
         c.Permits(rules::kGeometryLayoutFirstNonzero, lowest->offset_field,
                   "the lowest offset is " + std::to_string(lowest->offset));
}

bool CheckGaps(Context& c) {
  const auto& tensors = c.file.tensors;
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i].offset > PaddedEnd(c.file, tensors[i - 1]) &&
        !c.Permits(rules::kGeometryLayoutGap, tensors[i].offset_field,
                   "gap before tensor " + std::to_string(i))) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool CheckGeometry(Context& c) {
  return CheckDataStart(c) && CheckRanges(c) && CheckOverlaps(c) &&
         CheckOrder(c) && CheckFirstOffset(c) && CheckGaps(c);
}

}  // namespace weightproof::gguf
