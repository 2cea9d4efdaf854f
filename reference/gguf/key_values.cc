// Stage 4: metadata entries.
#include "reference/gguf/stages.h"
#include "reference/gguf/text.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf {
namespace {

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

bool CheckKeyLength(Context& c, std::uint64_t length, std::uint64_t at) {
  if (length >= kSignBit) {
    return c.Refuse(rules::kKvKeyLengthWrap, at, "key length is 2^63 or more");
  }
  if (length > c.Left()) {
    return c.Refuse(rules::kKvKeyPastEof, at,
                    "key of " + std::to_string(length) + " bytes, " +
                        std::to_string(c.Left()) + " left");
  }
  if (length == 0 && !c.Permits(rules::kKvKeyEmpty, at, "empty key")) {
    return false;
  }
  if (length > kMaxKeyBytes &&
      !c.Permits(rules::kKvKeyTooLong, at, "key of more than 65535 bytes")) {
    return false;
  }
  return length <= kMaxStringBytes ||
         c.Refuse(rules::kLimitStringCap, at, "key of more than 2^30 bytes");
}

bool CheckKeyNul(Context& c, Range key, Text text) {
  const auto nul = FirstNul(text);
  if (!nul) return true;
  if (*nul + 1 < text.size() &&
      !c.Permits(rules::kKvKeyNulEmbedded, key.begin + *nul, "NUL in a key")) {
    return false;
  }
  return text.back() != 0 ||
         c.Permits(rules::kKvKeyNulTrailing, key.begin + key.size - 1,
                   "key ends in NUL");
}

bool CheckKeyText(Context& c, Range key) {
  const Text text = c.file.Bytes(key);
  if (const auto i = FirstInvalidUtf8(text);
      i && !c.Permits(rules::kKvKeyUtf8Invalid, key.begin + *i,
                      "key is not UTF-8")) {
    return false;
  }
  if (!CheckKeyNul(c, key, text)) return false;
  if (const auto i = FirstNonAscii(text);
      i &&
      !c.Permits(rules::kKvKeyNonAscii, key.begin + *i, "key is not ASCII")) {
    return false;
  }
  if (const auto i = FirstSpaceOrControl(text);
      i && !c.Permits(rules::kKvKeyWhitespace, key.begin + *i,
                      "space or control character in a key")) {
    return false;
  }
  const auto i = FirstBreakOfKeyGrammar(text);
  return !i || c.Permits(rules::kKvKeyGrammar, key.begin + *i,
                         "key is not lower_snake_case segments");
}

bool ReadKey(Context& c, NameSet& seen, KeyValue& kv) {
  kv.entry = c.pos();
  const auto length = c.Length(rules::kKvEntryTruncated);
  if (!length || !CheckKeyLength(c, *length, kv.entry)) return false;
  if (!c.Have(*length, rules::kKvKeyPastEof)) return false;
  kv.key = {c.pos(), *length};
  c.Skip(*length);
  if (!CheckKeyText(c, kv.key)) return false;
  return seen.Insert(kv.key) ||
         c.Permits(rules::kKvKeyDuplicate, kv.entry, "key repeated");
}

bool CheckStringLength(Context& c, std::uint64_t length, std::uint64_t at) {
  if (length >= kSignBit) {
    return c.Refuse(rules::kKvStringLengthWrap, at,
                    "string length is 2^63 or more");
  }
  if (length > c.Left()) {
    return c.Refuse(rules::kKvStringPastEof, at,
                    "string of " + std::to_string(length) + " bytes, " +
                        std::to_string(c.Left()) + " left");
  }
  return length <= kMaxStringBytes ||
         c.Refuse(rules::kLimitStringCap, at, "string of more than 2^30 bytes");
}

bool ReadScalar(Context& c, std::uint32_t type) {
  const std::uint64_t at = c.pos();
  const auto value = c.Integer(ValueWidth(type), rules::kKvEntryTruncated);
  if (!value) return false;
  return type != kBool || *value <= 1 ||
         c.Permits(rules::kKvBoolRange, at, "bool is neither 0 nor 1");
}

}  // namespace

bool ReadString(Context& c) {
  const std::uint64_t at = c.pos();
  const auto length = c.Length(rules::kKvEntryTruncated);
  if (!length || !CheckStringLength(c, *length, at)) return false;
  if (!c.Have(*length, rules::kKvStringPastEof)) return false;
  const std::uint64_t begin = c.pos();
  c.Skip(*length);
  const auto i = FirstInvalidUtf8(c.file.Bytes({begin, *length}));
  return !i || c.Permits(rules::kKvStringUtf8Invalid, begin + *i,
                         "string is not UTF-8");
}

bool ReadValue(Context& c, std::uint32_t type) {
  if (type == kArray) return ReadArray(c);
  if (type == kString) return ReadString(c);
  return ReadScalar(c, type);
}

bool ReadKeyValues(Context& c) {
  NameSet seen(c.file, c.work());
  for (std::uint64_t i = 0; i < c.kv_count; ++i) {
    KeyValue kv;
    if (!ReadKey(c, seen, kv)) return false;
    const auto type = c.U32(rules::kKvEntryTruncated);
    if (!type) return false;
    if (*type >= kValueTypes) {
      return c.Refuse(rules::kKvTypeUnknown, kv.TypeField(),
                      "value type " + std::to_string(*type));
    }
    kv.type = *type;
    kv.value.begin = c.pos();
    if (!ReadValue(c, kv.type)) return false;
    kv.value.size = c.pos() - kv.value.begin;
    c.file.kv.push_back(kv);
  }
  return true;
}

// general.architecture always; general.quantization_version if any tensor is
// stored in blocks.
bool CheckRequiredKeys(Context& c) {
  const auto has = [&c](std::string_view key) {
    return c.file.Find(std::vector<std::uint8_t>(key.begin(), key.end()))
        .has_value();
  };
  bool quantized = false;
  for (const Tensor& tensor : c.file.tensors) {
    if (FindTensorType(tensor.type)->block_elements > 1) quantized = true;
  }
  if (has("general.architecture") &&
      (!quantized || has("general.quantization_version"))) {
    return true;
  }
  return c.Permits(rules::kKvRequiredKeys, c.file.base,
                   "general.architecture, or general.quantization_version "
                   "of a quantized model, is absent");
}

}  // namespace weightproof::gguf
