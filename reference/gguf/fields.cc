#include "reference/gguf/fields.h"

#include <algorithm>
#include <array>
#include <utility>

#include "reference/gguf/checked.h"
#include "reference/gguf/context.h"
#include "reference/gguf/field_text.h"
#include "reference/gguf/field_walker.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf {
namespace {

constexpr std::array<std::string_view, 16> kKindNames = {
    "base",    "magic", "version",  "count",   "length", "type",
    "scalar",  "items", "text",     "dim",     "offset", "data",
    "padding", "gap",   "trailing", "unparsed"};

constexpr std::string_view kAlignmentKey = "general.alignment";

bool IsText(std::span<const std::uint8_t> bytes, std::string_view text) {
  return std::ranges::equal(bytes, text, [](std::uint8_t a, char b) {
    return a == static_cast<std::uint8_t>(b);
  });
}

std::string Indexed(const std::string& path, std::uint64_t index) {
  return path + "[" + std::to_string(index) + "]";
}

}  // namespace

std::string_view ToString(FieldKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

FieldWalk VisitFields(const Input& input,
                      const std::function<void(const Field&)>& visit,
                      bool values) {
  return FieldWalker(input, visit, values).Walk();
}

FieldWalker::FieldWalker(const Input& input,
                         const std::function<void(const Field&)>& visit,
                         bool values)
    : prefix_(input.prefix.first(static_cast<std::size_t>(
          std::min<std::uint64_t>(input.prefix.size(), input.file_size)))),
      file_size_(input.file_size),
      base_(input.base),
      visit_(visit),
      values_(values) {}

FieldWalk FieldWalker::Walk() {
  Stretch("base", FieldKind::kBase, std::min(base_, file_size_));
  walk_.complete = Header();
  for (std::uint64_t i = 0; walk_.complete && i < kv_count_; ++i) {
    walk_.complete = KeyValue(i);
  }
  for (std::uint64_t i = 0; walk_.complete && i < tensor_count_; ++i) {
    walk_.complete = Tensor(i);
  }
  walk_.stop = pos_;
  if (walk_.complete) {
    Data();
  } else {
    Stretch("unparsed", FieldKind::kUnparsed, file_size_, walk_.problem);
  }
  return std::move(walk_);
}

bool FieldWalker::Fail(std::string problem) {
  walk_.problem = std::move(problem);
  return false;
}

std::span<const std::uint8_t> FieldWalker::Bytes(std::uint64_t begin,
                                                 std::uint64_t size) const {
  return prefix_.subspan(static_cast<std::size_t>(begin),
                         static_cast<std::size_t>(size));
}

bool FieldWalker::Have(std::uint64_t size) {
  if (size > Left()) {
    return Fail("the file ends here: " + std::to_string(size) +
                " bytes wanted, " + std::to_string(Left()) + " left");
  }
  return pos_ + size <= prefix_.size() || Fail("the prefix ends here");
}

void FieldWalker::Stretch(std::string path, FieldKind kind, std::uint64_t end,
                          std::string value) {
  end = std::min(end, file_size_);
  if (end <= pos_) return;
  Field field;
  field.path = std::move(path);
  field.kind = kind;
  field.offset = pos_;
  field.size = end - pos_;
  field.value = std::move(value);
  pos_ = end;
  visit_(field);
}

std::optional<std::uint64_t> FieldWalker::Integer(std::uint64_t width) {
  if (!Have(width)) return std::nullopt;
  return LoadInteger(Bytes(pos_, width), walk_.big_endian);
}

std::optional<std::uint64_t> FieldWalker::Number(std::string path,
                                                 FieldKind kind,
                                                 std::uint64_t width, int depth,
                                                 std::uint32_t type) {
  const auto number = Integer(width);
  if (!number) return std::nullopt;
  Field field;
  field.path = std::move(path);
  field.kind = kind;
  field.offset = pos_;
  field.size = width;
  field.depth = depth;
  field.number = *number;
  field.type = type;
  if (values_) {
    field.value = kind == FieldKind::kType ? ValueTypeText(*number)
                                           : std::to_string(*number);
  }
  pos_ += width;
  visit_(field);
  return number;
}

bool FieldWalker::TextField(const std::string& length_path,
                            const std::string& path, int depth) {
  const auto length =
      Number(length_path, FieldKind::kLength, length_width_, depth, kString);
  if (!length || !Have(*length)) return false;
  Field field;
  field.path = path;
  field.kind = FieldKind::kText;
  field.offset = pos_;
  field.size = *length;
  field.depth = depth;
  if (values_) field.value = QuotedText(Bytes(pos_, *length));
  pos_ += *length;
  visit_(field);
  return true;
}

bool FieldWalker::Magic() {
  if (!Have(4)) return false;
  Stretch("header.magic", FieldKind::kMagic, pos_ + 4,
          values_ ? QuotedText(Bytes(pos_, 4)) : "");
  return true;
}

bool FieldWalker::Header() {
  const std::uint64_t magic_at = pos_;
  if (!Magic() || !Have(4)) return false;
  const bool reversed = IsText(Bytes(magic_at, 4), "FUGG");
  const std::uint64_t little = LoadInteger(Bytes(pos_, 4), false);
  const std::uint64_t big = LoadInteger(Bytes(pos_, 4), true);
  walk_.big_endian = big == 3 || (reversed && big >= 1 && big <= 3);
  const auto version = Number("header.version", FieldKind::kVersion, 4, 0);
  if (!version) return false;
  walk_.version = static_cast<std::uint32_t>(*version);
  if (*version < 1 || *version > 3) {
    return Fail("version " + std::to_string(little) +
                ": the layout is not known");
  }
  length_width_ = *version == 1 ? 4 : 8;
  const auto tensors =
      Number("header.tensor_count", FieldKind::kCount, length_width_, 0);
  if (!tensors) return false;
  const auto keys =
      Number("header.kv_count", FieldKind::kCount, length_width_, 0);
  if (!keys) return false;
  tensor_count_ = *tensors;
  kv_count_ = *keys;
  return true;
}

bool FieldWalker::KeyValue(std::uint64_t index) {
  const std::string path = Indexed("kv", index);
  const std::uint64_t begin = pos_ + length_width_;
  if (!TextField(path + ".key.len", path + ".key", 1)) return false;
  is_alignment_ = IsText(Bytes(begin, pos_ - begin), kAlignmentKey);
  const auto type = Number(path + ".type", FieldKind::kType, 4, 1);
  if (!type) return false;
  if (*type >= kValueTypes) return Fail("values of this type have no size");
  return Value(path + ".value", static_cast<std::uint32_t>(*type));
}

bool FieldWalker::Value(const std::string& path, std::uint32_t type) {
  if (type == kString) return TextField(path + ".len", path, 1);
  if (type == kArray) return Array(path);
  return ScalarField(path, type);
}

bool FieldWalker::ScalarField(const std::string& path, std::uint32_t type) {
  const std::uint64_t width = ValueWidth(type);
  const auto bits = Integer(width);
  if (!bits) return false;
  if (is_alignment_) NoteAlignment(type, *bits);
  Field field;
  field.path = path;
  field.kind = FieldKind::kScalar;
  field.offset = pos_;
  field.size = width;
  field.depth = 1;
  field.number = ExtendScalar(type, *bits);
  field.type = type;
  if (values_) field.value = ScalarText(type, *bits);
  pos_ += width;
  visit_(field);
  return true;
}

// Any positive integer is taken as it stands; the rest leaves 32.
void FieldWalker::NoteAlignment(std::uint32_t type, std::uint64_t bits) {
  walk_.alignment = 32;
  if (type == kF32 || type == kF64 || type == kBool) return;
  const std::uint64_t value = ExtendScalar(type, bits);
  const bool negative =
      (type == kI8 || type == kI16 || type == kI32 || type == kI64) &&
      (value >> 63) != 0;
  if (value != 0 && !negative) walk_.alignment = value;
}

std::optional<FieldWalker::Level> FieldWalker::ArrayHeader(
    const std::string& path, int depth) {
  const auto type = Number(path + ".elem", FieldKind::kType, 4, depth);
  if (!type) return std::nullopt;
  const auto count =
      Number(path + ".len", FieldKind::kLength, length_width_, depth, kArray);
  if (!count) return std::nullopt;
  if (*type >= kValueTypes && *count != 0) {
    Fail("elements of this type have no size");
    return std::nullopt;
  }
  return Level{path, static_cast<std::uint32_t>(*type), *count, 0};
}

// The first elements from here on.
std::string FieldWalker::ItemsText(const Level& level, std::uint64_t width) {
  constexpr std::uint64_t kShownItems = 8;
  std::string text;
  for (std::uint64_t i = 0; i < std::min(level.count, kShownItems); ++i) {
    text += i == 0 ? "" : ", ";
    text += ScalarText(level.type, LoadInteger(Bytes(pos_ + i * width, width),
                                               walk_.big_endian));
  }
  if (level.count > kShownItems) {
    text += ", ... (" + std::to_string(level.count) + " items)";
  }
  return text;
}

bool FieldWalker::ItemFields(const Level& level, int depth) {
  const std::uint64_t width = ValueWidth(level.type);
  if (width == 0) return true;  // an empty array of an unknown type
  if (level.count > Left() / width) {
    return Fail("the file ends inside the elements");
  }
  const std::uint64_t size = level.count * width;
  if (!Have(size)) return false;
  Field field;
  field.path = level.path + ".items";
  field.kind = FieldKind::kItems;
  field.offset = pos_;
  field.size = size;
  field.depth = depth;
  field.number = level.count;
  field.type = level.type;
  if (values_) field.value = ItemsText(level, width);
  pos_ += size;
  visit_(field);
  return true;
}

bool FieldWalker::Array(const std::string& path) {
  if (is_alignment_) walk_.alignment = 32;
  std::vector<Level> open;
  auto header = ArrayHeader(path, 1);
  if (!header) return false;
  open.push_back(std::move(*header));
  while (!open.empty()) {
    Level& level = open.back();
    const int depth = static_cast<int>(open.size()) + 1;
    if (level.type != kString && level.type != kArray) {
      if (!ItemFields(level, depth)) return false;
      open.pop_back();
    } else if (level.index == level.count) {
      open.pop_back();
    } else if (level.type == kString) {
      const std::string at = Indexed(level.path, level.index++);
      if (!TextField(at + ".len", at, depth)) return false;
    } else {
      if (open.size() == kMaxArrayLevels) {
        return Fail("more than 64 array levels");
      }
      header = ArrayHeader(Indexed(level.path, level.index++), depth);
      if (!header) return false;
      open.push_back(std::move(*header));
    }
  }
  return true;
}

}  // namespace weightproof::gguf
