#include "corpus/disassembler_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weightproof::corpus {
namespace {

constexpr std::uint64_t kShortRun = 64;
constexpr std::uint64_t kHexPerLine = 32;

}  // namespace

std::string Quote(std::span<const std::uint8_t> bytes) {
  std::string out = "\"";
  for (const std::uint8_t byte : bytes) {
    const char c = static_cast<char>(byte);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte == 0) {
      out += "\\0";
    } else if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  return out + '"';
}

void RunWriter::Line(std::string_view statement, std::string_view comment) {
  out_.text += statement;
  if (!comment.empty()) {
    out_.text += "  # ";
    out_.text += comment;
  }
  out_.text += '\n';
}

void RunWriter::Statement(std::string_view text) {
  Line(text, std::exchange(comment_, {}));
}

void RunWriter::Write(std::uint64_t offset, std::uint64_t size,
                      std::string_view comment) {
  comment_ = comment;
  const std::uint64_t end = offset + size;
  auto hole = std::ranges::lower_bound(
      options_.holes, offset, {},
      [](const Extent& e) { return e.offset + e.size; });
  while (offset < end) {
    if (hole == options_.holes.end() || hole->offset >= end) {
      Data(offset, end - offset);
      break;
    }
    if (hole->offset > offset) Data(offset, hole->offset - offset);
    const std::uint64_t from = std::max(offset, hole->offset);
    const std::uint64_t to = std::min(end, hole->offset + hole->size);
    if (to > from) Statement(fmt::format("hole {}", to - from));
    offset = std::max(offset, to);
    ++hole;
  }
}

// Splits off runs of one byte.
void RunWriter::Data(std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t least = size > kMaxInline ? kMaxInline : kShortRun;
  const std::uint64_t end = offset + size;
  std::uint64_t mixed = offset;  // start of what is not written yet
  for (std::uint64_t at = offset; at < end;) {
    const std::uint8_t byte = file_[at];
    std::uint64_t run = at + 1;
    while (run < end && file_[run] == byte) ++run;
    if (run - at >= least) {
      Mixed(mixed, at - mixed);
      Statement(byte == 0 ? fmt::format("zeros {}", run - at)
                          : fmt::format("fill {} 0x{:02x}", run - at, byte));
      mixed = run;
    }
    at = run;
  }
  Mixed(mixed, end - mixed);
}

void RunWriter::Mixed(std::uint64_t offset, std::uint64_t size) {
  if (size > kMaxInline) {
    Statement(fmt::format("side {} from {} size {}",
                          Quote(std::span(reinterpret_cast<const std::uint8_t*>(
                                              options_.side_name.data()),
                                          options_.side_name.size())),
                          side_size_, size));
    out_.side.push_back({offset, size});
    side_size_ += size;
    return;
  }
  for (std::uint64_t done = 0; done < size; done += kHexPerLine) {
    const std::uint64_t count = std::min(kHexPerLine, size - done);
    std::string line = "hex";
    for (const std::uint8_t byte : file_.subspan(offset + done, count)) {
      line += fmt::format(" {:02x}", byte);
    }
    Statement(line);
  }
}

}  // namespace weightproof::corpus
