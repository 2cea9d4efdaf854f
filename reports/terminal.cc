#include "reports/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "reports/clusters.h"
#include "reports/text.h"
#include "reports/view.h"

namespace weightproof::reports {
namespace {

struct Column {
  const char* outcome;
  const char* title;
  Ink ink;
};
constexpr std::array<Column, 6> kColumns = {{
    {"pass", "pass", Ink::kGreen},
    {"policy", "policy", Ink::kBlue},
    {"expected-deviation", "known", Ink::kYellow},
    {"fail", "FAIL", Ink::kRed},
    {"not-compared", "uncompared", Ink::kYellow},
    {"not-run", "not run", Ink::kDim},
}};

// More implementations than this get a survey, not a section each.
constexpr int kMaxSections = 4;
// Deviations that a survey names per implementation.
constexpr std::size_t kMaxNamed = 8;

Ink SeverityInk(const std::string& severity) {
  if (severity == "hazard") return Ink::kRed;
  if (severity == "nonconforming") return Ink::kYellow;
  return Ink::kDim;
}

class Renderer {
 public:
  Renderer(const Json& report, const TerminalStyle& style)
      : view_(report), style_(style) {
    style_.width = std::clamp<std::size_t>(style_.width, 60, 120);
  }

  std::string Render() {
    const Json& report = view_.report();
    Conclusion();
    Table();
    const auto& list = report.at("implementations");
    const auto ran = std::ranges::count_if(
        list, [](const Json& item) { return Text(item, "status") == "ran"; });
    if (ran > kMaxSections) {
      Survey();
      return std::move(out_);
    }
    for (const Json& implementation : list) Section(implementation);
    return std::move(out_);
  }

 private:
  void Line(std::string_view text = "") {
    out_ += text;
    out_ += '\n';
  }

  std::string In(Ink ink, std::string_view text) const {
    return Paint(style_, ink, text);
  }

  // Wrapped text, every line indented.
  void Paragraph(std::size_t indent, const std::string& text,
                 Ink ink = Ink::kPlain) {
    for (const std::string& line : Wrap(text, style_.width - indent)) {
      Line(std::string(indent, ' ') + In(ink, line));
    }
  }

  void Conclusion() {
    const Json& report = view_.report();
    const Json& summary = report.at("summary");
    std::string words = ConclusionWords(report);
    std::ranges::transform(words, words.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    const std::string conclusion = Text(summary, "conclusion");
    const Ink ink = conclusion == "conforming"   ? Ink::kGreen
                    : conclusion == "incomplete" ? Ink::kYellow
                                                 : Ink::kRed;
    Line();
    Line(In(ink, In(Ink::kBold, words)));
    Paragraph(0, Printable(ConclusionSentence(report)));
    if (report.contains("clusters")) {
      const std::string divided = ClusterSentence(report.at("clusters"));
      if (!divided.empty()) Paragraph(0, Printable(divided) + ".");
    }
    Paragraph(
        0,
        fmt::format("{} of {} executed, {} skipped; vectors {}; {}.",
                    summary.at("executed").get<std::uint64_t>(),
                    Count(summary.at("total").get<std::uint64_t>(), "case"),
                    summary.at("skipped").get<std::uint64_t>(),
                    Printable(Text(report, "set_version")),
                    summary.at("canary").at("caught").get<bool>()
                        ? "the planted bug was caught"
                        : "the planted bug was NOT caught"),
        Ink::kDim);
    Line();
  }

  void Table() {
    std::size_t widest = 14;
    for (const Json& implementation : view_.report().at("implementations")) {
      widest = std::max(widest, Width(Printable(Text(implementation, "name"))));
    }
    widest = std::min<std::size_t>(widest, 32);
    std::string head = Pad("implementation", widest);
    for (const Column& column : kColumns) {
      head += fmt::format("  {:>{}}", column.title,
                          std::max<std::size_t>(4, Width(column.title)));
    }
    Line(In(Ink::kBold, head + "  profile"));
    for (const Json& implementation : view_.report().at("implementations")) {
      TableRow(implementation, widest);
    }
  }

  static std::string Pad(const std::string& text, std::size_t width) {
    const std::string cut = Shorten(text, width);
    return cut + std::string(width - std::min(width, Width(cut)), ' ');
  }

  void TableRow(const Json& implementation, std::size_t widest) {
    std::string line = Pad(Printable(Text(implementation, "name")), widest);
    if (Text(implementation, "status") != "ran") {
      const bool unusable = Text(implementation, "status") == "unusable";
      Line(line + "  " +
           In(unusable ? Ink::kRed : Ink::kDim,
              fmt::format("{}: {}", unusable ? "UNUSABLE" : "NOT RUN",
                          Printable(Text(implementation, "why")))));
      return;
    }
    for (const Column& column : kColumns) {
      const auto n =
          implementation.at("outcomes").at(column.outcome).get<int>();
      const std::string cell =
          fmt::format("{:>{}}", n == 0 ? "." : std::to_string(n),
                      std::max<std::size_t>(4, Width(column.title)));
      line += "  " + In(n == 0 ? Ink::kDim : column.ink, cell);
    }
    Line(line + "  " + In(Ink::kDim, Printable(ShortProfile(implementation))));
  }

  static std::string ShortProfile(const Json& implementation) {
    const std::string declared = Text(implementation, "declared_profile");
    if (!declared.empty()) return declared;
    const std::string inferred = Text(implementation, "inferred_profile");
    for (const Json& profile : implementation.at("profiles")) {
      if (Text(profile, "name") != inferred) continue;
      return fmt::format("~{} {}/{}", inferred, profile.at("agrees").get<int>(),
                         profile.at("points").get<int>());
    }
    return "";
  }

  static std::string Title(const Json& implementation) {
    const std::string language = Printable(Text(implementation, "language"));
    return Printable(NameAndVersion(implementation)) +
           (language.empty() ? "" : " (" + language + ")");
  }

  // What needs attention, shortly; those of whom the same is to be said
  // together.
  void Survey() {
    struct Entry {
      std::string titles;
      std::string body;
    };
    std::vector<Entry> entries;
    for (const Json& implementation : view_.report().at("implementations")) {
      if (Text(implementation, "status") == "not-run") continue;
      std::string head = std::move(out_);
      out_.clear();
      Brief(implementation);
      std::string body = std::exchange(out_, std::move(head));
      if (body.empty()) continue;
      const auto same = std::ranges::find(entries, body, &Entry::body);
      if (same == entries.end()) {
        entries.push_back({Title(implementation), std::move(body)});
      } else {
        same->titles += ", " + Printable(Text(implementation, "name"));
      }
    }
    for (const Entry& entry : entries) {
      Line();
      Paragraph(0, entry.titles, Ink::kBold);
      out_ += entry.body;
    }
    Line();
    Line("Every row, with policies and reasons:");
    Line("  ./weightproof report --only NAME");
  }

  void Brief(const Json& implementation) {
    const std::string name = Text(implementation, "name");
    Failures(name);
    KnownBriefly(name);
    Notes(implementation);
  }

  static bool TookItDown(const Json& row) {
    const std::string verdict = Text(row, "verdict");
    return verdict == "crash" || verdict == "hang" ||
           verdict == "out-of-memory";
  }

  static std::string WrongWords(const Json& row) {
    const std::string words = GotWords(row);
    return words == "accepted" || words == "rejected" ? "wrongly " + words
                                                      : words;
  }

  // Known deviations by what happened; first, with their rules, those that
  // took the reader down.
  void KnownBriefly(const std::string& name) {
    auto rows = view_.Rows(name, "expected-deviation");
    if (rows.empty()) return;
    std::vector<const Json*> others;
    std::erase_if(rows, [&](const Json* row) {
      if (TookItDown(*row)) return false;
      others.push_back(row);
      return true;
    });
    rows.insert(rows.end(), others.begin(), others.end());
    Line("  " +
         In(Ink::kYellow,
            fmt::format("Known deviations: {}",
                        Count(GroupByRule(view_, rows).size(), "rule"))));
    for (const Group& got : GroupBy(rows, WrongWords)) {
      std::string line = fmt::format("{}: {}", Printable(got.key),
                                     Count(got.rows.size(), "vector"));
      if (TookItDown(*got.rows.front())) line += RulesBriefly(got.rows);
      Paragraph(4, line);
    }
  }

  std::string RulesBriefly(const std::vector<const Json*>& rows) const {
    const auto rules = GroupByRule(view_, rows);
    std::string words;
    for (std::size_t i = 0; i < std::min(rules.size(), kMaxNamed); ++i) {
      words += (i == 0 ? ", by " : ", ") + Printable(rules[i].key);
    }
    return rules.size() <= kMaxNamed
               ? words
               : words + fmt::format(" and {} more", rules.size() - kMaxNamed);
  }

  void Section(const Json& implementation) {
    if (Text(implementation, "status") == "not-run") return;
    const std::string name = Text(implementation, "name");
    const std::size_t before = out_.size();
    Line();
    Line(In(Ink::kBold, Title(implementation)));
    const std::size_t empty = out_.size();
    Failures(name);
    Simple(name, "expected-deviation", "Known deviations");
    Policies(name);
    Simple(name, "not-compared", "Accepted but not compared");
    Notes(implementation);
    NotRun(name);
    if (out_.size() == empty) out_.resize(before);  // nothing to say
  }

  void Failures(const std::string& name) {
    const auto groups = GroupByRule(view_, view_.Rows(name, "fail"));
    if (groups.empty()) return;
    Line("  " + In(Ink::kRed,
                   fmt::format("Failures: {}", Count(groups.size(), "rule"))));
    const std::size_t shown = std::min(groups.size(), MaxRules());
    for (std::size_t i = 0; i < shown; ++i) Failure(groups[i]);
    if (shown < groups.size()) {
      Paragraph(4, fmt::format("... and {}, see the HTML report",
                               Count(groups.size() - shown, "more rule")));
    }
  }

  // Enough to see what is wrong with each of many implementations.
  std::size_t MaxRules() const {
    const auto& list = view_.report().at("implementations");
    const auto failing = std::ranges::count_if(list, [](const Json& item) {
      return item.at("outcomes").at("fail") > 0;
    });
    return failing > 2 ? 8 : 1000;
  }

  void Failure(const Group& group) {
    const Json& rule = view_.rule(group.key);
    const std::string severity = Text(rule, "severity");
    std::string title = "    " + In(Ink::kBold, Printable(group.key));
    if (severity != "none") {
      title += "  " + In(SeverityInk(severity), severity);
    }
    Line(title);
    Paragraph(6, Printable(Text(rule, "statement")));
    Answers(group);
  }

  // The different ways in which the rows of a rule fail, one example each.
  void Answers(const Group& rule) {
    for (const Group& answer : GroupBy(rule.rows, [](const Json& row) {
           return GotWords(row) + "; expected " + Text(row, "expected");
         })) {
      const Json& first = *answer.rows.front();
      Paragraph(6,
                fmt::format("{} - {}", Printable(answer.key),
                            Count(answer.rows.size(), "vector")),
                Ink::kRed);
      const std::string reason = Printable(Text(first, "reason"));
      if (!reason.empty()) Paragraph(8, Shorten(reason, 300));
      const std::string difference = Printable(DifferenceOf(first));
      if (!difference.empty()) Paragraph(8, Shorten(difference, 300));
      Line("        " + In(Ink::kDim, Printable(Text(first, "repro"))));
    }
  }

  void Policies(const std::string& name) {
    const auto groups = GroupByRule(view_, view_.Rows(name, "policy"));
    if (groups.empty()) return;
    Line("  " +
         In(Ink::kBlue, fmt::format("Policies, either answer conforms: {}",
                                    Count(groups.size(), "rule"))));
    for (const Group& group : groups) {
      for (const Group& answer : GroupBy(group.rows, [](const Json& row) {
             return GotWords(row) + PolicyOf(row);
           })) {
        Paragraph(
            4, fmt::format("{}: {}{}", Printable(group.key),
                           Printable(answer.key), Times(answer.rows.size())));
      }
    }
  }

  static std::string PolicyOf(const Json& row) {
    std::string names;
    if (!row.contains("profiles")) return names;
    for (const Json& profile : row.at("profiles")) {
      names += (names.empty() ? ", as " : ", ") + profile.get<std::string>();
    }
    return names;
  }

  static std::string Times(std::size_t n) {
    return n == 1 ? "" : fmt::format(" ({} vectors)", n);
  }

  void Simple(const std::string& name, const char* outcome, const char* title) {
    const auto groups = GroupByRule(view_, view_.Rows(name, outcome));
    if (groups.empty()) return;
    Line("  " + In(Ink::kYellow,
                   fmt::format("{}: {}", title, Count(groups.size(), "rule"))));
    for (const Group& group : groups) {
      Paragraph(4, fmt::format("{}: {}; {}{}", Printable(group.key),
                               Printable(GotWords(*group.rows.front())),
                               Printable(Text(*group.rows.front(), "reason")),
                               Times(group.rows.size())));
    }
  }

  void List(const Json& texts, const char* title, Ink ink) {
    if (texts.empty()) return;
    Line(std::string("  ") + In(ink, title));
    for (const Json& text : texts) {
      Paragraph(4, Printable(text.get<std::string>()));
    }
  }

  void Notes(const Json& implementation) {
    List(implementation.at("stale_deviations"),
         "Stale deviations, remove them:", Ink::kRed);
    List(implementation.at("overdue_deviations"),
         "Overdue deviations:", Ink::kYellow);
    const Json& arithmetic = implementation.at("arithmetic");
    if (arithmetic.empty()) return;
    Line("  " + In(Ink::kBlue, "Arithmetic"));
    for (const auto& [operation, text] : arithmetic.items()) {
      Paragraph(4, fmt::format("{}: {}", Printable(operation),
                               Printable(text.get<std::string>())));
    }
  }

  void NotRun(const std::string& name) {
    const auto groups =
        GroupBy(view_.Rows(name, "not-run"),
                [](const Json& row) { return Text(row, "reason"); });
    if (groups.empty()) return;
    Line("  " + In(Ink::kDim, "NOT RUN"));
    for (const Group& group : groups) {
      Paragraph(4, fmt::format("{}: {}", Printable(group.key),
                               Count(group.rows.size(), "vector")));
    }
  }

  ReportView view_;
  TerminalStyle style_;
  std::string out_;
};

}  // namespace

TerminalStyle StyleFor(int fd) {
  TerminalStyle style;
  if (isatty(fd) == 0) return style;
  const char* term = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  style.colour = (no_colour == nullptr || *no_colour == '\0') &&
                 term != nullptr && std::string_view(term) != "dumb";
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = size.ws_col;
  }
  return style;
}

bool CanRedraw(int fd) {
  const char* term = std::getenv("TERM");
  return isatty(fd) != 0 && std::getenv("CI") == nullptr && term != nullptr &&
         std::string_view(term) != "dumb";
}

std::string Paint(const TerminalStyle& style, Ink ink, std::string_view text) {
  constexpr std::array<std::string_view, 7> kCodes = {"",   "1",  "2", "31",
                                                      "32", "33", "34"};
  if (!style.colour || ink == Ink::kPlain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<int>(ink)], text);
}

std::string RenderTerminal(const Json& report, const TerminalStyle& style) {
  return Renderer(report, style).Render();
}

}  // namespace weightproof::reports
