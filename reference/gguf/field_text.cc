#include "reference/gguf/field_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <string_view>

#include "reference/gguf/text.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf {
namespace {

constexpr std::size_t kShownBytes = 64;
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string Hex(std::uint64_t bits, int digits) {
  std::string out = "0x";
  for (int i = digits - 1; i >= 0; --i) {
    out += kHexDigits[(bits >> (4 * i)) & 15];
  }
  return out;
}

template <typename Float>
std::string FloatText(Float value) {
  char text[64];
  const auto result = std::to_chars(std::begin(text), std::end(text), value);
  return std::string(text, result.ptr);
}

void AppendByte(std::uint8_t byte, std::string& out) {
  if (byte == '"' || byte == '\\') {
    out += '\\';
    out += static_cast<char>(byte);
  } else if (byte < 0x20 || byte == 0x7f) {
    out += "\\x";
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  } else {
    out += static_cast<char>(byte);
  }
}

}  // namespace

std::string QuotedText(std::span<const std::uint8_t> text) {
  auto rest = text.first(std::min(text.size(), kShownBytes));
  std::string out = "\"";
  while (!rest.empty()) {
    const std::uint64_t good = FirstInvalidUtf8(rest).value_or(rest.size());
    for (const std::uint8_t byte : rest.first(good)) AppendByte(byte, out);
    rest = rest.subspan(good);
    if (rest.empty()) break;
    out += "\\x";
    out += kHexDigits[rest[0] >> 4];
    out += kHexDigits[rest[0] & 15];
    rest = rest.subspan(1);
  }
  out += '"';
  if (text.size() > kShownBytes) {
    out += "... (" + std::to_string(text.size()) + " bytes)";
  }
  return out;
}

std::uint64_t ExtendScalar(std::uint32_t value_type, std::uint64_t bits) {
  if (value_type != kI8 && value_type != kI16 && value_type != kI32) {
    return bits;
  }
  const std::uint64_t sign = std::uint64_t{1}
                             << (8 * ValueWidth(value_type) - 1);
  return (bits ^ sign) - sign;
}

std::string ScalarText(std::uint32_t value_type, std::uint64_t bits) {
  switch (value_type) {
    case kI8:
    case kI16:
    case kI32:
    case kI64:
      return std::to_string(
          static_cast<std::int64_t>(ExtendScalar(value_type, bits)));
    case kBool:
      if (bits > 1) return std::to_string(bits) + " (neither 0 nor 1)";
      return bits == 1 ? "true" : "false";
    case kF32: {
      const auto narrow = static_cast<std::uint32_t>(bits);
      return Hex(bits, 8) + " (" + FloatText(std::bit_cast<float>(narrow)) +
             ")";
    }
    case kF64:
      return Hex(bits, 16) + " (" + FloatText(std::bit_cast<double>(bits)) +
             ")";
    default:
      return std::to_string(bits);
  }
}

std::string ValueTypeText(std::uint64_t id) {
  if (id >= kValueTypes) return std::to_string(id) + " (unknown)";
  return std::string(ValueTypeName(static_cast<std::uint32_t>(id)));
}

std::string TensorTypeText(std::uint64_t id) {
  const auto narrow = static_cast<std::uint32_t>(id);
  if (IsWithdrawnTensorType(narrow)) {
    return std::to_string(id) + " (withdrawn)";
  }
  const TensorType* type = FindTensorType(narrow);
  if (type == nullptr) return std::to_string(id) + " (unknown)";
  return std::string(type->name);
}

}  // namespace weightproof::gguf
