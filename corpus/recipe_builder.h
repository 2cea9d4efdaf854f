// Builds one recipe: the statements of corpus/RECIPES.md. The core statements
// are in recipe_builder.cc and recipe_builder_bytes.cc, the header's in
// recipe_builder_header.cc, the GGUF macros in recipe_builder_gguf.cc.
#ifndef WEIGHTPROOF_CORPUS_RECIPE_BUILDER_H_
#define WEIGHTPROOF_CORPUS_RECIPE_BUILDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/image.h"
#include "corpus/recipe.h"
#include "corpus/recipe_reader.h"
#include "corpus/recipe_text.h"

namespace weightproof::corpus {

class RecipeBuilder {
 public:
  RecipeBuilder(std::string_view text, const std::filesystem::path& folder);

  // Runs once. On failure the reader holds the message and its position in
  // the text.
  std::optional<Assembly> Run();
  const Reader& reader() const { return reader_; }

 private:
  struct IntegerForm {
    int width;
    bool is_signed;
    bool big;
  };

  // An integer whose label was not defined when its bytes were placed.
  struct Fixup {
    std::size_t file;
    Image::Spot spot;
    IntegerForm form;
    std::size_t source;  // of the expression in the text
    std::uint64_t here;
  };

  // A header place ("at LABEL"), known once all is assembled.
  struct PendingPlace {
    std::size_t source;
    std::size_t claim;  // index into recipe.profiles, or kSpec
  };
  static constexpr std::size_t kSpec = static_cast<std::size_t>(-1);

  struct File {
    std::string name;
    Image image;
    std::optional<std::uint64_t> cut;
  };

  Image& image() { return *target_; }
  std::uint64_t position() const { return target_->position(); }

  // Statements.
  bool Statement();
  bool Header(const std::string& word, std::size_t at, bool& handled);
  bool Verdict(std::string& verdict, std::size_t claim);
  bool Core(const std::string& word, std::size_t at, bool& handled);
  bool Gguf(const std::string& word, const std::string& label, bool& handled);
  bool LabelHere(const std::string& name, std::size_t at, bool automatic);
  void AutoLabel(const std::string& label, const char* part);
  void AutoLabel(const std::string& label, const char* part,
                 std::uint64_t position);

  // Core statements.
  bool Integers(std::string_view word);
  bool Floats(int width, bool big);
  bool Run(const std::string& word);  // fill, zeros, hole, ramp
  bool Pad();
  bool UpTo();
  bool RepeatBlock();
  bool NewFile();
  bool SideFile();
  bool CutHere();

  // Emission.
  bool Emit(std::span<const std::uint8_t> bytes);
  bool Encode(Wide value, const IntegerForm& form, std::size_t at,
              std::array<std::uint8_t, 8>& bytes);
  bool EmitInteger(Wide value, int width, bool is_signed, bool big,
                   std::size_t at, Image::Spot* spot);
  bool EmitExpression(int width, bool is_signed, bool big);
  bool EmitLength(std::uint64_t value);
  bool EmitPieces(const std::vector<Piece>& pieces);
  bool EmitFill(std::uint64_t n, std::uint8_t byte);
  bool TooLong(bool fits);

  // GGUF macros.
  bool GgufHeader();
  bool KeyValue(const std::string& label);
  bool Tensor(const std::string& label);
  bool Array(const std::string& label);
  // S(x), with the length that "len EXPR" states instead, if present.
  bool LengthAndBytes(const std::string& label);
  bool TypeField(bool tensor_type, std::optional<std::uint64_t>& type);
  bool Payload(std::uint64_t type, const std::string& label);
  // Positions of the elements of a list "[a, b]"; nothing is emitted.
  bool ScanList(std::optional<std::uint64_t> type,
                std::vector<std::size_t>& elements);
  int LengthWidth() const { return version_one_ ? 4 : 8; }

  bool Finish();
  bool ResolveFixups();
  bool ResolvePlaces();
  std::optional<LabelValue> Resolve(std::string_view name) const;

  std::filesystem::path folder_;
  Reader reader_;
  Assembly out_;
  std::vector<File> files_;
  Image* target_ = nullptr;  // of files_.back(), or of a repeated unit
  std::map<std::string, bool, std::less<>> automatic_;  // labels by macros
  std::vector<Fixup> fixups_;
  std::vector<PendingPlace> places_;
  std::uint64_t alignment_ = 32;
  std::uint64_t here_ = 0;
  int repeat_depth_ = 0;
  bool body_started_ = false;
  bool named_files_ = false;
  bool big_endian_ = false;
  bool version_one_ = false;
};

}  // namespace weightproof::corpus

#endif  // WEIGHTPROOF_CORPUS_RECIPE_BUILDER_H_
