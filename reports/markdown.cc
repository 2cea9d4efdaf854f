#include <fmt/format.h>

#include <string>
#include <string_view>

#include "reports/formats.h"
#include "reports/text.h"
#include "reports/view.h"

namespace weightproof::reports {
namespace {

// Text that neither Markdown nor the HTML in it gives a meaning to.
std::string Plain(std::string_view text) {
  std::string out;
  for (const char c : HtmlEscape(Printable(text))) {
    if (std::string_view("\\`*_[]|~>").find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

// Text in backquotes; safe in a table.
std::string Code(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    if (c == '`') {
      out += '\'';
    } else if (c == '|') {
      out += "\\|";
    } else {
      out += c;
    }
  }
  return "`" + out + "`";
}

std::string TableRow(const Json& implementation) {
  std::string row =
      fmt::format("| {} |", Plain(NameAndVersion(implementation)));
  if (Text(implementation, "status") != "ran") {
    return row + fmt::format(" | | | | | | {}: {} |\n",
                             Plain(Text(implementation, "status")),
                             Plain(Text(implementation, "why")));
  }
  for (const char* outcome : {"pass", "policy", "expected-deviation", "fail",
                              "not-compared", "not-run"}) {
    row += fmt::format(
        " {} |",
        implementation.at("outcomes").at(outcome).get<std::uint64_t>());
  }
  return row + " " + Plain(ProfileWords(implementation)) + " |\n";
}

std::string Failures(const ReportView& view, const Json& implementation) {
  const auto groups =
      GroupByRule(view, view.Rows(Text(implementation, "name"), "fail"));
  if (groups.empty()) return "";
  std::string out = fmt::format("\n### {}: {} broken\n\n",
                                Plain(NameAndVersion(implementation)),
                                Count(groups.size(), "rule"));
  out +=
      "| rule | severity | got | expected | vectors | reproduce |\n"
      "|---|---|---|---|---:|---|\n";
  for (const Group& group : groups) {
    const Json& first = *group.rows.front();
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", Code(group.key),
                       Text(view.rule(group.key), "severity"),
                       Plain(GotWords(first)), Plain(Text(first, "expected")),
                       group.rows.size(), Code(Text(first, "repro")));
  }
  return out;
}

}  // namespace

std::string RenderMarkdown(const Json& report) {
  const ReportView view(report);
  const Json& summary = report.at("summary");
  std::string out = fmt::format(
      "## Weightproof: {}\n\n{}\n\n{} of {} executed, {} skipped; vectors "
      "{}.\n\n| implementation | pass | policy | known | fail | not compared "
      "| not run | profile |\n|---|---:|---:|---:|---:|---:|---:|---|\n",
      ConclusionWords(report), Plain(ConclusionSentence(report)),
      summary.at("executed").get<std::uint64_t>(),
      Count(summary.at("total").get<std::uint64_t>(), "case"),
      summary.at("skipped").get<std::uint64_t>(),
      Plain(Text(report, "set_version")));
  for (const Json& implementation : report.at("implementations")) {
    out += TableRow(implementation);
  }
  for (const Json& implementation : report.at("implementations")) {
    out += Failures(view, implementation);
  }
  return out;
}

}  // namespace weightproof::reports
