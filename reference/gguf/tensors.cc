// Stage 6: tensor entries.
#include "reference/gguf/checked.h"
#include "reference/gguf/stages.h"
#include "reference/gguf/text.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf {
namespace {

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
constexpr std::uint32_t kTypeSignBit = std::uint32_t{1} << 31;

bool CheckNameLength(Context& c, std::uint64_t length, std::uint64_t at) {
  if (length > c.Left()) {
    return c.Refuse(rules::kTensorNamePastEof, at,
                    "name of " + std::to_string(length) + " bytes, " +
                        std::to_string(c.Left()) + " left");
  }
  if (length == 0 && !c.Permits(rules::kTensorNameEmpty, at, "empty name")) {
    return false;
  }
  if (length == kMaxNameBytes &&
      !c.Permits(rules::kTensorNameLength64, at, "name of 64 bytes")) {
    return false;
  }
  if (length > kMaxNameBytes &&
      !c.Permits(rules::kTensorNameTooLong, at,
                 "name of " + std::to_string(length) + " bytes")) {
    return false;
  }
  return length <= kMaxStringBytes ||
         c.Refuse(rules::kLimitStringCap, at, "name of more than 2^30 bytes");
}

bool CheckNameText(Context& c, Range name) {
  const Text text = c.file.Bytes(name);
  if (const auto i = FirstInvalidUtf8(text);
      i && !c.Permits(rules::kTensorNameUtf8Invalid, name.begin + *i,
                      "name is not UTF-8")) {
    return false;
  }
  const auto i = FirstNul(text);
  return !i ||
         c.Permits(rules::kTensorNameNul, name.begin + *i, "NUL in a name");
}

bool CheckNameIsNew(Context& c, NameSet& seen, const Tensor& tensor) {
  const bool alike = seen.HasEqualUpToNul(tensor.name);
  if (!seen.Insert(tensor.name)) {
    return c.Permits(rules::kTensorNameDuplicate, tensor.entry,
                     "name repeated");
  }
  return !alike || c.Permits(rules::kTensorNameDistinctAfterNul, tensor.entry,
                             "name repeated up to a NUL");
}

bool ReadName(Context& c, NameSet& seen, Tensor& tensor) {
  tensor.entry = c.pos();
  const auto length = c.Length(rules::kTensorEntryTruncated);
  if (!length || !CheckNameLength(c, *length, tensor.entry)) return false;
  if (!c.Have(*length, rules::kTensorNamePastEof)) return false;
  tensor.name = {c.pos(), *length};
  c.Skip(*length);
  return CheckNameText(c, tensor.name) && CheckNameIsNew(c, seen, tensor);
}

bool ReadDims(Context& c, Tensor& tensor) {
  const auto n_dims = c.U32(rules::kTensorEntryTruncated);
  if (!n_dims) return false;
  tensor.n_dims = *n_dims;
  if (tensor.n_dims > kMaxDims) {
    return c.Refuse(rules::kTensorNDimsTooMany, tensor.NDimsField(),
                    std::to_string(tensor.n_dims) + " dims");
  }
  if (tensor.n_dims == 0 &&
      !c.Permits(rules::kTensorNDimsZero, tensor.NDimsField(), "no dims")) {
    return false;
  }
  for (std::uint32_t i = 0; i < tensor.n_dims; ++i) {
    const std::uint64_t at = c.pos();
    const auto dim = c.Length(rules::kTensorEntryTruncated);
    if (!dim) return false;
    if (*dim >= kSignBit) {
      return c.Refuse(rules::kTensorDimSignBit, at,
                      "dim " + std::to_string(i) + " is 2^63 or more");
    }
    tensor.dims[i] = *dim;
  }
  return true;
}

// The product of the dims: 1 of none, 0 if any is 0 however large the others.
bool CountElements(Context& c, const Tensor& tensor, std::uint64_t& elements) {
  elements = 1;
  for (std::uint32_t i = 0; i < tensor.n_dims; ++i) {
    if (tensor.dims[i] == 0) {
      elements = 0;
      return true;
    }
  }
  for (std::uint32_t i = 0; i < tensor.n_dims; ++i) {
    const auto product = CheckedMultiply(elements, tensor.dims[i]);
    if (!product || *product > kMaxElements) {
      return c.Refuse(rules::kTensorElementsOverflow,
                      tensor.FirstDimField() + i * c.file.LengthWidth(),
                      "more than 2^63-1 elements");
    }
    elements = *product;
  }
  return true;
}

// Types that only some readers know.
bool CheckTypeTier(Context& c, const TensorType& type, std::uint64_t at) {
  switch (type.tier) {
    case TypeTier::kCommon:
      return true;
    case TypeTier::kIntermediate:
      return c.Permits(rules::kTensorTypeIntermediate, at, type.name);
    case TypeTier::kExtended:
      return c.Permits(rules::kTensorTypeExtended, at, type.name);
    case TypeTier::kNewer:
      return c.Permits(rules::kTensorTypeNewer, at, type.name);
    case TypeTier::kFork:
      return c.Permits(rules::kTensorTypeForkPtq10, at, type.name);
  }
  return false;
}

const TensorType* ReadType(Context& c, Tensor& tensor) {
  const std::uint64_t at = c.pos();
  const auto id = c.U32(rules::kTensorEntryTruncated);
  if (!id) return nullptr;
  tensor.type = *id;
  const std::string detail = "tensor type " + std::to_string(*id);
  if (*id >= kTypeSignBit) {
    c.Refuse(rules::kTensorTypeSignBit, at, detail);
    return nullptr;
  }
  if (IsWithdrawnTensorType(*id)) {
    c.Refuse(rules::kTensorTypeWithdrawn, at, detail);
    return nullptr;
  }
  const TensorType* type = FindTensorType(*id);
  if (type == nullptr) {
    c.Refuse(rules::kTensorTypeUnknown, at, detail);
    return nullptr;
  }
  return CheckTypeTier(c, *type, at) ? type : nullptr;
}

bool CheckSize(Context& c, const TensorType& type, std::uint64_t elements,
               Tensor& tensor) {
  const std::uint64_t at = tensor.FirstDimField();
  const std::uint64_t row = tensor.n_dims == 0 ? 1 : tensor.dims[0];
  if (row % type.block_elements != 0) {
    return c.Refuse(rules::kTensorRowBlockMultiple, at,
                    "rows of " + std::to_string(row) + " elements, blocks of " +
                        std::to_string(type.block_elements));
  }
  const auto size =
      CheckedMultiply(elements / type.block_elements, type.block_bytes);
  if (!size) {
    return c.Refuse(rules::kTensorBytesOverflow, at,
                    "the size does not fit in 64 bits");
  }
  if (!AlignUp(*size, c.file.alignment)) {
    return c.Refuse(rules::kTensorBytesPadOverflow, at,
                    "the padded size does not fit in 64 bits");
  }
  tensor.size = *size;
  return true;
}

bool ReadTensor(Context& c, NameSet& seen) {
  Tensor tensor;
  std::uint64_t elements = 0;
  if (!ReadName(c, seen, tensor) || !ReadDims(c, tensor) ||
      !CountElements(c, tensor, elements)) {
    return false;
  }
  const TensorType* type = ReadType(c, tensor);
  if (type == nullptr || !CheckSize(c, *type, elements, tensor)) return false;
  tensor.offset_field = c.pos();
  // 64 bits in every version.
  const auto offset = c.Integer(8, rules::kTensorEntryTruncated);
  if (!offset) return false;
  tensor.offset = *offset;
  c.file.tensors.push_back(tensor);
  return true;
}

}  // namespace

bool ReadTensors(Context& c) {
  NameSet seen(c.file, c.work());
  for (std::uint64_t i = 0; i < c.tensor_count; ++i) {
    if (!ReadTensor(c, seen)) return false;
  }
  c.file.entries_end = c.pos();
  return true;
}

}  // namespace weightproof::gguf
