#include "reports/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "reference/gguf/fields.h"
#include "reports/text.h"

namespace weightproof::reports {
namespace {

constexpr std::uint64_t kExcerptLine = 16;
constexpr std::uint64_t kExcerpt = 64;
// Files up to this size have their fields named; larger ones are holes mostly.
constexpr std::uint64_t kFieldsLimit = 1 << 20;
constexpr std::size_t kMaxFields = 48;

std::uint64_t ChunkSize(const corpus::Chunk& chunk) {
  if (const auto* literal = std::get_if<corpus::Literal>(&chunk)) {
    return literal->bytes.size();
  }
  if (const auto* zero = std::get_if<corpus::Zero>(&chunk)) return zero->n;
  const auto& repeat = std::get<corpus::Repeat>(chunk);
  std::uint64_t size = 0;
  if (__builtin_mul_overflow(repeat.unit.size(), repeat.n, &size)) {
    return UINT64_MAX;
  }
  return size;
}

std::uint64_t FileSize(const corpus::Bytes& bytes) {
  std::uint64_t size = 0;
  for (const corpus::Chunk& chunk : bytes.chunks) {
    if (__builtin_add_overflow(size, ChunkSize(chunk), &size)) {
      return UINT64_MAX;
    }
  }
  return size;
}

std::uint8_t ByteAt(const corpus::Chunk& chunk, std::uint64_t at) {
  if (const auto* literal = std::get_if<corpus::Literal>(&chunk)) {
    return literal->bytes[at];
  }
  if (const auto* repeat = std::get_if<corpus::Repeat>(&chunk)) {
    return repeat->unit[at % repeat->unit.size()];
  }
  return 0;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Start of the excerpt: a multiple of 16, the offset in its third line where
// the file allows.
std::uint64_t StartFor(std::uint64_t at, std::uint64_t file_size) {
  const std::uint64_t line =
      std::min(at, file_size) / kExcerptLine * kExcerptLine;
  const std::uint64_t start =
      line > 2 * kExcerptLine ? line - 2 * kExcerptLine : 0;
  const std::uint64_t last = file_size > kExcerpt
                                 ? (file_size - kExcerpt + kExcerptLine - 1) /
                                       kExcerptLine * kExcerptLine
                                 : 0;
  return std::min(start, last);
}

}  // namespace

std::vector<Field> FieldsOf(std::string_view format,
                            std::span<const std::uint8_t> file) {
  std::vector<Field> fields;
  if (format != "gguf") return fields;
  gguf::Input input;
  input.prefix = file;
  input.file_size = file.size();
  gguf::VisitFields(input, [&](const gguf::Field& field) {
    fields.push_back({field.path, std::string(gguf::ToString(field.kind)),
                      field.offset, field.size, field.value});
  });
  return fields;
}

std::vector<std::uint8_t> Slice(const corpus::Bytes& bytes, std::uint64_t start,
                                std::uint64_t size) {
  std::vector<std::uint8_t> out;
  std::uint64_t begin = 0;
  for (const corpus::Chunk& chunk : bytes.chunks) {
    const std::uint64_t chunk_size = ChunkSize(chunk);
    while (out.size() < size && start + out.size() - begin < chunk_size) {
      out.push_back(ByteAt(chunk, start + out.size() - begin));
    }
    if (out.size() == size || begin + chunk_size < begin) break;
    begin += chunk_size;
  }
  return out;
}

Json MakeExcerpt(std::string_view format, const corpus::Bytes& bytes,
                 std::optional<std::uint64_t> at) {
  const std::uint64_t file_size = FileSize(bytes);
  const std::uint64_t start = StartFor(at.value_or(0), file_size);
  const std::vector<std::uint8_t> slice = Slice(bytes, start, kExcerpt);
  Json fields = Json::array();
  if (file_size <= kFieldsLimit) {
    const std::vector<std::uint8_t> file = Slice(bytes, 0, file_size);
    for (const Field& field : FieldsOf(format, file)) {
      if (fields.size() == kMaxFields) break;
      if (field.offset >= start + slice.size()) continue;
      if (field.size <= start - std::min(start, field.offset)) continue;
      fields.push_back({{"path", ValidUtf8(field.path)},
                        {"kind", field.kind},
                        {"offset", field.offset},
                        {"size", field.size},
                        {"value", Shorten(ValidUtf8(field.value), 120)}});
    }
  }
  Json excerpt = {{"start", start},
                  {"file_size", file_size},
                  {"hex", ToHex(slice)},
                  {"fields", fields}};
  excerpt["at"] = at ? Json(*at) : Json(nullptr);
  return excerpt;
}

std::vector<std::string> ExcerptLines(const Json& excerpt) {
  const std::vector<std::uint8_t> bytes =
      FromHex(excerpt.at("hex").get<std::string>());
  const std::uint64_t start = excerpt.at("start").get<std::uint64_t>();
  const Json& at = excerpt.at("at");
  std::vector<std::string> lines;
  for (std::uint64_t i = 0; i < bytes.size(); i += kExcerptLine) {
    std::string hex;
    std::string text;
    for (std::uint64_t j = i; j < std::min(i + kExcerptLine, bytes.size());
         ++j) {
      const bool marked = at.is_number() && at == start + j;
      if (j == i + 8) hex += ' ';
      hex += fmt::format("{}{:02x}{}",
                         marked               ? "["
                         : hex.ends_with(']') ? ""
                                              : " ",
                         bytes[j], marked ? "]" : "");
      text += bytes[j] >= 0x20 && bytes[j] < 0x7f ? static_cast<char>(bytes[j])
                                                  : '.';
    }
    lines.push_back(fmt::format("{:08x} {:<51} {}", start + i, hex, text));
  }
  const std::uint64_t file_size = excerpt.at("file_size").get<std::uint64_t>();
  if (at.is_number() && at.get<std::uint64_t>() >= file_size) {
    lines.push_back(fmt::format("{:08x}  [end of file]", file_size));
  }
  for (const Json& field : excerpt.at("fields")) {
    lines.push_back(fmt::format(
        "  {:>6} +{:<4} {:<24} {}", field.at("offset").get<std::uint64_t>(),
        field.at("size").get<std::uint64_t>(),
        Printable(field.at("path").get<std::string>()),
        Printable(field.at("value").get<std::string>())));
  }
  return lines;
}

std::string ToHex(std::span<const std::uint8_t> bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    fmt::format_to(std::back_inserter(out), "{:02x}", byte);
  }
  return out;
}

std::vector<std::uint8_t> FromHex(std::string_view hex) {
  std::vector<std::uint8_t> out;
  if (hex.size() % 2 != 0) return out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = HexDigit(hex[i]);
    const int low = HexDigit(hex[i + 1]);
    if (high < 0 || low < 0) return {};
    out.push_back(static_cast<std::uint8_t>(high << 4 | low));
  }
  return out;
}

}  // namespace weightproof::reports
