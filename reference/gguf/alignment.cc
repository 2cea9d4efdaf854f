// Stage 5: general.alignment, once all keys are known.
#include <string_view>
#include <vector>

#include "reference/gguf/stages.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf {
namespace {

constexpr std::string_view kAlignmentKey = "general.alignment";
// The text: a multiple of 8.
constexpr std::uint64_t kAlignmentUnit = 8;

bool IsPowerOfTwo(std::uint64_t x) { return x != 0 && (x & (x - 1)) == 0; }

bool CheckAlignmentValue(Context& c, std::uint64_t value, std::uint64_t at) {
  if (value == 0) {
    return c.Refuse(rules::kAlignValueZero, at, "alignment 0");
  }
  if (value % kAlignmentUnit != 0) {
    return c.Permits(IsPowerOfTwo(value) ? rules::kAlignValuePow2Below8
                                         : rules::kAlignValueNotMultipleOf8,
                     at, "alignment " + std::to_string(value));
  }
  return IsPowerOfTwo(value) || c.Permits(rules::kAlignValueMultipleOf8, at,
                                          "alignment " + std::to_string(value) +
                                              " is no power of two");
}

bool IsNegative(std::uint64_t value, std::uint32_t type) {
  if (type != kI8 && type != kI16 && type != kI32) return false;
  return (value >> (8 * ValueWidth(type) - 1)) != 0;
}

// A type other than u32. Sets usable where a profile that accepts it takes the
// number as it is.
bool CheckAlignmentType(Context& c, const KeyValue& kv, std::uint64_t value,
                        bool& usable) {
  const std::uint64_t at = kv.TypeField();
  const std::string detail =
      "general.alignment is of type " + std::string(ValueTypeName(kv.type));
  switch (kv.type) {
    case kU32:
      usable = true;
      return true;
    case kU8:
    case kI8:
    case kU16:
    case kI16:
    case kI32:
      if (IsNegative(value, kv.type)) {
        return c.Permits(rules::kAlignTypeNegative, at, detail);
      }
      usable = true;
      return c.Permits(rules::kAlignTypeSmallInt, at, detail);
    case kU64:
    case kI64:
      return c.Permits(rules::kAlignTypeInt64, at, detail);
    default:
      return c.Permits(rules::kAlignTypeOther, at, detail);
  }
}

}  // namespace

bool SettleAlignment(Context& c) {
  c.file.alignment = c.profile().default_alignment;
  const std::vector<std::uint8_t> key(kAlignmentKey.begin(),
                                      kAlignmentKey.end());
  const auto index = c.file.Find(key, c.profile().last_duplicate_wins);
  if (!index) return true;
  const KeyValue& kv = c.file.kv[*index];
  // Strings and arrays are no numbers and may be of any size.
  const std::uint64_t width = ValueWidth(kv.type);
  const std::uint64_t value =
      LoadInteger(c.file.Bytes({kv.value.begin, width}), c.file.big_endian);
  bool usable = false;
  if (!CheckAlignmentType(c, kv, value, usable)) return false;
  if (!usable) {
    c.file.alignment = c.profile().fallback_alignment;
    return true;
  }
  c.file.alignment = value;
  return CheckAlignmentValue(c, value, kv.value.begin);
}

}  // namespace weightproof::gguf
