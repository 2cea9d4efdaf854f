// Reads the words, numbers, strings and expressions of a recipe.
//
// Every function that can fail returns false or nothing, and the first failure
// is kept with its position; the caller unwinds.
#ifndef WEIGHTPROOF_CORPUS_RECIPE_READER_H_
#define WEIGHTPROOF_CORPUS_RECIPE_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weightproof::corpus {

// Wide enough for every 64-bit value of either sign and their sums.
using Wide = __int128;

// The value of an expression. If a label is not defined yet, missing names it
// and value means nothing.
struct Number {
  Wide value = 0;
  std::string missing;
  std::size_t file = 0;  // file of the last label used, for places
  bool known() const { return missing.empty(); }
};

struct LabelValue {
  std::uint64_t position = 0;
  std::size_t file = 0;
};

// One part of a string: bytes, n times.
struct Piece {
  std::string bytes;
  std::uint64_t n = 1;
};

class Reader {
 public:
  using Resolver =
      std::function<std::optional<LabelValue>(std::string_view name)>;

  Reader(std::string_view text, Resolver resolve)
      : text_(text), resolve_(std::move(resolve)) {}

  std::size_t position() const { return position_; }
  void Seek(std::size_t position) { position_ = position; }

  // The first failure; Fail at the current or the given position.
  bool failed() const { return failed_; }
  std::size_t error_position() const { return error_position_; }
  const std::string& error() const { return error_; }
  bool Fail(std::string message) { return FailAt(position_, message); }
  bool FailAt(std::size_t position, std::string message);

  // Blanks and comments; with newlines too, or not.
  void SkipBlanks();
  void SkipLines();
  // At a newline, ";", "}" or the end of the text, after blanks.
  bool AtStatementEnd();
  bool AtEnd() const { return position_ == text_.size(); }
  bool Take(char c);     // consumes c if it is next, after blanks
  bool Looking(char c);  // the same without consuming
  // The next word [A-Za-z_][A-Za-z0-9_.]*, or "" if there is none.
  std::string Word();
  std::string PeekWord();
  bool TakeWord(std::string_view word);
  // Everything up to the end of the line, blanks trimmed, comments included.
  std::string RestOfLine();

  std::optional<Number> Expression();
  // An expression of earlier labels only, 0 <= value < 2^64.
  std::optional<std::uint64_t> Count(std::string_view what);
  // "abc" * 3 + "d"
  std::optional<std::vector<Piece>> String();
  // 1.5, -inf, nan, or "bits EXPR"; as bits of the given width (32 or 64).
  std::optional<std::uint64_t> FloatBits(int width);
  // Pairs of hex digits up to the end of the statement.
  std::optional<std::vector<std::uint8_t>> HexBytes();

 private:
  std::optional<Number> Product();
  std::optional<Number> Power();
  std::optional<Number> Atom();
  std::optional<Number> Literal();
  std::optional<std::string> Quoted();
  bool Escape(std::string& out);
  bool Combine(char op, std::size_t at, Number& left, const Number& right);

  std::string_view text_;
  Resolver resolve_;
  std::size_t position_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  std::size_t error_position_ = 0;
  std::string error_;
};

std::string ToText(Wide value);

}  // namespace weightproof::corpus

#endif  // WEIGHTPROOF_CORPUS_RECIPE_READER_H_
