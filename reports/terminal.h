// The report for a terminal.
#ifndef WEIGHTPROOF_REPORTS_TERMINAL_H_
#define WEIGHTPROOF_REPORTS_TERMINAL_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace weightproof::reports {

using Json = nlohmann::json;

struct TerminalStyle {
  bool colour = false;
  std::size_t width = 80;  // columns, at least 60
};

// Colour and width for a file descriptor: colour only on a terminal, and not
// if NO_COLOR is set or TERM is dumb.
TerminalStyle StyleFor(int fd);

// Whether lines may be redrawn on the descriptor: a terminal that can, and not
// a CI job.
bool CanRedraw(int fd);

enum class Ink { kPlain, kBold, kDim, kRed, kGreen, kYellow, kBlue };

// text in a colour, or plain text where the style has none. text must be
// printable.
std::string Paint(const TerminalStyle& style, Ink ink, std::string_view text);

// The whole report: conclusion, table, then what needs attention per
// implementation. Text from files and drivers is made printable.
std::string RenderTerminal(const Json& report, const TerminalStyle& style);

}  // namespace weightproof::reports

#endif  // WEIGHTPROOF_REPORTS_TERMINAL_H_
