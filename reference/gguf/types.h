// The two type tables of GGUF: types of metadata values and types of tensors.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_TYPES_H_
#define WEIGHTPROOF_REFERENCE_GGUF_TYPES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weightproof::gguf {

// Types of metadata values (source: the GGUF text, gguf_metadata_value_type).
enum ValueType : std::uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
  kValueTypes = 13,  // this and above: undefined
};

// "u8" .. "f64"; "unknown" from kValueTypes on.
std::string_view ValueTypeName(std::uint32_t type);

// Bytes of one value of a fixed-size type; 0 for strings, arrays and unknown
// types.
std::uint64_t ValueWidth(std::uint32_t type);

// Which readers know a tensor type.
enum class TypeTier : std::uint8_t {
  kCommon,        // every reader
  kIntermediate,  // 9 Q8_1 and 15 Q8_K
  kExtended,      // 16..29, 34, 35, 39
  kNewer,         // 40..42: in ggml's enumeration, not yet in the text
  kFork,          // 143 PTQ1_0: a fork's own
};

// A tensor type with a known size: block_elements consecutive elements of a
// row are stored in block_bytes bytes.
struct TensorType {
  std::uint32_t id;
  std::string_view name;
  std::uint64_t block_elements;
  std::uint64_t block_bytes;
  TypeTier tier;
};

// All tensor types with a size, by id.
std::span<const TensorType> TensorTypes();

// The type with this id, or null: withdrawn or unknown.
const TensorType* FindTensorType(std::uint32_t id);

// Ids that once had a meaning and never will again: 4, 5, 31-33, 36-38.
bool IsWithdrawnTensorType(std::uint32_t id);

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_TYPES_H_
