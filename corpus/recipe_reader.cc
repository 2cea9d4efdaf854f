#include "corpus/recipe_reader.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <limits>
#include <utility>

namespace weightproof::corpus {
namespace {

constexpr int kMaxDepth = 64;

// Results stay below this, so that no sum or product of two overflows.
constexpr Wide kMaxValue = Wide{1} << 100;

Wide Magnitude(Wide value) { return value < 0 ? -value : value; }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsWord(char c) { return IsWordStart(c) || IsDigit(c) || c == '.'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string ToText(Wide value) {
  const bool negative = value < 0;
  auto rest = static_cast<unsigned __int128>(value);
  if (negative) rest = 0 - rest;
  std::string out;
  do {
    out.insert(out.begin(), static_cast<char>('0' + int(rest % 10)));
    rest /= 10;
  } while (rest > 0);
  return negative ? "-" + out : out;
}

bool Reader::FailAt(std::size_t position, std::string message) {
  if (!failed_) {
    failed_ = true;
    error_position_ = position;
    error_ = std::move(message);
  }
  return false;
}

void Reader::SkipBlanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '#') {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else {
      return;
    }
  }
}

void Reader::SkipLines() {
  for (SkipBlanks(); position_ < text_.size() &&
                     (text_[position_] == '\n' || text_[position_] == ';');
       SkipBlanks()) {
    ++position_;
  }
}

bool Reader::AtStatementEnd() {
  SkipBlanks();
  if (AtEnd()) return true;
  const char c = text_[position_];
  return c == '\n' || c == ';' || c == '}';
}

bool Reader::Looking(char c) {
  SkipBlanks();
  return !AtEnd() && text_[position_] == c;
}

bool Reader::Take(char c) {
  if (!Looking(c)) return false;
  ++position_;
  return true;
}

std::string Reader::PeekWord() {
  const std::size_t before = position_;
  std::string word = Word();
  position_ = before;
  return word;
}

std::string Reader::Word() {
  SkipBlanks();
  std::size_t end = position_;
  if (end < text_.size() && IsWordStart(text_[end])) {
    while (end < text_.size() && IsWord(text_[end])) ++end;
  }
  std::string word(text_.substr(position_, end - position_));
  position_ = end;
  return word;
}

bool Reader::TakeWord(std::string_view word) {
  const std::size_t before = position_;
  if (Word() == word) return true;
  position_ = before;
  return false;
}

std::string Reader::RestOfLine() {
  const std::size_t end = std::min(text_.find('\n', position_), text_.size());
  std::string_view rest = text_.substr(position_, end - position_);
  position_ = end;
  const std::size_t begin = rest.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(
      rest.substr(begin, rest.find_last_not_of(" \t\r") - begin + 1));
}

bool Reader::Combine(char op, std::size_t at, Number& left,
                     const Number& right) {
  if (!right.known() && left.known()) left.missing = right.missing;
  if (right.file != 0) left.file = right.file;
  const Wide a = left.value, b = right.value;
  bool fits = true;
  if (op == '*') {
    fits = a == 0 || b == 0 || Magnitude(b) <= kMaxValue / Magnitude(a);
    left.value = fits ? a * b : 0;
  } else {
    left.value = op == '+' ? a + b : a - b;
    fits = Magnitude(left.value) <= kMaxValue;
  }
  return fits || FailAt(at, "this result has more than 100 bits");
}

std::optional<Number> Reader::Expression() {
  if (++depth_ > kMaxDepth) {
    Fail("too many parentheses");
    return std::nullopt;
  }
  auto left = Product();
  while (left) {
    const std::size_t at = position_;
    const char op = Take('+') ? '+' : Take('-') ? '-' : '\0';
    if (op == '\0') break;
    const auto right = Product();
    if (!right || !Combine(op, at, *left, *right)) left = std::nullopt;
  }
  --depth_;
  return left;
}

std::optional<Number> Reader::Product() {
  auto left = Power();
  while (left) {
    const std::size_t at = position_;
    if (!Take('*')) break;
    const auto right = Power();
    if (!right || !Combine('*', at, *left, *right)) return std::nullopt;
  }
  return left;
}

std::optional<Number> Reader::Power() {
  const std::size_t at = position_;
  if (Take('-')) {
    if (++depth_ > kMaxDepth) {
      Fail("too many signs");
      return std::nullopt;
    }
    auto operand = Power();
    --depth_;
    if (operand) operand->value = -operand->value;
    return operand;
  }
  auto base = Atom();
  if (!base || !Take('^')) return base;
  const auto exponent = Atom();
  if (!exponent) return std::nullopt;
  if (!base->known() || !exponent->known()) {
    FailAt(at, "^ takes numbers and earlier labels only");
    return std::nullopt;
  }
  if (exponent->value < 0 || exponent->value > 100) {
    FailAt(at, "an exponent is 0 to 100");
    return std::nullopt;
  }
  Number result{1, {}, base->file};
  for (Wide i = 0; i < exponent->value; ++i) {
    if (!Combine('*', at, result, *base)) return std::nullopt;
  }
  return result;
}

std::optional<Number> Reader::Atom() {
  if (Take('(')) {
    auto inner = Expression();
    if (inner && !Take(')')) {
      Fail("expected )");
      return std::nullopt;
    }
    return inner;
  }
  SkipBlanks();
  if (!AtEnd() && IsDigit(text_[position_])) return Literal();
  const std::string name = Word();
  if (name.empty()) {
    Fail("expected a number, a label or (");
    return std::nullopt;
  }
  const auto found = resolve_(name);
  if (!found) return Number{0, name, 0};
  return Number{static_cast<Wide>(found->position), {}, found->file};
}

std::optional<Number> Reader::Literal() {
  const std::size_t at = position_;
  const bool hex = text_.substr(position_).starts_with("0x") ||
                   text_.substr(position_).starts_with("0X");
  if (hex) position_ += 2;
  const std::size_t first = position_;
  std::uint64_t value = 0;
  for (; position_ < text_.size(); ++position_) {
    const char c = text_[position_];
    if (c == '_' && position_ > first) continue;
    const int digit = HexDigit(c);
    if (digit < 0 || (!hex && digit > 9)) break;
    if (__builtin_mul_overflow(value, hex ? 16u : 10u, &value) ||
        __builtin_add_overflow(value, static_cast<unsigned>(digit), &value)) {
      FailAt(at, "a number of more than 64 bits; write 2^N");
      return std::nullopt;
    }
  }
  if (position_ == first) {
    FailAt(at, "0x without digits");
    return std::nullopt;
  }
  if (position_ < text_.size() && IsWord(text_[position_])) {
    Fail(fmt::format("unexpected '{}' in a number", text_[position_]));
    return std::nullopt;
  }
  return Number{static_cast<Wide>(value), {}, 0};
}

std::optional<std::uint64_t> Reader::Count(std::string_view what) {
  SkipBlanks();
  const std::size_t at = position_;
  const auto number = Expression();
  if (!number) return std::nullopt;
  if (!number->known()) {
    FailAt(at, fmt::format("{} must be known here, but the label {} is not "
                           "defined before",
                           what, number->missing));
    return std::nullopt;
  }
  if (number->value < 0 ||
      number->value > std::numeric_limits<std::uint64_t>::max()) {
    FailAt(at, fmt::format("{} is {}, not an unsigned 64-bit number", what,
                           ToText(number->value)));
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(number->value);
}

bool Reader::Escape(std::string& out) {
  const std::size_t at = position_ - 1;
  const char c = AtEnd() ? '\0' : text_[position_++];
  constexpr std::string_view kNames = "0nrt\\\"";
  constexpr std::string_view kValues("\0\n\r\t\\\"", 6);
  if (const auto i = kNames.find(c); c != '\0' && i != kNames.npos) {
    out += kValues[i];
    return true;
  }
  if (c == 'x' && position_ + 2 <= text_.size()) {
    const int high = HexDigit(text_[position_]);
    const int low = HexDigit(text_[position_ + 1]);
    if (high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      position_ += 2;
      return true;
    }
  }
  return FailAt(at,
                "unknown escape; there are \\0 \\n \\r \\t \\\\ \\\" \\xHH");
}

std::optional<std::string> Reader::Quoted() {
  SkipBlanks();
  const std::size_t at = position_;
  if (!Take('"')) {
    Fail("expected a string in double quotes");
    return std::nullopt;
  }
  std::string out;
  while (!AtEnd() && text_[position_] != '\n') {
    const char c = text_[position_++];
    if (c == '"') return out;
    if (c != '\\') {
      out += c;
    } else if (!Escape(out)) {
      return std::nullopt;
    }
  }
  FailAt(at, "this string is not closed on its line");
  return std::nullopt;
}

std::optional<std::vector<Piece>> Reader::String() {
  std::vector<Piece> pieces;
  do {
    auto text = Quoted();
    if (!text) return std::nullopt;
    Piece piece{std::move(*text), 1};
    if (Take('*')) {
      SkipBlanks();
      const std::size_t at = position_;
      const auto factor = Power();
      if (!factor) return std::nullopt;
      if (!factor->known() || factor->value < 0 ||
          factor->value > (Wide{1} << 62)) {
        FailAt(at, "a string is repeated by a number from 0 to 2^62");
        return std::nullopt;
      }
      piece.n = static_cast<std::uint64_t>(factor->value);
    }
    pieces.push_back(std::move(piece));
  } while (Take('+'));
  return pieces;
}

std::optional<std::uint64_t> Reader::FloatBits(int width) {
  SkipBlanks();
  const std::size_t at = position_;
  if (TakeWord("bits")) {
    const auto bits = Count("the bit pattern");
    if (bits && width == 32 && *bits > 0xffffffffu) {
      FailAt(at, "the bit pattern of an f32 has 32 bits");
      return std::nullopt;
    }
    return bits;
  }
  const char* const begin = text_.data() + position_;
  const char* const end = text_.data() + text_.size();
  float single = 0;
  double both = 0;
  const auto result = width == 32 ? std::from_chars(begin, end, single)
                                  : std::from_chars(begin, end, both);
  if (result.ec != std::errc()) {
    FailAt(at, "expected a floating-point number or: bits EXPR");
    return std::nullopt;
  }
  position_ += static_cast<std::size_t>(result.ptr - begin);
  if (width == 32) return std::bit_cast<std::uint32_t>(single);
  return std::bit_cast<std::uint64_t>(both);
}

std::optional<std::vector<std::uint8_t>> Reader::HexBytes() {
  std::vector<std::uint8_t> out;
  while (!AtStatementEnd()) {
    const std::size_t at = position_;
    const int high = HexDigit(text_[position_]);
    const int low =
        position_ + 1 < text_.size() ? HexDigit(text_[position_ + 1]) : -1;
    if (high < 0 || low < 0) {
      FailAt(at, "expected pairs of hex digits");
      return std::nullopt;
    }
    out.push_back(static_cast<std::uint8_t>(high * 16 + low));
    position_ += 2;
  }
  return out;
}

}  // namespace weightproof::corpus
