// Runs, padding, repeated blocks, files and side files.
#include <fmt/format.h>

#include <fstream>
#include <span>
#include <system_error>
#include <utility>

#include "corpus/recipe_builder.h"

namespace weightproof::corpus {
namespace {

// A repeated unit is literal bytes; longer ones are better written otherwise.
constexpr std::uint64_t kMaxUnit = std::uint64_t{1} << 20;
constexpr int kMaxRepeatDepth = 16;

// The bytes of `ramp`: 01 02 .. 3B, over and over. No byte of it makes a
// half-precision infinity or NaN, whatever the block layout.
constexpr std::uint8_t kRampLength = 59;

}  // namespace

bool RecipeBuilder::Run(const std::string& word) {
  const auto n = reader_.Count("the length");
  if (!n) return false;
  if (word == "hole") return TooLong(image().AppendHole(*n));
  if (word == "zeros") return EmitFill(*n, 0);
  if (word == "fill") {
    reader_.SkipBlanks();
    const std::size_t at = reader_.position();
    const auto byte = reader_.Count("the byte");
    if (!byte) return false;
    if (*byte > 255) return reader_.FailAt(at, "a byte is 0 to 255");
    return EmitFill(*n, static_cast<std::uint8_t>(*byte));
  }
  std::vector<std::uint8_t> unit(kRampLength);
  for (std::uint8_t i = 0; i < kRampLength; ++i) unit[i] = i + 1;
  return TooLong(image().AppendRepeat(unit, *n / kRampLength)) &&
         Emit(
             std::span(unit).first(static_cast<std::size_t>(*n % kRampLength)));
}

bool RecipeBuilder::Pad() {
  std::uint64_t to = alignment_;
  std::uint64_t byte = 0;
  reader_.SkipBlanks();
  const std::size_t at = reader_.position();
  if (!reader_.AtStatementEnd()) {
    const auto value = reader_.Count("the alignment");
    if (!value) return false;
    to = *value;
    if (to == 0) return reader_.FailAt(at, "pad 0 has no meaning");
  }
  if (!reader_.AtStatementEnd()) {
    const auto value = reader_.Count("the byte");
    if (!value) return false;
    byte = *value;
    if (byte > 255) return reader_.FailAt(at, "a byte is 0 to 255");
  }
  return EmitFill((to - position() % to) % to, static_cast<std::uint8_t>(byte));
}

bool RecipeBuilder::UpTo() {
  reader_.SkipBlanks();
  const std::size_t at = reader_.position();
  const auto to = reader_.Count("the position");
  if (!to) return false;
  std::uint64_t byte = 0;
  if (!reader_.AtStatementEnd()) {
    const auto value = reader_.Count("the byte");
    if (!value) return false;
    byte = *value;
  }
  if (byte > 255) return reader_.FailAt(at, "a byte is 0 to 255");
  if (*to < position()) {
    return reader_.FailAt(
        at, fmt::format("already at {}, past {}", position(), *to));
  }
  return EmitFill(*to - position(), static_cast<std::uint8_t>(byte));
}

bool RecipeBuilder::RepeatBlock() {
  reader_.SkipBlanks();
  const std::size_t at = reader_.position();
  const auto n = reader_.Count("the number of repetitions");
  if (!n) return false;
  if (!reader_.Take('{')) return reader_.Fail("expected {");
  if (++repeat_depth_ > kMaxRepeatDepth) {
    return reader_.FailAt(at, "too many repeats inside each other");
  }
  Image unit;
  Image* const outer = std::exchange(target_, &unit);
  for (reader_.SkipLines(); !reader_.Looking('}'); reader_.SkipLines()) {
    if (reader_.AtEnd()) return reader_.FailAt(at, "this repeat is not closed");
    if (!Statement()) return false;
  }
  reader_.Take('}');
  target_ = outer;
  --repeat_depth_;
  const auto bytes = unit.bytes().Materialize(kMaxUnit);
  if (!bytes) {
    return reader_.FailAt(at, "the repeated part is longer than 1 MiB");
  }
  return TooLong(image().AppendRepeat(*bytes, *n));
}

bool RecipeBuilder::NewFile() {
  const auto name = reader_.String();
  if (!name) return false;
  std::string text;
  for (const Piece& piece : *name) text += piece.bytes;
  if (named_files_) {
    files_.emplace_back();
  } else if (position() > 0) {
    return reader_.Fail("file comes before the first byte");
  }
  named_files_ = true;
  files_.back().name = text;
  target_ = &files_.back().image;
  alignment_ = 32;
  big_endian_ = version_one_ = false;
  return true;
}

bool RecipeBuilder::SideFile() {
  reader_.SkipBlanks();
  const std::size_t at = reader_.position();
  const auto name = reader_.String();
  if (!name) return false;
  std::string text;
  for (const Piece& piece : *name) text += piece.bytes;
  std::uint64_t from = 0;
  std::optional<std::uint64_t> size;
  if (reader_.TakeWord("from")) {
    const auto value = reader_.Count("the start");
    if (!value) return false;
    from = *value;
  }
  if (reader_.TakeWord("size")) {
    size = reader_.Count("the size");
    if (!size) return false;
  }
  const std::filesystem::path path = folder_ / text;
  std::error_code code;
  const std::uint64_t have = std::filesystem::file_size(path, code);
  std::ifstream in(path, std::ios::binary);
  if (code || !in) {
    return reader_.FailAt(at, fmt::format("{} cannot be read", path.string()));
  }
  if (from > have || (size && *size > have - from)) {
    return reader_.FailAt(
        at, fmt::format("{} has only {} bytes", path.string(), have));
  }
  std::vector<std::uint8_t> bytes(
      static_cast<std::size_t>(size.value_or(have - from)));
  in.seekg(static_cast<std::streamoff>(from));
  in.read(reinterpret_cast<char*>(bytes.data()),
          static_cast<std::streamsize>(bytes.size()));
  if (!in) {
    return reader_.FailAt(at, fmt::format("{} cannot be read", path.string()));
  }
  return Emit(bytes);
}

bool RecipeBuilder::CutHere() {
  reader_.SkipBlanks();
  const std::size_t at = reader_.position();
  const auto size = reader_.Count("the size to cut to");
  if (!size) return false;
  if (*size > position()) {
    return reader_.FailAt(
        at, fmt::format("cut to {}, but the file has only {} bytes", *size,
                        position()));
  }
  files_.back().cut = *size;
  return true;
}

}  // namespace weightproof::corpus
