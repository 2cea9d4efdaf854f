#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "reports/html.h"
#include "reports/text.h"

namespace weightproof::reports {
namespace {

constexpr double kWidth = 1200;
constexpr double kLabel = 190;  // names on the left
constexpr double kTotals = 54;  // failures on the right
constexpr double kGap = 6;      // between stages
constexpr double kRow = 24;
constexpr double kMaxCell = 26;

// How one cell looks: worst last.
enum class Cell {
  kNone,
  kNotRun,
  kPass,
  kPolicy,
  kUncompared,
  kKnown,
  kFail,
  kCrash,
};

struct Look {
  const char* css;
  double height;
  const char* word;
};
constexpr std::array<Look, 8> kLooks = {{
    {"", 0, ""},
    {"k-notrun", 3, "not run"},
    {"k-pass", 15, "pass"},
    {"k-policy", 15, "policy"},
    {"k-uncompared", 14, "accepted, not compared"},
    {"k-known", 9, "known deviation"},
    {"k-fail", 20, "FAIL"},
    {"k-crash", 20, "FAIL"},
}};

Cell CellOf(const Json& row) {
  const std::string outcome = Text(row, "outcome");
  if (outcome == "pass") return Cell::kPass;
  if (outcome == "policy") return Cell::kPolicy;
  if (outcome == "expected-deviation") return Cell::kKnown;
  if (outcome == "not-compared") return Cell::kUncompared;
  if (outcome == "not-run") return Cell::kNotRun;
  const std::string verdict = Text(row, "verdict");
  return verdict == "crash" || verdict == "hang" || verdict == "out-of-memory"
             ? Cell::kCrash
             : Cell::kFail;
}

struct Stage {
  std::string format;
  std::string name;
  std::size_t first = 0;  // rule
  std::size_t count = 0;
};

std::vector<Stage> StagesOf(const Json& rules) {
  std::vector<Stage> stages;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string format = Text(rules[i], "format");
    std::string name = Text(rules[i], "stage");
    std::ranges::replace(name, '_', ' ');
    if (stages.empty() || stages.back().format != format ||
        stages.back().name != name) {
      stages.push_back({format, name, i, 0});
    }
    ++stages.back().count;
  }
  return stages;
}

class Matrix {
 public:
  explicit Matrix(const ReportView& view)
      : view_(view),
        rules_(view.report().at("rules")),
        stages_(StagesOf(rules_)) {
    const double room =
        kWidth - kLabel - kTotals - kGap * static_cast<double>(stages_.size());
    cell_ = std::min(kMaxCell, room / std::max<double>(1, rules_.size()));
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      for (std::size_t i = 0; i < stages_[s].count; ++i) {
        columns_[Text(rules_[stages_[s].first + i], "id")] = left_.size();
        left_.push_back(kLabel + cell_ * static_cast<double>(left_.size()) +
                        kGap * static_cast<double>(s));
      }
    }
    std::size_t longest = 0;
    for (const Stage& stage : stages_) {
      longest = std::max(longest, Width(stage.name));
    }
    // Slanted by 40 degrees: a character of 11 px rises about 4 px.
    top_ = 36 + 4.2 * static_cast<double>(longest);
  }

  std::string Render() {
    const Json& implementations = view_.report().at("implementations");
    const double height =
        top_ + kRow * static_cast<double>(implementations.size()) + 4;
    Add("<svg viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{}\">",
        kWidth, height, "implementations by rules");
    Headings();
    double y = top_;
    for (const Json& implementation : implementations) {
      ImplementationRow(implementation, y);
      y += kRow;
    }
    out_ += "</svg>";
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format,
                   std::forward<Args>(args)...);
  }

  void Headings() {
    std::string format;
    double last = -100;
    for (const Stage& stage : stages_) {
      const double x = left_[stage.first];
      const double width = cell_ * static_cast<double>(stage.count);
      if (stage.format != format) {
        format = stage.format;
        Add("<text class=\"format\" x=\"{:.1f}\" y=\"12\">{}</text>", x,
            HtmlEscape(format));
      }
      Add("<line class=\"rule-line\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" "
          "y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>",
          x, x + width, top_ - 3);
      // Two labels closer than a line of text would cover each other.
      if (x - last < 13 || width < 6) continue;
      last = x;
      Add("<text class=\"stage\" transform=\"translate({:.1f} {:.1f}) "
          "rotate(-40)\">{}</text>",
          x + 4, top_ - 8, HtmlEscape(stage.name));
    }
  }

  void ImplementationRow(const Json& implementation, double y) {
    const std::string name = Text(implementation, "name");
    Add("<g class=\"row\"><text x=\"0\" y=\"{:.1f}\">{}</text>", y + 16,
        HtmlEscape(Shorten(Printable(name), 28)));
    if (Text(implementation, "status") != "ran") {
      Add("<text class=\"why\" x=\"{:g}\" y=\"{:.1f}\">{}: {}</text></g>",
          kLabel, y + 16,
          Text(implementation, "status") == "unusable" ? "unusable" : "not run",
          HtmlEscape(Shorten(Printable(Text(implementation, "why")), 120)));
      return;
    }
    Cells(name, y);
    const Json& outcomes = implementation.at("outcomes");
    const auto fails = outcomes.at("fail").get<std::uint64_t>();
    const bool nothing =
        fails == 0 && outcomes.at("pass") == 0 && outcomes.at("policy") == 0;
    Add("<text class=\"count{}\" x=\"{:g}\" y=\"{:.1f}\">{}</text></g>",
        fails > 0 ? " bad" : "", kWidth - 2, y + 16,
        fails > 0 ? fmt::format("{} fail", fails)
                  : std::string(nothing ? "not run" : "ok"));
  }

  void Cells(const std::string& name, double y) {
    std::vector<Cell> worst(left_.size(), Cell::kNone);
    std::vector<std::array<int, 8>> counts(left_.size());
    for (const Json& row : view_.report().at("rows")) {
      if (row.at("implementation") != name) continue;
      const auto column = columns_.find(Text(row, "rule"));
      if (column == columns_.end()) continue;
      const Cell cell = CellOf(row);
      worst[column->second] = std::max(worst[column->second], cell);
      ++counts[column->second][static_cast<std::size_t>(cell)];
    }
    for (std::size_t i = 0; i < left_.size(); ++i) {
      if (worst[i] != Cell::kNone) CellAt(i, worst[i], counts[i], y);
    }
  }

  void CellAt(std::size_t column, Cell cell, const std::array<int, 8>& counts,
              double y) {
    const Look& look = kLooks[static_cast<std::size_t>(cell)];
    const std::string id = HtmlEscape(Text(rules_[column], "id"));
    const bool linked = cell >= Cell::kFail || cell == Cell::kPolicy;
    if (linked) {
      Add("<a href=\"#{}-{}\">", cell >= Cell::kFail ? 'r' : 'p', id);
    }
    const double slack = cell_ > 5 ? 1 : 0.6;
    Add("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:g}\"><title>{}:",
        look.css, left_[column], y + (kRow - look.height) / 2,
        std::max(1.0, cell_ - slack), look.height, id);
    for (std::size_t i = counts.size(); i-- > 0;) {
      if (counts[i] > 0) Add(" {} {}", counts[i], kLooks[i].word);
    }
    out_ += linked ? "</title></rect></a>" : "</title></rect>";
  }

  const ReportView& view_;
  const Json& rules_;
  std::vector<Stage> stages_;
  std::map<std::string, std::size_t> columns_;
  std::vector<double> left_;
  double cell_ = 0;
  double top_ = 0;
  std::string out_;
};

}  // namespace

std::string MatrixSvg(const ReportView& view) { return Matrix(view).Render(); }

}  // namespace weightproof::reports
