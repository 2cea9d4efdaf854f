// Keys, values and the alignment.
#include <algorithm>
#include <array>

#include "impls/cpu/gguf_view_internal.h"
#include "reference/gguf/rules.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {
namespace gguf_internal {
namespace rules = gguf::rules;

namespace {

// What a byte is to a key.
enum ByteClass : std::uint8_t {
  kWordByte = 0,  // a-z 0-9 _
  kDot = 1,
  kOther = 2,
  kSpace = 4,  // or a control character
  kNul = 8,
  kHigh = 16,
};

constexpr std::array<std::uint8_t, 256> kByteClass = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < 256; ++c) {
    const bool word =
        (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    table[c] = word                     ? kWordByte
               : c == '.'               ? kDot
               : c == 0                 ? kNul
               : c >= 0x80              ? kHigh
               : c <= 0x20 || c == 0x7f ? kSpace
                                        : kOther;
  }
  return table;
}();

std::uint64_t FindClass(std::string_view text, std::uint8_t classes) {
  std::uint64_t i = 0;
  while (i < text.size() &&
         (kByteClass[static_cast<std::uint8_t>(text[i])] & classes) == 0) {
    ++i;
  }
  return i;
}

bool HasEmptySegment(std::string_view key) {
  return key.front() == '.' || key.back() == '.' ||
         key.find("..") != std::string_view::npos;
}

}  // namespace

// A repeated key is an earlier fault than whatever ended the reading behind it.
bool Reader::KeyValues() {
  const bool read = Entries();
  while (pending_ > 0) {
    if (!InsertKey()) return false;
  }
  return read;
}

bool Reader::DistinctKey(std::string_view key, std::uint64_t at) {
  if (pending_ == kPending && !InsertKey()) return false;
  const std::uint32_t hash = NameSet::HashOf(key);
  names_.Prefetch(hash);
  pending_keys_[(first_key_ + pending_) % kPending] = {key, at, hash};
  ++pending_;
  return true;
}

// The oldest of those on their way.
bool Reader::InsertKey() {
  const PendingKey& key = pending_keys_[first_key_];
  first_key_ = (first_key_ + 1) % kPending;
  --pending_;
  if (names_.Insert(key.key, key.hash) ||
      Fail(rules::kKvKeyDuplicate, key.at)) {
    return true;
  }
  pending_ = 0;
  return false;
}

bool Reader::Entries() {
  view_.kvs.reserve(std::min<std::uint64_t>(kv_count_, 4096));
  for (std::uint64_t i = 0; i < kv_count_; ++i) {
    if (!Key()) return false;
    if (!Have(4, rules::kKvEntryTruncated)) return false;
    const std::uint64_t type_at = pos_;
    const std::uint32_t type = in_.U32(type_at);
    pos_ += 4;
    if (type >= kValueTypes) return Fail(rules::kKvTypeUnknown, type_at);
    view_.kvs.back().type = type;
    view_.kvs.back().value = pos_;
    if (!Value(type)) return false;
  }
  return true;
}

bool Reader::Key() {
  const std::uint64_t at = pos_, word = in_.word();
  if (!Have(word, rules::kKvEntryTruncated)) return false;
  const std::uint64_t size = in_.Word(at);
  pos_ += word;
  if (size >> 63 != 0) return Fail(rules::kKvKeyLengthWrap, at);
  if (size > left()) return Fail(rules::kKvKeyPastEof, at);
  if (size == 0 && !Fail(rules::kKvKeyEmpty, at)) return false;
  if (size > 65535 && !Fail(rules::kKvKeyTooLong, at)) return false;
  if (size > kCap && !Fail(rules::kLimitStringCap, at)) return false;
  if (!Loaded(size)) return false;
  const std::string_view key = Text(pos_, size);
  if (check_key_text_ && size != 0 && !KeyText(key, pos_)) {
    return false;
  }
  if (judge_.Cares(rules::kKvKeyDuplicate) && !DistinctKey(key, at)) {
    return false;
  }
  pos_ += size;
  if (key == "general.alignment") alignment_key_ = view_.kvs.size();
  has_architecture_ |= key == "general.architecture";
  has_quantization_version_ |= key == "general.quantization_version";
  view_.kvs.push_back({key, 0, 0});
  return true;
}

bool Reader::KeyText(std::string_view key, std::uint64_t at) {
  std::uint8_t classes = 0;
  for (const char c : key) classes |= kByteClass[static_cast<std::uint8_t>(c)];
  if (classes == kWordByte) return true;
  if ((classes & kHigh) != 0) {
    const std::uint64_t bad = FirstIllFormed(key);
    if (bad < key.size() && !Fail(rules::kKvKeyUtf8Invalid, at + bad)) {
      return false;
    }
  }
  if ((classes & kNul) != 0) {
    const std::uint64_t nul = FindClass(key, kNul);
    if (!Fail(nul + 1 < key.size() ? rules::kKvKeyNulEmbedded
                                   : rules::kKvKeyNulTrailing,
              at + nul)) {
      return false;
    }
  }
  if ((classes & kHigh) != 0 &&
      !Fail(rules::kKvKeyNonAscii, at + FindClass(key, kHigh))) {
    return false;
  }
  if ((classes & kSpace) != 0 &&
      !Fail(rules::kKvKeyWhitespace, at + FindClass(key, kSpace))) {
    return false;
  }
  if ((classes & ~kDot) == 0 && !HasEmptySegment(key)) return true;
  return Fail(rules::kKvKeyGrammar, at);
}

bool Reader::Value(std::uint32_t type) {
  if (type == kString) return String();
  if (type == kArray) return Array();
  const std::uint64_t at = pos_;
  if (!Have(kWidth[type], rules::kKvEntryTruncated)) return false;
  pos_ += kWidth[type];
  return type != kBool || in_.data[at] <= 1 || Fail(rules::kKvBoolRange, at);
}

bool Reader::String() {
  const std::uint64_t at = pos_, word = in_.word();
  if (!Have(word, rules::kKvEntryTruncated)) return false;
  const std::uint64_t size = in_.Word(at);
  pos_ += word;
  if (size >> 63 != 0) return Fail(rules::kKvStringLengthWrap, at);
  if (size > left()) return Fail(rules::kKvStringPastEof, at);
  if (size > kCap && !Fail(rules::kLimitStringCap, at)) return false;
  if (!Loaded(size)) return false;
  const std::uint64_t text_at = pos_;
  pos_ += size;
  if (!judge_.Cares(rules::kKvStringUtf8Invalid)) return true;
  const std::uint64_t bad = FirstIllFormed(Text(text_at, size));
  return bad == size || Fail(rules::kKvStringUtf8Invalid, text_at + bad);
}

// Levels are kept on a heap-allocated stack: hostile nesting costs bytes of
// the file, never the program's stack.
bool Reader::Array() {
  open_.clear();
  for (;;) {
    std::uint32_t element = 0;
    std::uint64_t count = 0;
    if (!ArrayHeader(open_.size() + 1, &element, &count)) return false;
    if (element == kArray && count > 0) {
      open_.push_back(count);
      continue;
    }
    if (element != kArray && !Elements(element, count)) return false;
    while (!open_.empty() && --open_.back() == 0) open_.pop_back();
    if (open_.empty()) return true;
  }
}

bool Reader::ArrayHeader(std::uint64_t level, std::uint32_t* element,
                         std::uint64_t* count) {
  const std::uint64_t type_at = pos_;
  if (!Have(4, rules::kKvEntryTruncated)) return false;
  *element = in_.U32(type_at);
  pos_ += 4;
  const bool known = *element < kValueTypes;
  if (known && *element == kArray) {
    const std::uint64_t opened = level + 1;
    if (!Fail(opened == 2           ? rules::kArrayNestedDepth2
              : opened <= kMaxLevel ? rules::kArrayNestedWithinLimit
                                    : rules::kArrayNestedDepthLimit,
              type_at)) {
      return false;
    }
  }
  const std::uint64_t at = pos_;
  if (!Have(in_.word(), rules::kKvEntryTruncated)) return false;
  *count = in_.Word(at);
  pos_ += in_.word();
  if (!known) {
    return Fail(
        *count == 0 ? rules::kArrayElemUnknownEmpty : rules::kArrayElemUnknown,
        type_at);
  }
  const std::uint64_t smallest = *element == kString  ? in_.word()
                                 : *element == kArray ? in_.word() + 4
                                                      : kWidth[*element];
  if (*count > UINT64_MAX / smallest) return Fail(rules::kArrayLengthWrap, at);
  if (*count > left() / smallest) return Fail(rules::kArrayLengthPastEof, at);
  return *count <= kCap || Fail(rules::kLimitArrayCap, at);
}

bool Reader::Elements(std::uint32_t element, std::uint64_t count) {
  if (element == kString) return Strings(count);
  const std::uint64_t at = pos_, size = count * kWidth[element];
  if (!Loaded(size)) return false;
  pos_ += size;
  if (element != kBool || !judge_.Cares(rules::kArrayBoolRange)) return true;
  for (std::uint64_t i = at; i < pos_; ++i) {
    if (in_.data[i] > 1) return Fail(rules::kArrayBoolRange, i);
  }
  return true;
}

bool Reader::Strings(std::uint64_t count) {
  const bool check = judge_.Cares(rules::kKvStringUtf8Invalid);
  while (count > 0) {
    WalkShortStrings(in_, loaded_, check, &pos_, &count);
    if (count == 0) break;
    // Long, near the end, or faulty.
    if (!String()) return false;
    --count;
  }
  return true;
}

bool Reader::Alignment() {
  if (alignment_key_ == UINT64_MAX) return true;
  const GgufKv& kv = view_.kvs[alignment_key_];
  std::uint64_t value = 0;
  if (kv.type == 4) {
    value = in_.U32(kv.value);
  } else if (!AlignmentType(kv, &value)) {
    return false;
  }
  view_.alignment = value;
  const bool power = std::has_single_bit(value);
  if (value == 0) return Fail(rules::kAlignValueZero, kv.value);
  if (value % 8 == 0) {
    return power || Fail(rules::kAlignValueMultipleOf8, kv.value);
  }
  return Fail(
      power ? rules::kAlignValuePow2Below8 : rules::kAlignValueNotMultipleOf8,
      kv.value);
}

// The value of an alignment that is not u32, where the profile goes on: that
// of an integer of at most 32 bits that is not negative, else 32.
bool Reader::AlignmentType(const GgufKv& kv, std::uint64_t* value) {
  const std::uint64_t field = kv.value - 4;
  std::int64_t number = 0;
  std::uint16_t u16 = 0;
  switch (kv.type) {
    case 0:
      number = in_.data[kv.value];
      break;
    case 1:
      number = static_cast<std::int8_t>(in_.data[kv.value]);
      break;
    case 2:
    case 3:
      std::memcpy(&u16, in_.data + kv.value, sizeof u16);
      if (in_.swap) u16 = __builtin_bswap16(u16);
      number = kv.type == 2 ? u16 : static_cast<std::int16_t>(u16);
      break;
    case 5:
      number = static_cast<std::int32_t>(in_.U32(kv.value));
      break;
    default:
      *value = 32;
      return Fail(kv.type == 10 || kv.type == 11 ? rules::kAlignTypeInt64
                                                 : rules::kAlignTypeOther,
                  field);
  }
  *value = number < 0 ? 32 : static_cast<std::uint64_t>(number);
  return Fail(
      number < 0 ? rules::kAlignTypeNegative : rules::kAlignTypeSmallInt,
      field);
}

}  // namespace gguf_internal
}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls
