#include "fuzzers/dictionary.h"

#include <fmt/format.h>

namespace weightproof::fuzzers {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The token of a quoted text without its quotes; the error says what is wrong.
std::expected<Bytes, std::string> Unescape(std::string_view text) {
  Bytes out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return std::unexpected("a quote inside the token");
    if (text[i] != '\\') {
      out.push_back(static_cast<std::uint8_t>(text[i]));
      continue;
    }
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (next == '\\' || next == '"') {
      out.push_back(static_cast<std::uint8_t>(next));
      ++i;
      continue;
    }
    const int high = i + 3 < text.size() ? HexDigit(text[i + 2]) : -1;
    const int low = i + 3 < text.size() ? HexDigit(text[i + 3]) : -1;
    if (next != 'x' || high < 0 || low < 0) {
      return std::unexpected(fmt::format("bad escape '{}'", text.substr(i, 4)));
    }
    out.push_back(static_cast<std::uint8_t>(high * 16 + low));
    i += 3;
  }
  if (out.empty()) return std::unexpected("an empty token");
  return out;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() &&
         (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

std::expected<std::vector<DictionaryEntry>, std::string> ParseDictionary(
    std::string_view text) {
  std::vector<DictionaryEntry> out;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = Trimmed(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (line.empty() || line.front() == '#') continue;
    const auto bad = [&](std::string_view what) {
      return std::unexpected(fmt::format("line {}: {}", number, what));
    };
    const std::size_t open = line.find('"');
    if (open == line.npos || line.size() < open + 2 || line.back() != '"') {
      return bad("expected NAME=\"TOKEN\"");
    }
    const std::string_view name = line.substr(0, open);
    if (!name.empty() && name.back() != '=') return bad("expected NAME=");
    auto token = Unescape(line.substr(open + 1, line.size() - open - 2));
    if (!token) return bad(token.error());
    out.push_back(
        {number,
         std::string(name.empty() ? name : name.substr(0, name.size() - 1)),
         std::move(*token)});
  }
  return out;
}

}  // namespace weightproof::fuzzers
