// Every field of a possibly broken file, in file order.
//
// The visitor judges nothing. It goes on as long as it can tell where the next
// field is and then reports the rest as one field of kind kUnparsed. The
// fields cover the file without gap or overlap: each byte belongs to exactly
// one field, tensor data, padding and trailing bytes included.
//
// Paths:
//   header.magic header.version header.tensor_count header.kv_count
//   kv[0].key.len kv[0].key kv[0].type
//   kv[0].value                              a scalar, or a string's bytes
//   kv[0].value.len                          a string's or an array's length
//   kv[0].value.elem kv[0].value.items       array: element type, packed run
//   kv[0].value[2].len kv[0].value[2]        a string in an array
//   kv[0].value[2].elem ...                  an array in an array
//   tensor[0].name.len tensor[0].name tensor[0].n_dims tensor[0].dims[1]
//   tensor[0].type tensor[0].offset
//   base                                     bytes before the GGUF
//   padding                                  after the table
//   data.tensor[0]                           bytes of a tensor
//   data.padding[0]                          after the bytes of tensor 0
//   data.gap                                 bytes no tensor owns
//   trailing                                 after the padded end
//   unparsed
#ifndef WEIGHTPROOF_REFERENCE_GGUF_FIELDS_H_
#define WEIGHTPROOF_REFERENCE_GGUF_FIELDS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "reference/gguf/reader.h"

namespace weightproof::gguf {

enum class FieldKind : std::uint8_t {
  kBase,      // bytes before the GGUF
  kMagic,     // 4 bytes
  kVersion,   // u32
  kCount,     // tensor_count, kv_count, n_dims
  kLength,    // of a string (bytes) or an array (elements)
  kType,      // value type, element type, tensor type
  kScalar,    // one value of a fixed-size type
  kItems,     // packed elements of a fixed-size type
  kText,      // bytes of a key, name or string; may be empty
  kDim,       // one dim
  kOffset,    // tensor offset
  kData,      // bytes of a tensor
  kPadding,   // bytes up to the alignment
  kGap,       // bytes of the data part that belong to no tensor
  kTrailing,  // bytes after the padded end
  kUnparsed,  // the rest after a failure
};

// "magic", "length", ...
std::string_view ToString(FieldKind kind);

struct Field {
  std::string path;
  FieldKind kind = FieldKind::kUnparsed;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t size = 0;    // bytes; 0 only for kText and kItems
  // For people: "3", "\"general.alignment\"", "u32", "0x3fc00000 (1.5)".
  // Long ones are abbreviated.
  std::string value;
  int depth = 0;  // 0 header and data, 1 kv and tensor, 2.. inside arrays

  // kCount, kLength, kType, kVersion, kDim, kOffset and integer kScalar: the
  // number read (sign-extended for signed types). kItems: how many elements.
  std::uint64_t number = 0;
  // kScalar, kItems: the ValueType of it. kLength: kString or kArray.
  std::uint32_t type = 0;
  // kType: true if the field holds a tensor type, false if a value type.
  bool tensor_type = false;
};

// What the walk found out.
struct FieldWalk {
  bool complete = false;   // no kUnparsed field was needed
  std::uint64_t stop = 0;  // where the kUnparsed field starts
  std::string problem;     // why, in words; empty if complete
  std::uint32_t version = 0;
  bool big_endian = false;
  std::uint64_t alignment = 32;  // as stated, or 32 if it cannot be used
  std::uint64_t data_start = 0;  // 0 if the table was not read to its end
};

// Calls visit for every field in file order. Profile-free: a file that breaks
// rules is walked on as long as its structure can be told. values: whether
// Field::value is wanted, which is most of the work.
FieldWalk VisitFields(const Input& input,
                      const std::function<void(const Field&)>& visit,
                      bool values = true);

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_FIELDS_H_
