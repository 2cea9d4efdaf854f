#include "reference/gguf/text.h"

#include <algorithm>

namespace weightproof::gguf {
namespace {

template <typename Predicate>
std::optional<std::uint64_t> FirstThat(Text text, Predicate offends) {
  for (std::uint64_t i = 0; i < text.size(); ++i) {
    if (offends(text[i])) return i;
  }
  return std::nullopt;
}

bool InRange(std::uint8_t byte, std::uint8_t low, std::uint8_t high) {
  return byte >= low && byte <= high;
}

// Length of the well-formed UTF-8 sequence at the start of text; 0 if there is
// none. The second byte's range depends on the first, the others do not.
std::uint64_t Utf8SequenceLength(Text text) {
  const std::uint8_t first = text[0];
  if (first <= 0x7f) return 1;
  std::uint64_t length = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xbf;
  if (InRange(first, 0xc2, 0xdf)) length = 2;
  if (InRange(first, 0xe0, 0xef)) length = 3;
  if (InRange(first, 0xf0, 0xf4)) length = 4;
  if (first == 0xe0) low = 0xa0;
  if (first == 0xed) high = 0x9f;
  if (first == 0xf0) low = 0x90;
  if (first == 0xf4) high = 0x8f;
  if (length == 0 || text.size() < length) return 0;
  if (!InRange(text[1], low, high)) return 0;
  for (std::uint64_t i = 2; i < length; ++i) {
    if (!InRange(text[i], 0x80, 0xbf)) return 0;
  }
  return length;
}

bool IsSegmentByte(std::uint8_t byte) {
  return InRange(byte, 'a', 'z') || InRange(byte, '0', '9') || byte == '_';
}

}  // namespace

std::optional<std::uint64_t> FirstInvalidUtf8(Text text) {
  std::uint64_t i = 0;
  while (i < text.size()) {
    const std::uint64_t length = Utf8SequenceLength(text.subspan(i));
    if (length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> FirstNul(Text text) {
  return FirstThat(text, [](std::uint8_t byte) { return byte == 0; });
}

std::optional<std::uint64_t> FirstNonAscii(Text text) {
  return FirstThat(text, [](std::uint8_t byte) { return byte > 0x7f; });
}

std::optional<std::uint64_t> FirstSpaceOrControl(Text text) {
  return FirstThat(text, [](std::uint8_t byte) {
    return InRange(byte, 0x01, 0x20) || byte == 0x7f;
  });
}

std::optional<std::uint64_t> FirstBreakOfKeyGrammar(Text text) {
  std::uint64_t segment_size = 0;
  for (std::uint64_t i = 0; i < text.size(); ++i) {
    if (IsSegmentByte(text[i])) {
      ++segment_size;
      continue;
    }
    if (text[i] != '.' || segment_size == 0) return i;
    segment_size = 0;
  }
  if (!text.empty() && segment_size == 0) return text.size() - 1;
  return std::nullopt;
}

}  // namespace weightproof::gguf
