// Values of the canonical dump: how one GGUF value is written as JSON, and how
// a JSON value is turned back into the bytes of a version 3 little-endian file.
#ifndef WEIGHTPROOF_CONFORMANCE_DUMP_VALUE_H_
#define WEIGHTPROOF_CONFORMANCE_DUMP_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace weightproof::conformance {

using Json = nlohmann::json;

// Longer strings are abbreviated to {len, crc32, head, tail}.
inline constexpr std::size_t kMaxDumpString = 4096;
// Bytes of head and tail.
inline constexpr std::size_t kDumpStringEnds = 64;
// Longer arrays keep the first kDumpArrayHead elements and the last one.
inline constexpr std::uint64_t kMaxDumpArray = 256;
inline constexpr std::uint64_t kDumpArrayHead = 3;

inline constexpr std::uint32_t kTypeString = 8;
inline constexpr std::uint32_t kTypeArray = 9;

// "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array",
// "u64", "i64", "f64" for 0..12; the number in decimal beyond.
std::string TypeName(std::uint32_t type);
// The inverse of TypeName for 0..12.
std::optional<std::uint32_t> TypeFromName(std::string_view name);
// Bytes of one value of a fixed-size type; 0 for strings, arrays and unknown
// types.
std::size_t TypeWidth(std::uint32_t type);

// Whether the bytes are well-formed UTF-8 (no surrogates, no overlong forms).
bool IsValidUtf8(std::string_view bytes);
std::string BytesToHex(std::string_view bytes);
// Nothing if hex has an odd length or another character than [0-9a-fA-F].
std::optional<std::string> HexToBytes(std::string_view hex);
// CRC-32 (IEEE) of data, continuing from crc; 0 to start.
std::uint32_t Crc32(std::uint32_t crc, std::string_view data);

// A string: a JSON string, {"hex":...} where it is not UTF-8, or
// {"len","crc32","head","tail"} over kMaxDumpString bytes.
Json StringToJson(std::string_view bytes);
// One packed little-endian value of a fixed-size type: numbers, true/false,
// decimal strings for 64-bit integers, "0x..." bit patterns or "nan".
Json ScalarToJson(std::uint32_t type, const std::uint8_t* bytes);

// The bytes of a JSON string or {"hex":...}; nothing for another shape.
std::optional<std::string> StringFromJson(const Json& value);
// Appends value as it stands in a version 3 little-endian file (every NaN as
// 7FC00000 or 7FF8000000000000, true as 01). False if value is not a complete
// value of that type.
bool EncodeValue(std::uint32_t type, const Json& value, std::string& out);

// value in canonical form: long strings and arrays abbreviated, NaN patterns
// as "nan", a JSON number that is exactly a float (of a reader that lost the
// type) as its bits. A value that is not of that type comes back unchanged.
Json CanonicalValue(std::uint32_t type, const Json& value);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_DUMP_VALUE_H_
