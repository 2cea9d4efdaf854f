#include "reports/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/text.h"

namespace weightproof::reports {
namespace {

std::string RowKey(const Json& row) {
  return Text(row, "implementation") + '\n' + Text(row, "vector") + '\n' +
         Text(row, "variant");
}

const Json& Find(const std::map<std::string, const Json*>& index,
                 const std::string& id) {
  static const Json kNone = Json::object();
  const auto at = index.find(id);
  return at == index.end() ? kNone : *at->second;
}

// Hazards first.
int SeverityRank(const std::string& severity) {
  constexpr std::array<std::string_view, 4> kOrder = {
      "hazard", "nonconforming", "ambiguous", "inconclusive"};
  return static_cast<int>(std::ranges::find(kOrder, severity) - kOrder.begin());
}

std::uint64_t CountOf(const Json& implementation, const char* outcome) {
  return implementation.at("outcomes").at(outcome).get<std::uint64_t>();
}

}  // namespace

std::string Text(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || !at->is_string() ? "" : at->get<std::string>();
}

ReportView::ReportView(const Json& report) : report_(&report) {
  for (const Json& rule : report.at("rules")) rules_[Text(rule, "id")] = &rule;
  for (const Json& vector : report.at("vectors")) {
    vectors_[Text(vector, "id")] = &vector;
  }
  for (const Json& text : report.at("run").at("rows")) {
    texts_[RowKey(text)] = &text;
  }
}

const Json& ReportView::rule(const std::string& id) const {
  return Find(rules_, id);
}

const Json& ReportView::vector(const std::string& id) const {
  return Find(vectors_, id);
}

std::string ReportView::RunText(const Json& row, const char* key) const {
  return Text(Find(texts_, RowKey(row)), key);
}

std::string ReportView::StderrOf(const Json& row) const {
  return RunText(row, "stderr");
}

std::string ReportView::DetailOf(const Json& row) const {
  return RunText(row, "detail");
}

std::vector<const Json*> ReportView::Rows(const std::string& implementation,
                                          std::string_view outcome) const {
  std::vector<const Json*> rows;
  for (const Json& row : report_->at("rows")) {
    if (row.at("implementation") == implementation &&
        row.at("outcome") == outcome) {
      rows.push_back(&row);
    }
  }
  return rows;
}

std::vector<Group> GroupByRule(const ReportView& view,
                               const std::vector<const Json*>& rows) {
  std::vector<Group> groups =
      GroupBy(rows, [](const Json& row) { return Text(row, "rule"); });
  std::ranges::sort(groups, {}, [&](const Group& group) {
    return std::pair(SeverityRank(Text(view.rule(group.key), "severity")),
                     group.key);
  });
  return groups;
}

std::string GotWords(const Json& row) {
  const std::string verdict = Text(row, "verdict");
  const std::string signal = Text(row, "signal");
  std::string words = verdict;
  if (verdict == "accept") {
    words =
        row.contains("difference") ? "accepted, read differently" : "accepted";
  } else if (verdict == "reject") {
    words = row.value("late", false) ? "rejected when a tensor was read"
                                     : "rejected";
    if (row.value("without_reason", false)) words += ", without the reason";
  } else if (verdict == "limit") {
    words = "over a limit";
  } else if (verdict.empty()) {
    words = "not run";
  }
  return signal.empty() ? words : fmt::format("{} ({})", words, signal);
}

std::string DifferenceOf(const Json& row) {
  const std::string difference = Text(row, "difference");
  return Text(row, "reason").find(difference) == std::string::npos ? difference
                                                                   : "";
}

std::string ConclusionWords(const Json& report) {
  const std::string conclusion = Text(report.at("summary"), "conclusion");
  if (conclusion == "not-conforming") return "not conforming";
  if (conclusion == "internal-error") return "internal error";
  if (conclusion == "unusable") return "driver unusable";
  return conclusion;
}

std::string ConclusionSentence(const Json& report) {
  const Json& summary = report.at("summary");
  const std::string conclusion = Text(summary, "conclusion");
  if (conclusion == "void") {
    return "The planted bug was not caught, so nothing here can be trusted: " +
           Text(summary.at("canary"), "detail");
  }
  if (conclusion == "internal-error") {
    return "The two built-in readers disagree: " +
           Text(summary.at("built_ins"), "detail");
  }
  std::uint64_t ran = 0, failing = 0, stale = 0;
  std::string unusable;
  for (const Json& implementation : report.at("implementations")) {
    if (Text(implementation, "status") == "unusable" && unusable.empty()) {
      unusable = fmt::format("{}: {}", Text(implementation, "name"),
                             Text(implementation, "why"));
    }
    ran += Text(implementation, "status") == "ran";
    failing += CountOf(implementation, "fail") > 0;
    stale += !implementation.at("stale_deviations").empty();
  }
  if (conclusion == "unusable") return unusable;
  if (conclusion == "incomplete" && !summary.at("interrupted").get<bool>()) {
    return fmt::format(
        "{} not in the recording.",
        Count(summary.value("unrecorded", std::uint64_t{0}), "case"));
  }
  if (conclusion == "incomplete") {
    return "Stopped by a signal before the end; --resume goes on from the "
           "journal.";
  }
  if (failing > 0) {
    return fmt::format("{} of {} {} rules.{}", failing,
                       Count(ran, "implementation"),
                       failing == 1 ? "breaks" : "break",
                       summary.at("interrupted").get<bool>()
                           ? " Stopped by a signal before the end."
                           : "");
  }
  if (stale > 0) {
    return fmt::format(
        "{} {} deviations that no longer happen: remove them from the list.",
        Count(stale, "implementation"), stale == 1 ? "lists" : "list");
  }
  return fmt::format("No unexpected failure in {}.",
                     Count(ran, "implementation"));
}

std::string ProfileWords(const Json& implementation) {
  const std::string declared = Text(implementation, "declared_profile");
  if (!declared.empty()) return "declares " + declared;
  const std::string inferred = Text(implementation, "inferred_profile");
  for (const Json& profile : implementation.at("profiles")) {
    if (Text(profile, "name") != inferred) continue;
    return fmt::format("follows {} on {} of {}", inferred,
                       profile.at("agrees").get<std::uint64_t>(),
                       profile.at("points").get<std::uint64_t>());
  }
  return "";
}

std::string NameAndVersion(const Json& implementation) {
  const std::string version = Text(implementation, "version");
  const std::string name = Text(implementation, "name");
  return version.empty() ? name : name + " " + version;
}

}  // namespace weightproof::reports
