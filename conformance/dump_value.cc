#include "conformance/dump_value.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace weightproof::conformance {
namespace {

struct TypeInfo {
  std::string_view name;
  std::size_t width;
};

constexpr std::array<TypeInfo, 13> kTypes = {{{"u8", 1},
                                              {"i8", 1},
                                              {"u16", 2},
                                              {"i16", 2},
                                              {"u32", 4},
                                              {"i32", 4},
                                              {"f32", 4},
                                              {"bool", 1},
                                              {"string", 0},
                                              {"array", 0},
                                              {"u64", 8},
                                              {"i64", 8},
                                              {"f64", 8}}};
constexpr std::uint32_t kTypeF32 = 6;
constexpr std::uint32_t kTypeBool = 7;
constexpr std::uint32_t kTypeU64 = 10;
constexpr std::uint32_t kTypeI64 = 11;
constexpr std::uint32_t kTypeF64 = 12;
constexpr std::uint64_t kNanF32 = 0x7fc00000;
constexpr std::uint64_t kNanF64 = 0x7ff8000000000000;

bool IsSigned(std::uint32_t type) {
  return type == 1 || type == 3 || type == 5 || type == kTypeI64;
}

bool IsNan(std::uint32_t type, std::uint64_t bits) {
  if (type == kTypeF32) return (bits & 0x7fffffff) > 0x7f800000;
  return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

std::uint64_t Load(const std::uint8_t* bytes, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return value;
}

void Append(std::uint64_t value, std::size_t width, std::string& out) {
  for (std::size_t i = 0; i < width; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i)));
  }
}

std::int64_t SignExtend(std::uint64_t value, std::size_t width) {
  const unsigned shift = static_cast<unsigned>(64 - 8 * width);
  return static_cast<std::int64_t>(value << shift) >> shift;
}

// The bits of a number that a value of that type holds exactly.
std::optional<std::uint64_t> BitsFromNumber(std::uint32_t type, double number) {
  if (type == kTypeF64) return std::bit_cast<std::uint64_t>(number);
  if (std::abs(number) > std::numeric_limits<float>::max()) {
    return std::nullopt;
  }
  const auto narrowed = static_cast<float>(number);
  if (static_cast<double>(narrowed) != number) return std::nullopt;
  return std::bit_cast<std::uint32_t>(narrowed);
}

// The bits of "0x...", with exactly the digits of the type; nothing else.
std::optional<std::uint64_t> BitsFromJson(std::uint32_t type,
                                          const Json& value) {
  if (value.is_number()) return BitsFromNumber(type, value.get<double>());
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text == "nan") return type == kTypeF32 ? kNanF32 : kNanF64;
  if (text.size() != 2 + 2 * TypeWidth(type) || text[0] != '0' ||
      text[1] != 'x') {
    return std::nullopt;
  }
  std::uint64_t bits = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data() + 2, end, bits, 16);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return IsNan(type, bits) ? (type == kTypeF32 ? kNanF32 : kNanF64) : bits;
}

template <typename T>
std::optional<T> IntegerFromJson(const Json& value) {
  if (value.is_number_integer()) {
    if (value.is_number_unsigned()) {
      const auto number = value.get<std::uint64_t>();
      if (std::in_range<T>(number)) return static_cast<T>(number);
      return std::nullopt;
    }
    const auto number = value.get<std::int64_t>();
    if (std::in_range<T>(number)) return static_cast<T>(number);
    return std::nullopt;
  }
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  T number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number, 10);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

bool EncodeInteger(std::uint32_t type, const Json& value, std::string& out) {
  const std::size_t width = TypeWidth(type);
  if (IsSigned(type)) {
    const auto number = IntegerFromJson<std::int64_t>(value);
    if (!number) return false;
    const auto bits = static_cast<std::uint64_t>(*number);
    if (SignExtend(bits, width) != *number) return false;
    Append(bits, width, out);
    return true;
  }
  const auto number = IntegerFromJson<std::uint64_t>(value);
  if (!number || (width < 8 && *number >> (8 * width) != 0)) return false;
  Append(*number, width, out);
  return true;
}

bool EncodeArray(const Json& value, std::string& out) {
  if (!value.is_object() || value.contains("crc32")) return false;
  const auto elem = value.find("elem");
  const auto items = value.find("items");
  if (elem == value.end() || !elem->is_string() || items == value.end() ||
      !items->is_array()) {
    return false;
  }
  const auto type = TypeFromName(elem->get_ref<const std::string&>());
  if (!type) return false;
  Append(*type, 4, out);
  Append(items->size(), 8, out);
  for (const Json& item : *items) {
    if (!EncodeValue(*type, item, out)) return false;
  }
  return true;
}

Json CanonicalArray(const Json& value) {
  const auto elem = value.find("elem");
  const auto items = value.find("items");
  if (elem == value.end() || !elem->is_string() || items == value.end() ||
      !items->is_array()) {
    return value;
  }
  const auto type = TypeFromName(elem->get_ref<const std::string&>());
  if (!type) return value;
  Json result = value;
  const bool cut = items->size() > kMaxDumpArray && !value.contains("crc32");
  if (cut) {
    std::string encoded;
    for (const Json& item : *items) {
      if (!EncodeValue(*type, item, encoded)) return value;
    }
    result["crc32"] = Crc32(0, encoded);
    result["items"] =
        Json::array({items->at(0), items->at(1), items->at(2), items->back()});
  }
  for (Json& item : result["items"]) item = CanonicalValue(*type, item);
  return result;
}

}  // namespace

std::string TypeName(std::uint32_t type) {
  if (type < kTypes.size()) return std::string(kTypes[type].name);
  return fmt::format("{}", type);
}

std::optional<std::uint32_t> TypeFromName(std::string_view name) {
  for (std::uint32_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return i;
  }
  return std::nullopt;
}

std::size_t TypeWidth(std::uint32_t type) {
  return type < kTypes.size() ? kTypes[type].width : 0;
}

bool IsValidUtf8(std::string_view bytes) {
  std::size_t i = 0;
  const auto at = [&](std::size_t k) {
    return static_cast<unsigned>(static_cast<unsigned char>(bytes[k]));
  };
  while (i < bytes.size()) {
    const unsigned lead = at(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || bytes.size() - i <= more) return false;
    unsigned code = lead & (0x3fu >> more);
    for (std::size_t k = 1; k <= more; ++k) {
      if ((at(i + k) & 0xc0) != 0x80) return false;
      code = code << 6 | (at(i + k) & 0x3f);
    }
    if ((more == 2 && code < 0x800) || (more == 3 && code < 0x10000) ||
        code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      return false;
    }
    i += more + 1;
  }
  return true;
}

std::string BytesToHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

std::optional<std::string> HexToBytes(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]);
    const int low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

std::uint32_t Crc32(std::uint32_t crc, std::string_view data) {
  return static_cast<std::uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(data.data()), data.size()));
}

Json StringToJson(std::string_view bytes) {
  if (bytes.size() > kMaxDumpString) {
    return {
        {"len", fmt::format("{}", bytes.size())},
        {"crc32", Crc32(0, bytes)},
        {"head", StringToJson(bytes.substr(0, kDumpStringEnds))},
        {"tail", StringToJson(bytes.substr(bytes.size() - kDumpStringEnds))}};
  }
  if (IsValidUtf8(bytes)) return Json(bytes);
  return {{"hex", BytesToHex(bytes)}};
}

Json ScalarToJson(std::uint32_t type, const std::uint8_t* bytes) {
  const std::size_t width = TypeWidth(type);
  const std::uint64_t bits = Load(bytes, width);
  switch (type) {
    case kTypeBool:
      return bits != 0;
    case kTypeU64:
      return fmt::format("{}", bits);
    case kTypeI64:
      return fmt::format("{}", static_cast<std::int64_t>(bits));
    case kTypeF32:
    case kTypeF64:
      if (IsNan(type, bits)) return "nan";
      return fmt::format("0x{:0{}x}", bits, 2 * width);
    default:
      if (IsSigned(type)) return SignExtend(bits, width);
      return bits;
  }
}

std::optional<std::string> StringFromJson(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object() || value.size() != 1) return std::nullopt;
  const auto hex = value.find("hex");
  if (hex == value.end() || !hex->is_string()) return std::nullopt;
  return HexToBytes(hex->get_ref<const std::string&>());
}

bool EncodeValue(std::uint32_t type, const Json& value, std::string& out) {
  switch (type) {
    case kTypeString: {
      const auto bytes = StringFromJson(value);
      if (!bytes) return false;
      Append(bytes->size(), 8, out);
      out += *bytes;
      return true;
    }
    case kTypeArray:
      return EncodeArray(value, out);
    case kTypeBool:
      if (!value.is_boolean()) return false;
      out.push_back(value.get<bool>() ? 1 : 0);
      return true;
    case kTypeF32:
    case kTypeF64: {
      const auto bits = BitsFromJson(type, value);
      if (!bits) return false;
      Append(*bits, TypeWidth(type), out);
      return true;
    }
    default:
      return TypeWidth(type) != 0 && EncodeInteger(type, value, out);
  }
}

Json CanonicalValue(std::uint32_t type, const Json& value) {
  if (type == kTypeString) {
    const auto bytes = StringFromJson(value);
    return bytes ? StringToJson(*bytes) : value;
  }
  if (type == kTypeArray && value.is_object()) return CanonicalArray(value);
  if (type == kTypeF32 || type == kTypeF64) {
    const auto bits = BitsFromJson(type, value);
    if (bits && IsNan(type, *bits)) return "nan";
    if (bits && value.is_number()) {
      return fmt::format("0x{:0{}x}", *bits, 2 * TypeWidth(type));
    }
  }
  return value;
}

}  // namespace weightproof::conformance
