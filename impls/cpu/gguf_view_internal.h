// The parts of the optimized GGUF reader. Not for users: see gguf_view.h.
#ifndef WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_INTERNAL_H_
#define WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_INTERNAL_H_

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "impls/cpu/gguf_view.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {
namespace gguf_internal {

inline constexpr std::uint32_t kBool = 7, kString = 8, kArray = 9;
inline constexpr std::uint32_t kValueTypes = 13;
inline constexpr std::uint64_t kCap = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMaxLevel = 64;

// Bytes of a value type's fixed-size values; 0 for strings and arrays.
inline constexpr std::uint8_t kWidth[kValueTypes] = {1, 1, 2, 2, 4, 4, 4,
                                                     1, 0, 0, 8, 8, 8};

// A ggml type: elements and bytes of a block, and the rule that speaks of it.
// bytes is 0 if the size is not known.
struct TensorType {
  std::uint16_t elements;
  std::uint16_t bytes;
  RuleIndex rule;
};
TensorType FindTensorType(std::uint32_t id);

// Integers of a file as laid out by its version and byte order.
struct Layout {
  const std::uint8_t* data = nullptr;
  bool wide = true;  // counts, lengths, dims of 8 bytes (version 1: 4)
  bool swap = false;

  std::uint64_t word() const { return wide ? 8 : 4; }
  std::uint32_t U32(std::uint64_t at) const {
    std::uint32_t value;
    std::memcpy(&value, data + at, sizeof value);
    return swap ? __builtin_bswap32(value) : value;
  }
  std::uint64_t U64(std::uint64_t at) const {
    std::uint64_t value;
    std::memcpy(&value, data + at, sizeof value);
    return swap ? __builtin_bswap64(value) : value;
  }
  std::uint64_t Word(std::uint64_t at) const {
    return wide ? U64(at) : U32(at);
  }
};
static_assert(std::endian::native == std::endian::little);

// What a profile does about the rules, and what it has done so far.
class Judge {
 public:
  explicit Judge(GgufProfile profile);

  // Whether breaking the rule makes a difference.
  bool Cares(RuleIndex rule) const { return actions_[rule] != Cell::kAccept; }
  bool CaresAny(std::initializer_list<RuleIndex> rules) const {
    for (RuleIndex rule : rules) {
      if (Cares(rule)) return true;
    }
    return false;
  }
  // The rule is broken at offset. True: stop here.
  bool Stops(RuleIndex rule, std::uint64_t offset);

  const GgufFinding& finding() const { return finding_; }
  std::vector<RuleIndex> TakePolicies() { return std::move(policies_); }

 private:
  std::span<const Cell> actions_;  // by rule
  GgufFinding finding_{Cell::kAccept, kNoRule, WP_NO_OFFSET};
  std::vector<RuleIndex> policies_;
};

// A set of byte strings that stay where they are. A keyed hash with a key
// drawn once for each process: no file can choose its collisions.
class NameSet {
 public:
  // False: an equal name is there already.
  bool Insert(std::string_view name) { return Insert(name, HashOf(name)); }
  // The same in two steps, so that memory answers meanwhile.
  static std::uint32_t HashOf(std::string_view name);
  void Prefetch(std::uint32_t hash) const {
    if (slots_.empty()) return;
    __builtin_prefetch(&slots_[hash & (slots_.size() - 1)], 1);
  }
  bool Insert(std::string_view name, std::uint32_t hash);
  std::uint64_t size() const { return used_; }
  // The most slots that finding a name of the set looks at. For tests: walks
  // over the whole set.
  std::uint64_t LongestProbe() const;

 private:
  struct Slot {
    const char* data;
    std::uint32_t size;
    std::uint32_t hash;
  };
  Slot* Find(std::string_view name, std::uint32_t hash);
  void Grow();

  std::vector<Slot> slots_;  // a power of two of them; data null: free
  std::uint64_t used_ = 0;
};

// Where the first ill-formed UTF-8 sequence of text begins, or text.size().
std::uint64_t FirstIllFormed(std::string_view text);

// Walks over strings of an array that lie wholly in data[at, end) and are
// shorter than 128 bytes, at most *count of them; at and count move along.
// With check, those walked over are well-formed UTF-8, and the walk stops
// before one that is not: then false.
bool WalkShortStrings(const Layout& layout, std::uint64_t end, bool check,
                      std::uint64_t* at, std::uint64_t* count);

// The first non-zero byte of data[from, to), or to.
std::uint64_t FirstNonZero(const std::uint8_t* data, std::uint64_t from,
                           std::uint64_t to);

// The next multiple of alignment, alignment > 0; false if beyond 64 bits.
bool RoundUp(std::uint64_t value, std::uint64_t alignment,
             std::uint64_t* rounded);

// One parse: phases in the order of the specification, over one position.
class Reader {
 public:
  explicit Reader(const GgufInput& input);
  GgufResult Run();

 private:
  // Phases and their parts return false when the answer is known.
  bool Magic();
  bool Version();
  bool Counts();
  bool KeyValues();
  bool Alignment();
  bool Tensors();
  bool RequiredKeys();
  bool DataStart();
  bool Placement();
  bool Overlaps();
  bool TableOrder();
  bool Extents();
  bool HeaderPadding();
  bool TensorPadding();
  bool Tail();

  bool Entries();
  bool Key();
  bool DistinctKey(std::string_view key, std::uint64_t at);
  bool InsertKey();
  bool KeyText(std::string_view key, std::uint64_t at);
  bool Value(std::uint32_t type);
  bool String();
  bool Array();
  bool ArrayHeader(std::uint64_t level, std::uint32_t* element,
                   std::uint64_t* count);
  bool Elements(std::uint32_t element, std::uint64_t count);
  bool Strings(std::uint64_t count);
  bool AlignmentType(const GgufKv& kv, std::uint64_t* value);

  bool Tensor();
  bool TensorName(std::string_view* name);
  bool DistinctName(std::string_view name, std::uint64_t at);
  bool Dims(GgufTensor* tensor, std::uint64_t* elements);
  bool TypeAndSize(std::uint64_t elements, GgufTensor* tensor);

  std::uint64_t left() const { return file_size_ - pos_; }
  std::uint64_t OffsetField(const GgufTensor& tensor) const {
    return tensor.dims + tensor.n_dims * in_.word() + 4;
  }
  // The next size bytes are a field: if the file ends inside, truncated.
  bool Have(std::uint64_t size, RuleIndex truncated);
  // The next size bytes, which the file has, are in the prefix.
  bool Loaded(std::uint64_t size);
  bool Fail(RuleIndex rule, std::uint64_t at) {
    return !judge_.Stops(rule, at);
  }
  std::string_view Text(std::uint64_t at, std::uint64_t size) const {
    return {reinterpret_cast<const char*>(in_.data) + at, size};
  }

  const GgufInput& input_;
  const std::uint64_t file_size_;
  const std::uint64_t loaded_;  // bytes of prefix
  Judge judge_;
  Layout in_;
  GgufView view_;
  std::uint64_t pos_ = 0;
  std::uint64_t needs_ = 0;
  std::uint64_t kv_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  NameSet names_;  // keys, then tensor names
  // Keys on their way into the set, the oldest at first_key_: the slots of
  // many are fetched at once.
  struct PendingKey {
    std::string_view key;
    std::uint64_t at;
    std::uint32_t hash;
  };
  static constexpr std::uint64_t kPending = 16;
  std::array<PendingKey, kPending> pending_keys_;
  std::uint64_t first_key_ = 0, pending_ = 0;
  NameSet cut_names_;  // tensor names up to a NUL, once one has a NUL
  bool cut_ = false;
  bool check_key_text_ = false;
  std::uint64_t alignment_key_ = UINT64_MAX;  // its index
  bool has_architecture_ = false;
  bool has_quantization_version_ = false;
  bool quantized_ = false;
  std::vector<std::uint32_t> order_;  // non-empty tensors by offset
  std::vector<std::uint64_t> open_;   // array levels: elements left in each
};

}  // namespace gguf_internal
}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_INTERNAL_H_
