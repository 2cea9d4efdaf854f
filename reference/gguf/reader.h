// The trusted GGUF reader: plain, slow and obvious. SPEC.md beside this file
// says in words what it does.
//
// Parse() reads the header of a file (everything up to the tensor data) from a
// prefix of the file and the file's size, and judges it under a profile: the
// first failing check, in the order of SPEC.md, gives the rule and the byte
// offset. Nothing is copied: positions refer to the caller's bytes. Peak
// allocation is at most 1 MiB + 16 x header bytes; time is n log n in keys,
// array elements and tensors.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_READER_H_
#define WEIGHTPROOF_REFERENCE_GGUF_READER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference/gguf/profile.h"
#include "reference/rule.h"

namespace weightproof::gguf {

// The reference's own caps: one above is Cell::kLimit.
inline constexpr std::uint64_t kMaxStringBytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMaxArrayElements = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMaxEntries = std::uint64_t{1} << 30;
inline constexpr std::uint32_t kMaxArrayLevels = 64;  // outermost = 1
// The text's limits.
inline constexpr std::uint64_t kMaxKeyBytes = 65535;
inline constexpr std::uint64_t kMaxNameBytes = 64;
inline constexpr std::uint32_t kMaxDims = 4;
inline constexpr std::uint64_t kMaxElements =
    (std::uint64_t{1} << 63) - 1;  // of a dim, and of a tensor

// Elementary steps of a parse: what a test of its growth counts.
struct Work {
  std::uint64_t fields = 0;       // fields read
  std::uint64_t comparisons = 0;  // of keys, names, tensor ranges
};

struct Input {
  // The first bytes of the file. At most file_size; must outlive the File.
  std::span<const std::uint8_t> prefix;
  std::uint64_t file_size = 0;
  // The GGUF starts here in the file.
  std::uint64_t base = 0;
  // Judge gguf.kv.required.keys.
  bool require_keys = false;
  Work* work = nullptr;
};

// Bytes [begin, begin + size) of the file.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

// All positions are positions in the file, the base included.
struct KeyValue {
  std::uint64_t entry = 0;  // the key's length field
  Range key;                // the key's bytes
  Range value;  // the value's bytes, length fields and array headers included
  std::uint32_t type = 0;  // ValueType

  std::uint64_t TypeField() const { return key.begin + key.size; }
};

struct Tensor {
  std::uint64_t entry = 0;  // the name's length field
  Range name;
  std::uint32_t n_dims = 0;
  std::uint32_t type = 0;
  std::array<std::uint64_t, kMaxDims> dims{};  // the first n_dims; [0] = row
  std::uint64_t offset = 0;                    // relative to the data start
  std::uint64_t size = 0;                      // bytes without padding
  std::uint64_t offset_field = 0;

  std::uint64_t NDimsField() const { return name.begin + name.size; }
  // dims[0], or n_dims if there is none.
  std::uint64_t FirstDimField() const {
    return n_dims == 0 ? NDimsField() : NDimsField() + 4;
  }
};

// An accepted file.
struct File {
  std::span<const std::uint8_t> prefix;
  std::uint64_t file_size = 0;
  std::uint64_t base = 0;
  std::uint32_t version = 0;
  bool big_endian = false;
  std::uint64_t alignment = 0;
  std::uint64_t entries_end = 0;  // end of the tensor entries
  // entries_end rounded up to the alignment; may lie past the end of a file
  // without tensors. Saturates at 2^64-1.
  std::uint64_t data_start = 0;
  std::deque<KeyValue> kv;     // in file order
  std::deque<Tensor> tensors;  // in file order
  // Rules met whose verdict is policy: each once, in the order met.
  std::vector<RuleIndex> policies;
  // All padding bytes between and after tensors lay inside the prefix and were
  // looked at. (Those of the header always are: it ends at the data start.)
  bool padding_checked = true;

  // Bytes of the prefix; the range must come from this file's fields.
  std::span<const std::uint8_t> Bytes(Range range) const;
  // Width of lengths, counts and dims: 8, in version 1 4.
  std::uint64_t LengthWidth() const { return version == 1 ? 4 : 8; }
  // Number of the entry that gives a key its value; nothing if it is absent.
  std::optional<std::size_t> Find(std::span<const std::uint8_t> key,
                                  bool last = true) const;
};

// Why a parse ended without a File.
struct Stop {
  RuleIndex rule = kNoRule;      // kNoRule: the prefix is too short
  Cell verdict = Cell::kReject;  // kReject, kUnsupported or kLimit
  std::uint64_t offset = 0;      // in the file, the base included
  // At least this many bytes beyond the prefix are needed; 0 if it is a rule.
  std::uint64_t need_bytes = 0;
  std::string detail;  // for people
};

std::expected<File, Stop> Parse(const Input& input, const Profile& profile);

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_READER_H_
