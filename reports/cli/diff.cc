// weightproof diff A B
#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "reports/cli/command.h"
#include "reports/cli/outputs.h"
#include "reports/terminal.h"
#include "reports/text.h"
#include "reports/view.h"

namespace weightproof::cli {
namespace {

using reports::Ink;
using reports::Printable;
using reports::Text;

// Implementation, vector, variant.
using Key = std::vector<std::string>;

std::map<Key, const Json*> RowsOf(const Json& report) {
  std::map<Key, const Json*> rows;
  for (const Json& row : report.at("rows")) {
    rows[{Text(row, "implementation"), Text(row, "vector"),
          Text(row, "variant")}] = &row;
  }
  return rows;
}

// How bad an outcome is.
int Rank(const std::string& outcome) {
  if (outcome == "fail") return 4;
  if (outcome == "not-run") return 3;
  if (outcome == "not-compared") return 2;
  if (outcome == "expected-deviation") return 1;
  return 0;
}

std::string Words(const Json& row) {
  return fmt::format("{} ({})", Text(row, "outcome"), reports::GotWords(row));
}

class Difference {
 public:
  Difference(const Json& before, const Json& after)
      : before_(before),
        after_(after),
        style_(reports::StyleFor(STDOUT_FILENO)) {}

  int Show() {
    Versions();
    const auto old_rows = RowsOf(before_);
    const auto new_rows = RowsOf(after_);
    for (const auto& [key, row] : new_rows) {
      const auto old = old_rows.find(key);
      if (old == old_rows.end()) {
        ++added_;
        if (Text(*row, "outcome") == "fail") Change("new", key, nullptr, row);
      } else {
        Compare(key, *old->second, *row);
      }
    }
    for (const auto& [key, row] : old_rows) {
      removed_ += !new_rows.contains(key);
    }
    Print(fmt::format(
        "{}{} worse, {} better, {} otherwise changed, {} added, {} removed\n",
        out_, worse_, better_, changed_, added_, removed_));
    return worse_ > 0 ? kExitFindings : kExitOk;
  }

 private:
  void Versions() {
    std::map<std::string, std::string> old;
    for (const Json& item : before_.at("implementations")) {
      old[Text(item, "name")] = Text(item, "version");
    }
    for (const Json& item : after_.at("implementations")) {
      const auto at = old.find(Text(item, "name"));
      if (at == old.end() || at->second == Text(item, "version")) continue;
      out_ +=
          fmt::format("{}: version {} -> {}\n", Printable(Text(item, "name")),
                      Printable(at->second), Printable(Text(item, "version")));
    }
    if (Text(before_, "set_version") != Text(after_, "set_version")) {
      out_ += fmt::format("vectors: {} -> {}\n",
                          Printable(Text(before_, "set_version")),
                          Printable(Text(after_, "set_version")));
    }
  }

  void Compare(const Key& key, const Json& old, const Json& row) {
    const int before = Rank(Text(old, "outcome"));
    const int after = Rank(Text(row, "outcome"));
    if (after > before) {
      ++worse_;
      Change("worse", key, &old, &row);
    } else if (after < before) {
      ++better_;
      Change("better", key, &old, &row);
    } else if (Words(old) != Words(row) ||
               Text(old, "difference") != Text(row, "difference")) {
      ++changed_;
      Change("changed", key, &old, &row);
    }
  }

  void Change(const std::string& kind, const Key& key, const Json* old,
              const Json* row) {
    if (old == nullptr) ++worse_;
    const Ink ink = kind == "better"    ? Ink::kGreen
                    : kind == "changed" ? Ink::kYellow
                                        : Ink::kRed;
    std::string name = Printable(key[0]) + "  " + Printable(key[1]);
    if (!key[2].empty()) name += " (" + Printable(key[2]) + ")";
    out_ +=
        fmt::format("{}  {}\n    {}{}\n",
                    reports::Paint(style_, ink, fmt::format("{:<7}", kind)),
                    name, old == nullptr ? "" : Printable(Words(*old)) + " -> ",
                    Printable(Words(*row)));
  }

  const Json& before_;
  const Json& after_;
  reports::TerminalStyle style_;
  std::string out_;
  int worse_ = 0, better_ = 0, changed_ = 0, added_ = 0, removed_ = 0;
};

int Diff(const std::string& a, const std::string& b) {
  const auto before = ReadReport(a);
  if (!before) return Fail(kExitUsage, before.error());
  const auto after = ReadReport(b);
  if (!after) return Fail(kExitUsage, after.error());
  return Difference(*before, *after).Show();
}

}  // namespace

void AddDiff(CLI::App& app, const Places&, Action& action) {
  auto paths = std::make_shared<std::pair<std::string, std::string>>();
  CLI::App* diff = app.add_subcommand(
      "diff", "What changed between two reports; exits 1 if anything is worse");
  diff->add_option("A", paths->first, "report.json before")->required();
  diff->add_option("B", paths->second, "report.json after")->required();
  diff->callback([paths, &action] {
    action = [paths] { return Diff(paths->first, paths->second); };
  });
}

}  // namespace weightproof::cli
