// Stage 4, continued: array values, nested ones by an explicit stack.
#include <array>

#include "reference/gguf/checked.h"
#include "reference/gguf/stages.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf {
namespace {

struct Level {
  std::uint32_t type = 0;       // of the elements
  std::uint64_t remaining = 0;  // elements not yet read
};

// Fewest bytes that one element takes.
std::uint64_t LeastElement(const Context& c, std::uint32_t type) {
  if (type == kString) return c.file.LengthWidth();
  if (type == kArray) return 4 + c.file.LengthWidth();
  return ValueWidth(type);
}

// An array of arrays at this level opens the next one, even if it is empty.
bool CheckNesting(Context& c, std::uint32_t level, std::uint64_t at) {
  const std::uint32_t opened = level + 1;
  if (opened > kMaxArrayLevels) {
    return c.Refuse(rules::kArrayNestedDepthLimit, at,
                    "more than 64 array levels");
  }
  if (opened == 2) {
    return c.Permits(rules::kArrayNestedDepth2, at, "array of arrays");
  }
  return c.Permits(rules::kArrayNestedWithinLimit, at,
                   std::to_string(opened) + " array levels");
}

bool CheckArrayLength(Context& c, const Level& array, std::uint64_t at) {
  const std::uint64_t least = LeastElement(c, array.type);
  const auto bytes = CheckedMultiply(array.remaining, least);
  if (!bytes) {
    return c.Refuse(rules::kArrayLengthWrap, at,
                    "the elements' size does not fit in 64 bits");
  }
  if (*bytes > c.Left()) {
    return c.Refuse(rules::kArrayLengthPastEof, at,
                    std::to_string(array.remaining) +
                        " elements cannot fit in " + std::to_string(c.Left()) +
                        " bytes");
  }
  return array.remaining <= kMaxArrayElements ||
         c.Refuse(rules::kLimitArrayCap, at,
                  "array of more than 2^30 elements");
}

// The length of an array of unknown elements is read only to name the rule.
bool RefuseUnknownElement(Context& c, std::uint32_t type, std::uint64_t at) {
  const auto length = c.Length(rules::kKvEntryTruncated);
  if (!length) return false;
  return c.Refuse(
      *length == 0 ? rules::kArrayElemUnknownEmpty : rules::kArrayElemUnknown,
      at, "element type " + std::to_string(type));
}

// Element type and length; level 1 is the outermost array.
std::optional<Level> ReadArrayHeader(Context& c, std::uint32_t level) {
  Level array;
  const std::uint64_t type_at = c.pos();
  const auto type = c.U32(rules::kKvEntryTruncated);
  if (!type) return std::nullopt;
  array.type = *type;
  if (array.type >= kValueTypes) {
    RefuseUnknownElement(c, array.type, type_at);
    return std::nullopt;
  }
  if (array.type == kArray && !CheckNesting(c, level, type_at)) {
    return std::nullopt;
  }
  const std::uint64_t length_at = c.pos();
  const auto length = c.Length(rules::kKvEntryTruncated);
  if (!length) return std::nullopt;
  array.remaining = *length;
  if (!CheckArrayLength(c, array, length_at)) return std::nullopt;
  return array;
}

// All elements of a fixed-size type; they stay where they are.
bool ReadItems(Context& c, std::uint32_t type, std::uint64_t count) {
  const std::uint64_t begin = c.pos();
  const std::uint64_t size = count * ValueWidth(type);
  if (!c.Have(size, rules::kArrayLengthPastEof)) return false;
  c.Skip(size);
  if (type != kBool) return true;
  const auto bools = c.file.Bytes({begin, size});
  for (std::uint64_t i = 0; i < count; ++i) {
    if (bools[i] <= 1) continue;
    // One finding is enough: the next ones are of the same rule.
    return c.Permits(rules::kArrayBoolRange, begin + i,
                     "bool element is neither 0 nor 1");
  }
  return true;
}

}  // namespace

bool ReadArray(Context& c) {
  std::array<Level, kMaxArrayLevels> open;
  std::uint32_t depth = 0;
  const auto outermost = ReadArrayHeader(c, 1);
  if (!outermost) return false;
  open[depth++] = *outermost;
  while (depth > 0) {
    Level& array = open[depth - 1];
    if (array.remaining == 0) {
      --depth;
    } else if (array.type == kArray) {
      --array.remaining;
      const auto inner = ReadArrayHeader(c, depth + 1);
      if (!inner) return false;
      open[depth++] = *inner;
    } else if (array.type == kString) {
      --array.remaining;
      if (!ReadString(c)) return false;
    } else {
      if (!ReadItems(c, array.type, array.remaining)) return false;
      array.remaining = 0;
    }
  }
  return true;
}

}  // namespace weightproof::gguf
