// The field visitor, continued: tensor entries and everything after them.
#include <algorithm>
#include <utility>

#include "reference/gguf/checked.h"
#include "reference/gguf/field_text.h"
#include "reference/gguf/field_walker.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf {

bool FieldWalker::Dims(const std::string& path, std::uint64_t n_dims,
                       std::optional<std::uint64_t>& elements,
                       std::uint64_t& row) {
  elements = 1;
  row = 1;
  bool empty = false;
  for (std::uint64_t i = 0; i < n_dims; ++i) {
    const auto dim = Number(path + ".dims[" + std::to_string(i) + "]",
                            FieldKind::kDim, length_width_, 1);
    if (!dim) return false;
    if (i == 0) row = *dim;
    if (*dim == 0) empty = true;
    if (elements) elements = CheckedMultiply(*elements, *dim);
  }
  if (empty) elements = 0;
  return true;
}

// Nothing if the type has no known size or the size does not fit.
std::optional<std::uint64_t> FieldWalker::SizeOf(
    std::uint64_t type, std::optional<std::uint64_t> elements,
    std::uint64_t row) const {
  const TensorType* known = FindTensorType(static_cast<std::uint32_t>(type));
  if (known == nullptr || !elements) return std::nullopt;
  if (row % known->block_elements != 0) return std::nullopt;
  return CheckedMultiply(*elements / known->block_elements, known->block_bytes);
}

bool FieldWalker::Tensor(std::uint64_t index) {
  const std::string path = "tensor[" + std::to_string(index) + "]";
  if (!TextField(path + ".name.len", path + ".name", 1)) return false;
  const auto n_dims = Number(path + ".n_dims", FieldKind::kCount, 4, 1);
  if (!n_dims) return false;
  std::optional<std::uint64_t> elements;
  std::uint64_t row = 1;
  if (!Dims(path, *n_dims, elements, row)) return false;
  const auto type = Integer(4);
  if (!type) return false;
  Field field;
  field.path = path + ".type";
  field.kind = FieldKind::kType;
  field.offset = pos_;
  field.size = 4;
  field.depth = 1;
  field.number = *type;
  field.tensor_type = true;
  if (values_) field.value = TensorTypeText(*type);
  pos_ += 4;
  visit_(field);
  const auto offset = Number(path + ".offset", FieldKind::kOffset, 8, 1);
  if (!offset) return false;
  entries_.push_back({*offset, SizeOf(*type, elements, row)});
  return true;
}

// The first aligned position from here on, counted from the data start, or for
// the data start itself from the start of the GGUF.
std::uint64_t FieldWalker::Aligned(std::uint64_t position) const {
  const std::uint64_t origin = walk_.data_start != 0 ? walk_.data_start : base_;
  const auto distance = AlignUp(position - origin, walk_.alignment);
  return CheckedAdd(origin, distance.value_or(kU64Max)).value_or(kU64Max);
}

std::vector<FieldWalker::Piece> FieldWalker::PiecesByOffset() {
  std::vector<Piece> pieces;
  for (std::uint64_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.size || *entry.size == 0) continue;
    const auto begin = CheckedAdd(walk_.data_start, entry.offset);
    if (!begin || *begin >= file_size_) continue;
    const std::uint64_t size = std::min(*entry.size, file_size_ - *begin);
    pieces.push_back({*begin, *begin + size, i});
  }
  std::ranges::sort(pieces, [](const Piece& a, const Piece& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.index < b.index;
  });
  return pieces;
}

void FieldWalker::Padding(std::string path, std::uint64_t end) {
  end = std::min(end, file_size_);
  if (end <= pos_) return;
  std::string value;
  const std::uint64_t seen = std::min<std::uint64_t>(end, prefix_.size());
  if (pos_ < seen) {
    const auto bytes = Bytes(pos_, seen - pos_);
    const auto found =
        std::ranges::find_if(bytes, [](std::uint8_t b) { return b != 0; });
    value = found == bytes.end()
                ? "zero"
                : "not zero at " +
                      std::to_string(pos_ + static_cast<std::uint64_t>(
                                                found - bytes.begin()));
  }
  Stretch(std::move(path), FieldKind::kPadding, end, std::move(value));
}

void FieldWalker::Data() {
  const std::uint64_t data_start = Aligned(pos_);
  Padding("padding", data_start);
  walk_.data_start = data_start;
  std::optional<std::uint64_t> last;
  for (const Piece& piece : PiecesByOffset()) {
    const std::string index = "[" + std::to_string(piece.index) + "]";
    if (piece.begin > pos_) {
      if (last) {
        Padding("data.padding[" + std::to_string(*last) + "]",
                std::min(piece.begin, Aligned(pos_)));
      }
      Stretch("data.gap", FieldKind::kGap, piece.begin);
    }
    // Of bytes that several tensors claim the first one has them.
    if (piece.end <= pos_) continue;
    const std::uint64_t hidden = pos_ - piece.begin;
    Stretch("data.tensor" + index, FieldKind::kData, piece.end,
            hidden == 0
                ? ""
                : "from byte " + std::to_string(hidden) + " of the tensor on");
    last = piece.index;
  }
  if (last) {
    Padding("data.padding[" + std::to_string(*last) + "]", Aligned(pos_));
  }
  const bool all_known = std::ranges::all_of(
      entries_, [](const Entry& entry) { return entry.size.has_value(); });
  if (!all_known) Stretch("data.gap", FieldKind::kGap, file_size_);
  Stretch("trailing", FieldKind::kTrailing, file_size_);
}

}  // namespace weightproof::gguf
