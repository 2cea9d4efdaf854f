// Bytes around a place of a file, with the fields they belong to.
#ifndef WEIGHTPROOF_REPORTS_EXCERPT_H_
#define WEIGHTPROOF_REPORTS_EXCERPT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/bytes.h"

namespace weightproof::reports {

using Json = nlohmann::json;

// A run of bytes with a name: "kv[3].value.len".
struct Field {
  std::string path;
  std::string kind;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string value;
};

// The fields of a file of the given format, in file order, as far as the file
// can be read; none for a format without fields.
std::vector<Field> FieldsOf(std::string_view format,
                            std::span<const std::uint8_t> file);

// Bytes [start, start + size) of a file given as chunks, cut at its end.
std::vector<std::uint8_t> Slice(const corpus::Bytes& bytes, std::uint64_t start,
                                std::uint64_t size);

// 64 bytes of a file around at (a byte offset, or nothing: the head), as
//   {"at":N|null,"start":N,"file_size":N,"hex":"...","fields":[
//    {"path","kind","offset","size","value"}]}
// where fields holds those that meet the excerpt. at may lie at or past the
// end of the file.
Json MakeExcerpt(std::string_view format, const corpus::Bytes& bytes,
                 std::optional<std::uint64_t> at);

// An excerpt as lines for a fixed-width font, 16 bytes each:
//   00000030  20 00 00 00 04 00 00 00  00 00 00 00 00 00 00 00 ...............
// followed by the fields. The byte at the offset stands in brackets.
std::vector<std::string> ExcerptLines(const Json& excerpt);

// Lower-case hex, and back; the latter is empty for malformed text.
std::string ToHex(std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> FromHex(std::string_view hex);

}  // namespace weightproof::reports

#endif  // WEIGHTPROOF_REPORTS_EXCERPT_H_
