#include "corpus/recipe_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace weightproof::corpus {
namespace {

// A range A..B or a table may not make more recipes than this.
constexpr std::size_t kMaxRows = 4096;

constexpr std::string_view kBlanks = " \t\r";

struct Line {
  std::size_t begin = 0;
  std::size_t end = 0;  // before the newline
};

std::vector<Line> Lines(std::string_view text) {
  std::vector<Line> out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back({begin, end});
    begin = end + 1;
  }
  return out;
}

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool StartsWithWord(std::string_view line, std::string_view word) {
  line = Trim(line);
  return line.starts_with(word) &&
         (line.size() == word.size() ||
          kBlanks.find(line[word.size()]) != std::string_view::npos);
}

bool IsBlank(std::string_view text) {
  for (const Line& line : Lines(text)) {
    const auto content = Trim(text.substr(line.begin, line.end - line.begin));
    if (!content.empty() && content[0] != '#') return false;
  }
  return true;
}

// Cells between blanks; a quoted cell keeps its quotes and its blanks.
std::vector<std::string> Cells(std::string_view row) {
  std::vector<std::string> out;
  std::string cell;
  bool quoted = false, escaped = false;
  for (const char c : row) {
    if (!quoted && kBlanks.find(c) != std::string_view::npos) {
      if (!cell.empty()) out.push_back(std::exchange(cell, {}));
      continue;
    }
    cell += c;
    if (escaped) {
      escaped = false;
    } else if (quoted && c == '\\') {
      escaped = true;
    } else if (c == '"') {
      quoted = !quoted;
    }
  }
  if (!cell.empty()) out.push_back(cell);
  return out;
}

using Row = std::vector<std::string>;

// "3..7" as numbers; nothing if the cell is no range.
std::optional<std::pair<std::uint64_t, std::uint64_t>> AsRange(
    const std::string& cell) {
  const std::size_t dots = cell.find("..");
  if (dots == std::string::npos) return std::nullopt;
  std::uint64_t first = 0, last = 0;
  const char* middle = cell.data() + dots;
  const char* end = cell.data() + cell.size();
  const auto a = std::from_chars(cell.data(), middle, first);
  const auto b = std::from_chars(middle + 2, end, last);
  if (a.ec != std::errc() || a.ptr != middle || b.ec != std::errc() ||
      b.ptr != end) {
    return std::nullopt;
  }
  return std::pair(first, last);
}

struct Table {
  std::vector<std::string> names;
  std::vector<Row> rows;
};

// Adds the rows of one line, which are separated by "|".
std::optional<std::string> AddRows(std::string_view text, Table& table) {
  while (!text.empty()) {
    const std::size_t bar = std::min(text.find('|'), text.size());
    const Row cells = Cells(text.substr(0, bar));
    text.remove_prefix(std::min(bar + 1, text.size()));
    if (cells.empty()) continue;
    if (cells.size() != table.names.size()) {
      return fmt::format("this row of vary has {} cells, its names are {}",
                         cells.size(), table.names.size());
    }
    const auto range = cells.size() == 1 ? AsRange(cells[0]) : std::nullopt;
    if (!range) {
      table.rows.push_back(cells);
    } else if (range->first > range->second ||
               range->second - range->first >= kMaxRows) {
      return "a range goes upwards and has at most 4096 values: " + cells[0];
    } else {
      for (std::uint64_t n = range->first; n <= range->second; ++n) {
        table.rows.push_back({std::to_string(n)});
      }
    }
    if (table.rows.size() > kMaxRows) return "more than 4096 rows";
  }
  return std::nullopt;
}

// Reads the one table of a recipe and blanks its lines in mask.
std::expected<Table, SyntaxError> ReadTable(std::string_view source, Line part,
                                            std::vector<bool>& skip) {
  Table table;
  bool open = false;
  const std::string_view text =
      source.substr(part.begin, part.end - part.begin);
  for (const Line& line : Lines(text)) {
    std::string_view content = text.substr(line.begin, line.end - line.begin);
    const std::size_t at = part.begin + line.begin;
    if (StartsWithWord(content, "vary")) {
      const std::size_t equals = content.find('=');
      if (!table.names.empty()) {
        return std::unexpected(ErrorAt(source, at, "a second vary"));
      }
      if (equals == std::string_view::npos) {
        return std::unexpected(
            ErrorAt(source, at, "vary needs: NAME... = ROW | ROW"));
      }
      table.names = Cells(content.substr(0, equals));
      table.names.erase(table.names.begin());
      content.remove_prefix(equals + 1);
      open = true;
    } else if (open && Trim(content).starts_with('|')) {
      // a further line of the table
    } else {
      open = false;
      continue;
    }
    if (auto problem = AddRows(content, table)) {
      return std::unexpected(ErrorAt(source, at, *problem));
    }
    std::fill(skip.begin() + static_cast<std::ptrdiff_t>(line.begin),
              skip.begin() + static_cast<std::ptrdiff_t>(line.end), true);
  }
  return table;
}

// The recipe with {name} replaced by the row's cells.
RecipeText Fill(std::string_view source, Line part,
                const std::vector<bool>& skip, const Table& table,
                const Row& row) {
  RecipeText out;
  out.end = part.end;
  for (std::size_t i = 0; i < row.size(); ++i) {
    out.row += fmt::format("{}{} = {}", i ? ", " : "", table.names[i], row[i]);
  }
  for (std::size_t at = part.begin; at < part.end; ++at) {
    if (skip[at - part.begin]) continue;
    std::string_view rest = source.substr(at, part.end - at);
    bool replaced = false;
    for (std::size_t i = 0; rest[0] == '{' && i < row.size(); ++i) {
      const std::string name = "{" + table.names[i] + "}";
      if (!rest.starts_with(name)) continue;
      out.text += row[i];
      out.origin.resize(out.text.size(), at);
      at += name.size() - 1;
      replaced = true;
      break;
    }
    if (replaced) continue;
    out.text += source[at];
    out.origin.push_back(at);
  }
  return out;
}

}  // namespace

SyntaxError ErrorAt(std::string_view source, std::size_t position,
                    std::string message) {
  SyntaxError error{1, 1, std::move(message)};
  for (std::size_t i = 0; i < std::min(position, source.size()); ++i) {
    ++error.column;
    if (source[i] == '\n') {
      ++error.line;
      error.column = 1;
    }
  }
  return error;
}

std::expected<std::vector<RecipeText>, SyntaxError> SplitRecipes(
    std::string_view source) {
  std::vector<Line> parts = {{0, source.size()}};
  for (const Line& line : Lines(source)) {
    const auto content = source.substr(line.begin, line.end - line.begin);
    if (!StartsWithWord(content, "recipe")) continue;
    parts.back().end = line.begin;
    parts.push_back({line.begin, source.size()});
  }
  if (parts.size() > 1 && IsBlank(source.substr(0, parts[0].end))) {
    parts.erase(parts.begin());
  }
  std::vector<RecipeText> out;
  for (const Line& part : parts) {
    std::vector<bool> skip(part.end - part.begin, false);
    auto table = ReadTable(source, part, skip);
    if (!table) return std::unexpected(table.error());
    if (table->names.empty()) {
      out.push_back(Fill(source, part, skip, *table, {}));
      continue;
    }
    for (const Row& row : table->rows) {
      out.push_back(Fill(source, part, skip, *table, row));
    }
    if (table->rows.empty()) {
      return std::unexpected(
          ErrorAt(source, part.begin, "the vary of this recipe has no rows"));
    }
  }
  return out;
}

}  // namespace weightproof::corpus
