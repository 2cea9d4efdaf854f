// Stage 8: whether the data is there, and what lies between and after it.
#include <algorithm>
#include <set>

#include "reference/gguf/checked.h"
#include "reference/gguf/stages.h"

namespace weightproof::gguf {
namespace {

// The geometry stage made sure that these sums fit.
std::uint64_t DataEnd(const File& file, const Tensor& tensor) {
  return file.data_start + tensor.offset + tensor.size;
}

std::uint64_t PaddedDataEnd(const File& file, const Tensor& tensor) {
  const auto padded = AlignUp(tensor.offset + tensor.size, file.alignment);
  return CheckedAdd(file.data_start, padded.value_or(kU64Max))
      .value_or(kU64Max);
}

// A tensor of 0 bytes may start anywhere.
bool CheckTensorsInFile(Context& c) {
  for (const Tensor& tensor : c.file.tensors) {
    if (tensor.size == 0) continue;
    if (DataEnd(c.file, tensor) > c.file.file_size) {
      return c.Refuse(rules::kDataTensorPastEof, tensor.offset_field,
                      "the tensor ends at " +
                          std::to_string(DataEnd(c.file, tensor)) +
                          ", the file at " + std::to_string(c.file.file_size));
    }
  }
  return true;
}

// Looks at [begin, end) as far as the file and the prefix reach. False: the
// parse has stopped.
bool CheckPadding(Context& c, RuleIndex rule, std::uint64_t begin,
                  std::uint64_t end) {
  const std::uint64_t in_file = std::min(end, c.file.file_size);
  const std::uint64_t seen =
      std::min<std::uint64_t>(in_file, c.file.prefix.size());
  if (begin < in_file && seen < in_file) c.file.padding_checked = false;
  if (c.profile().Of(rule) == Cell::kAccept || begin >= seen) return true;
  const auto bytes = c.file.Bytes({begin, seen - begin});
  const auto found =
      std::ranges::find_if(bytes, [](std::uint8_t b) { return b != 0; });
  if (found == bytes.end()) return true;
  const auto index = static_cast<std::uint64_t>(found - bytes.begin());
  return c.Permits(rule, begin + index, "padding byte is not 0");
}

bool CheckHeaderPadding(Context& c) {
  return CheckPadding(c, rules::kDataPaddingHeaderNonzero, c.file.entries_end,
                      c.file.data_start);
}

bool CheckPaddingBetween(Context& c) {
  // Tensors may share their bytes by the thousand; each end is looked at once.
  std::set<std::uint64_t> ends;
  for (const Tensor& tensor : c.file.tensors) {
    if (tensor.size == 0) continue;
    const std::uint64_t end = DataEnd(c.file, tensor);
    if (!ends.insert(end).second) continue;
    if (!CheckPadding(c, rules::kDataPaddingBetweenNonzero, end,
                      PaddedDataEnd(c.file, tensor))) {
      return false;
    }
  }
  return true;
}

bool CheckTail(Context& c) {
  std::uint64_t padded_end = c.file.data_start;
  for (const Tensor& tensor : c.file.tensors) {
    if (tensor.size == 0) continue;
    padded_end = std::max(padded_end, PaddedDataEnd(c.file, tensor));
  }
  return c.file.file_size <= padded_end ||
         c.Permits(rules::kDataTailTrailingBytes, padded_end,
                   std::to_string(c.file.file_size - padded_end) +
                       " bytes after the padded end");
}

}  // namespace

bool CheckData(Context& c) {
  return CheckTensorsInFile(c) && CheckHeaderPadding(c) &&
         CheckPaddingBetween(c) && CheckTail(c);
}

}  // namespace weightproof::gguf
