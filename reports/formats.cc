#include "reports/formats.h"

#include <fmt/format.h>

#include "reports/text.h"
#include "reports/view.h"

namespace weightproof::reports {
namespace {

std::string Attribute(const std::string& text) {
  return HtmlEscape(Printable(text));
}

std::string Case(const ReportView& view, const Json& row) {
  const std::string outcome = Text(row, "outcome");
  const std::string variant = Text(row, "variant");
  std::string name = Text(row, "vector");
  if (!variant.empty()) name += " (" + variant + ")";
  std::string out = fmt::format("  <testcase classname=\"{}.{}\" name=\"{}\"",
                                Attribute(Text(row, "implementation")),
                                Attribute(Text(row, "rule")), Attribute(name));
  if (outcome == "pass" || outcome == "policy") return out + "/>\n";
  const std::string message =
      fmt::format("{}; expected {}. {}", GotWords(row), Text(row, "expected"),
                  Text(row, "reason"));
  if (outcome != "fail") {
    return out + fmt::format("><skipped message=\"{}: {}\"/></testcase>\n",
                             outcome, Attribute(Text(row, "reason")));
  }
  return out + fmt::format(
                   "><failure type=\"{}\" message=\"{}\">{}\n{}\n{}</failure>"
                   "</testcase>\n",
                   Attribute(Text(row, "verdict")), Attribute(message),
                   HtmlEscape(Text(row, "difference")),
                   HtmlEscape(Text(row, "repro")),
                   HtmlEscape(view.StderrOf(row)));
}

std::uint64_t CountOf(const Json& implementation, const char* outcome) {
  return implementation.at("outcomes").at(outcome).get<std::uint64_t>();
}

std::string Suite(const ReportView& view, const Json& implementation) {
  const std::string name = Text(implementation, "name");
  std::string cases;
  std::uint64_t tests = 0;
  for (const Json& row : view.report().at("rows")) {
    if (Text(row, "implementation") != name) continue;
    ++tests;
    cases += Case(view, row);
  }
  std::uint64_t errors = 0;
  if (Text(implementation, "status") == "unusable") {
    ++tests;
    ++errors;
    cases += fmt::format(
        "  <testcase classname=\"{0}\" name=\"start\"><error message=\"{1}\"/>"
        "</testcase>\n",
        Attribute(name), Attribute(Text(implementation, "why")));
  }
  for (const Json& stale : implementation.at("stale_deviations")) {
    ++tests;
    ++errors;
    cases += fmt::format(
        "  <testcase classname=\"{0}\" name=\"stale deviation\"><error "
        "message=\"{1}\"/></testcase>\n",
        Attribute(name), Attribute(stale.get<std::string>()));
  }
  return fmt::format(
             "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" "
             "errors=\"{}\" skipped=\"{}\">\n",
             Attribute(name), tests, CountOf(implementation, "fail"), errors,
             CountOf(implementation, "expected-deviation") +
                 CountOf(implementation, "not-compared") +
                 CountOf(implementation, "not-run")) +
         cases + "</testsuite>\n";
}

}  // namespace

std::string RenderJUnit(const Json& report) {
  const ReportView view(report);
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const Json& implementation : report.at("implementations")) {
    out += Suite(view, implementation);
  }
  return out + "</testsuites>\n";
}

std::string RenderBadge(const Json& report) {
  const std::string conclusion = Text(report.at("summary"), "conclusion");
  const auto fails =
      report.at("summary").at("outcomes").at("fail").get<std::uint64_t>();
  const bool good = conclusion == "conforming";
  const std::string words = fails > 0 && conclusion == "not-conforming"
                                ? Count(fails, "failure")
                                : ConclusionWords(report);
  const Json badge = {
      {"schemaVersion", 1},
      {"label", "weightproof"},
      {"message",
       good ? fmt::format("{} {}", words, Text(report, "set_version")) : words},
      {"color", good                         ? "brightgreen"
                : conclusion == "incomplete" ? "yellow"
                                             : "red"}};
  return badge.dump() + "\n";
}

}  // namespace weightproof::reports
