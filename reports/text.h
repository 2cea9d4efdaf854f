// Text that people read: words for outcomes and sizes, and names that come
// from files and drivers made harmless.
#ifndef WEIGHTPROOF_REPORTS_TEXT_H_
#define WEIGHTPROOF_REPORTS_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weightproof::reports {

// Text from a file or driver for one line of a terminal: valid UTF-8 stays,
// control characters (C0, DEL, C1: newlines and escapes included), characters
// that reorder or hide text, and ill-formed bytes become \n, \x1b, \u202e,
// \xff. A backslash stays as it is.
std::string Printable(std::string_view text);

// As Printable, but newlines stay: for standard error. Tabs become spaces.
std::string PrintableLines(std::string_view text);

// Well-formed UTF-8, ill-formed bytes replaced by U+FFFD: for JSON.
std::string ValidUtf8(std::string_view text);

// &, <, >, " and ' as entities, after PrintableLines. Safe as HTML text, as
// the value of a quoted attribute, and as XML 1.0.
std::string HtmlEscape(std::string_view text);

// At most max characters (code points), an ellipsis in place of the rest.
std::string Shorten(std::string_view text, std::size_t max);

// Lines of at most width characters, broken at spaces where there are any.
std::vector<std::string> Wrap(std::string_view text, std::size_t width);

// Characters (code points) of well-formed text.
std::size_t Width(std::string_view text);

// 1 vector, 2 vectors.
std::string Count(std::uint64_t n, std::string_view noun);

// "24 bytes", "1.5 MiB".
std::string ByteCount(std::uint64_t n);

// text as one word of a POSIX shell.
std::string ShellQuote(std::string_view text);

}  // namespace weightproof::reports

#endif  // WEIGHTPROOF_REPORTS_TEXT_H_
