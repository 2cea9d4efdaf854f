#include "reports/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace weightproof::reports {
namespace {

// Decodes the character at the start of text. Returns its length in bytes, or
// 0 if the bytes are ill-formed.
std::size_t Decode(std::string_view text, std::uint32_t* code) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) {
    *code = first;
    return 1;
  }
  const std::size_t size = first >= 0xf0   ? 4
                           : first >= 0xe0 ? 3
                           : first >= 0xc2 ? 2
                                           : 0;
  if (size == 0 || first > 0xf4 || text.size() < size) return 0;
  std::uint32_t value = first & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[size] || value > 0x10ffff) return 0;
  if (value >= 0xd800 && value <= 0xdfff) return 0;
  *code = value;
  return size;
}

// Characters that hide or reorder what a reader sees, or that XML forbids.
bool IsHidden(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0xad ||
         code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
         (code >= 0xfff0 && code <= 0xfffb) || (code & 0xfffe) == 0xfffe ||
         (code >= 0xe0000 && code <= 0xe0fff);
}

std::string Spelled(std::uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  if (code < 0x100) return fmt::format("\\x{:02x}", code);
  if (code < 0x10000) return fmt::format("\\u{:04x}", code);
  return fmt::format("\\U{:08x}", code);
}

std::string Escape(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t code = 0;
    const std::size_t size = Decode(text, &code);
    if (size == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (keep_lines && code == '\n') {
      out += '\n';
    } else if (keep_lines && code == '\t') {
      out += "    ";
    } else if (IsHidden(code)) {
      out += Spelled(code);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

}  // namespace

std::string Printable(std::string_view text) { return Escape(text, false); }

std::string PrintableLines(std::string_view text) { return Escape(text, true); }

std::string ValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t code = 0;
    const std::size_t size = Decode(text, &code);
    if (size == 0) {
      out += "\xef\xbf\xbd";
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

std::string HtmlEscape(std::string_view text) {
  const std::string printable = PrintableLines(text);
  std::string out;
  out.reserve(printable.size());
  for (const char c : printable) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::size_t Width(std::string_view text) {
  return std::ranges::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  });
}

std::string Shorten(std::string_view text, std::size_t max) {
  if (Width(text) <= max) return std::string(text);
  std::size_t at = 0;
  for (std::size_t left = max; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) continue;
    if (left-- <= 1) break;
  }
  return std::string(text.substr(0, at)) + "\u2026";
}

std::vector<std::string> Wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == text.npos ? text.size() : space + 1);
    if (word.empty()) continue;
    if (!line.empty() && Width(line) + 1 + Width(word) > width) {
      lines.push_back(line);
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(line);
  return lines;
}

std::string Count(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string ByteCount(std::uint64_t n) {
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB",
                                                      "TiB", "PiB", "EiB"};
  if (n < 10240) return Count(n, "byte");
  double value = static_cast<double>(n);
  std::size_t unit = 0;
  for (value /= 1024; value >= 1024 && unit + 1 < kUnits.size(); ++unit) {
    value /= 1024;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string ShellQuote(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) {
    return std::string(text);
  }
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace weightproof::reports
