#include "corpus/recipe_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace weightproof::corpus {
namespace {

struct IntegerWord {
  int width = 0;
  bool is_signed = false;
  bool is_float = false;
  std::optional<bool> big;
};

// "u32", "i16be", "f64le"; width 0 if it is no such word.
IntegerWord ParseTypeWord(std::string_view word) {
  IntegerWord out;
  if (word.ends_with("be") || word.ends_with("le")) {
    out.big = word.ends_with("be");
    word.remove_suffix(2);
  }
  constexpr std::array<std::pair<std::string_view, IntegerWord>, 10> kWords = {{
      {"u8", {1, false, false, {}}},
      {"i8", {1, true, false, {}}},
      {"u16", {2, false, false, {}}},
      {"i16", {2, true, false, {}}},
      {"u32", {4, false, false, {}}},
      {"i32", {4, true, false, {}}},
      {"u64", {8, false, false, {}}},
      {"i64", {8, true, false, {}}},
      {"f32", {4, false, true, {}}},
      {"f64", {8, false, true, {}}},
  }};
  for (const auto& [name, form] : kWords) {
    if (word != name) continue;
    out.width = form.width;
    out.is_signed = form.is_signed;
    out.is_float = form.is_float;
    return out;
  }
  return {};
}

}  // namespace

RecipeBuilder::RecipeBuilder(std::string_view text,
                             const std::filesystem::path& folder)
    : folder_(folder),
      reader_(text, [this](std::string_view name) { return Resolve(name); }) {
  files_.emplace_back();
  target_ = &files_.back().image;
}

std::optional<Assembly> RecipeBuilder::Run() {
  for (reader_.SkipLines(); !reader_.AtEnd(); reader_.SkipLines()) {
    if (!Statement()) return std::nullopt;
  }
  if (!Finish()) return std::nullopt;
  return std::move(out_);
}

std::optional<LabelValue> RecipeBuilder::Resolve(std::string_view name) const {
  if (name == "here") {
    if (repeat_depth_ > 0) return std::nullopt;
    return LabelValue{here_, 0};
  }
  const auto found = out_.labels.find(std::string(name));
  if (found == out_.labels.end()) return std::nullopt;
  return LabelValue{found->second.position, found->second.file};
}

bool RecipeBuilder::LabelHere(const std::string& name, std::size_t at,
                              bool automatic) {
  if (repeat_depth_ > 0) {
    return automatic || reader_.FailAt(at, "no labels inside repeat");
  }
  if (name == "here" || name == "end") {
    return reader_.FailAt(at, fmt::format("{} is a reserved label", name));
  }
  const auto before = automatic_.find(name);
  if (before != automatic_.end() && !(before->second || automatic)) {
    return reader_.FailAt(at, fmt::format("the label {} is taken", name));
  }
  // What a macro names by itself may be named again: every file has its own.
  if (before != automatic_.end() && automatic && !before->second) return true;
  automatic_[name] = automatic;
  out_.labels[name] = Place{files_.size() - 1, position()};
  return true;
}

void RecipeBuilder::AutoLabel(const std::string& label, const char* part,
                              std::uint64_t at) {
  if (label.empty() || repeat_depth_ > 0) return;
  const std::string name = label + part;
  automatic_.emplace(name, true);
  out_.labels[name] = Place{files_.size() - 1, at};
}

void RecipeBuilder::AutoLabel(const std::string& label, const char* part) {
  AutoLabel(label, part, position());
}

bool RecipeBuilder::Statement() {
  std::string label;
  reader_.SkipBlanks();
  std::size_t at = reader_.position();
  std::string word = reader_.Word();
  while (!word.empty() && reader_.Take(':')) {
    body_started_ = true;
    if (!LabelHere(word, at, false)) return false;
    label = word;
    if (reader_.AtStatementEnd()) return true;
    at = reader_.position();
    word = reader_.Word();
  }
  if (word.empty()) return reader_.FailAt(at, "expected a statement");
  bool handled = false;
  if (label.empty() && !Header(word, at, handled)) return false;
  if (handled) return true;
  if (files_.back().cut) {
    return reader_.FailAt(at, "nothing may follow cut in its file");
  }
  body_started_ = true;
  here_ = position();
  if (!Core(word, at, handled)) return false;
  if (!handled && !Gguf(word, label, handled)) return false;
  if (!handled) {
    return reader_.FailAt(at, fmt::format("unknown statement {}", word));
  }
  if (!reader_.AtStatementEnd()) {
    return reader_.Fail("unexpected text after this statement");
  }
  return true;
}

bool RecipeBuilder::Core(const std::string& word, std::size_t at,
                         bool& handled) {
  handled = true;
  const IntegerWord type = ParseTypeWord(word);
  if (type.width > 0) {
    const bool big = type.big.value_or(big_endian_);
    do {
      reader_.SkipLines();
      if (!(type.is_float ? Floats(type.width, big)
                          : EmitExpression(type.width, type.is_signed, big))) {
        return false;
      }
    } while (reader_.Take(','));
    return true;
  }
  if (word == "hex") {
    const auto bytes = reader_.HexBytes();
    return bytes && Emit(*bytes);
  }
  if (word == "text") {
    const auto pieces = reader_.String();
    return pieces && EmitPieces(*pieces);
  }
  if (word == "fill" || word == "zeros" || word == "hole" || word == "ramp") {
    return Run(word);
  }
  if (word == "repeat") return RepeatBlock();
  if (repeat_depth_ > 0 &&
      (word == "pad" || word == "upto" || word == "data" || word == "cut" ||
       word == "file" || word == "side" || word == "endian")) {
    return reader_.FailAt(at, fmt::format("no {} inside repeat", word));
  }
  if (word == "pad") return Pad();
  if (word == "upto") return UpTo();
  if (word == "data") {
    return EmitFill((alignment_ - position() % alignment_) % alignment_, 0) &&
           LabelHere("data", at, true);
  }
  if (word == "cut") return CutHere();
  if (word == "file") return NewFile();
  if (word == "side") return SideFile();
  if (word == "endian") {
    const std::string order = reader_.Word();
    big_endian_ = order == "big";
    return big_endian_ || order == "little" ||
           reader_.FailAt(at, "endian is big or little");
  }
  if (word == "alignment") {
    const auto value = reader_.Count("the alignment");
    if (!value) return false;
    alignment_ = *value;
    return *value > 0 || reader_.FailAt(at, "the alignment is at least 1");
  }
  handled = false;
  return true;
}

bool RecipeBuilder::TooLong(bool fits) {
  return fits || reader_.Fail("the file would have 2^63 bytes or more");
}

bool RecipeBuilder::Emit(std::span<const std::uint8_t> bytes) {
  return TooLong(image().Append(bytes));
}

bool RecipeBuilder::EmitFill(std::uint64_t n, std::uint8_t byte) {
  const std::array<std::uint8_t, 1> unit = {byte};
  return TooLong(image().AppendRepeat(unit, n));
}

bool RecipeBuilder::EmitPieces(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    const std::vector<std::uint8_t> unit(piece.bytes.begin(),
                                         piece.bytes.end());
    if (!TooLong(piece.n == 1 ? image().Append(unit)
                              : image().AppendRepeat(unit, piece.n))) {
      return false;
    }
  }
  return true;
}

bool RecipeBuilder::Encode(Wide value, const IntegerForm& form, std::size_t at,
                           std::array<std::uint8_t, 8>& bytes) {
  const int bits = form.width * 8;
  const Wide low = form.is_signed ? -(Wide{1} << (bits - 1)) : 0;
  const Wide high = Wide{1} << (form.is_signed ? bits - 1 : bits);
  if (value < low || value >= high) {
    return reader_.FailAt(at,
                          fmt::format("{} does not fit in {}{}", ToText(value),
                                      form.is_signed ? 'i' : 'u', bits));
  }
  const auto pattern = static_cast<std::uint64_t>(value);
  for (int i = 0; i < form.width; ++i) {
    const int place = form.big ? form.width - 1 - i : i;
    bytes[static_cast<std::size_t>(place)] =
        static_cast<std::uint8_t>(pattern >> (8 * i));
  }
  return true;
}

bool RecipeBuilder::EmitInteger(Wide value, int width, bool is_signed, bool big,
                                std::size_t at, Image::Spot* spot) {
  std::array<std::uint8_t, 8> bytes{};
  if (!Encode(value, {width, is_signed, big}, at, bytes)) return false;
  return TooLong(image().Append(
      std::span(bytes).first(static_cast<std::size_t>(width)), spot));
}

bool RecipeBuilder::EmitExpression(int width, bool is_signed, bool big) {
  reader_.SkipBlanks();
  const std::size_t at = reader_.position();
  here_ = position();
  const auto number = reader_.Expression();
  if (!number) return false;
  if (number->known()) {
    return EmitInteger(number->value, width, is_signed, big, at, nullptr);
  }
  if (repeat_depth_ > 0) {
    return reader_.FailAt(at, fmt::format("inside repeat the label {} must be "
                                          "defined before",
                                          number->missing));
  }
  Image::Spot spot;
  if (!EmitInteger(0, width, is_signed, big, at, &spot)) return false;
  fixups_.push_back(
      {files_.size() - 1, spot, {width, is_signed, big}, at, here_});
  return true;
}

bool RecipeBuilder::Floats(int width, bool big) {
  const std::size_t at = reader_.position();
  const auto bits = reader_.FloatBits(width * 8);
  return bits &&
         EmitInteger(static_cast<Wide>(*bits), width, false, big, at, nullptr);
}

bool RecipeBuilder::ResolveFixups() {
  for (const Fixup& fixup : fixups_) {
    reader_.Seek(fixup.source);
    here_ = fixup.here;
    const auto number = reader_.Expression();
    if (!number) return false;
    if (!number->known()) {
      return reader_.FailAt(fixup.source,
                            fmt::format("no label {}", number->missing));
    }
    std::array<std::uint8_t, 8> bytes{};
    if (!Encode(number->value, fixup.form, fixup.source, bytes)) return false;
    files_[fixup.file].image.Overwrite(
        fixup.spot,
        std::span(bytes).first(static_cast<std::size_t>(fixup.form.width)));
  }
  return true;
}

bool RecipeBuilder::Finish() {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::uint64_t size =
        files_[i].cut.value_or(files_[i].image.position());
    out_.labels["end"] = Place{i, size};
  }
  if (!ResolveFixups() || !ResolvePlaces()) return false;
  for (File& file : files_) {
    if (file.cut) file.image.Cut(*file.cut);
    if (named_files_) {
      out_.files.push_back({file.name, file.image.bytes()});
    } else {
      out_.bytes = file.image.bytes();
    }
  }
  return true;
}

}  // namespace weightproof::corpus
