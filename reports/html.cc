#include "reports/html.h"

#include <fmt/format.h>

#include <array>
#include <kainjow/mustache.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/clusters.h"
#include "reports/embedded.h"
#include "reports/text.h"

namespace weightproof::reports {
namespace {

namespace mustache = kainjow::mustache;

// Data for the template: null and "" are false, numbers are text.
mustache::data ToMustache(const Json& json) {
  if (json.is_object()) {
    mustache::data object(mustache::data::type::object);
    for (const auto& [key, value] : json.items()) {
      object.set(key, ToMustache(value));
    }
    return object;
  }
  if (json.is_array()) {
    mustache::data list(mustache::data::type::list);
    for (const Json& item : json) list.push_back(ToMustache(item));
    return list;
  }
  if (json.is_boolean()) {
    return json.get<bool>() ? mustache::data::type::bool_true
                            : mustache::data::type::bool_false;
  }
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    if (!text.empty()) return mustache::data(text);
    return mustache::data::type::bool_false;
  }
  if (json.is_null()) return mustache::data::type::bool_false;
  return mustache::data(json.dump());
}

Json Fact(std::string value, std::string label) {
  return {{"value", std::move(value)}, {"label", std::move(label)}};
}

Json Facts(const Json& report) {
  const Json& summary = report.at("summary");
  const auto fails = summary.at("outcomes").at("fail").get<std::uint64_t>();
  const auto skipped = summary.at("skipped").get<std::uint64_t>();
  Json facts = Json::array();
  facts.push_back(
      Fact(std::to_string(fails), fails == 1 ? "failure" : "failures"));
  facts.push_back(
      Fact(fmt::format("{} / {}", summary.at("executed").get<std::uint64_t>(),
                       summary.at("total").get<std::uint64_t>()),
           skipped == 0 ? "cases executed"
                        : fmt::format("cases executed, {} skipped", skipped)));
  facts.push_back(
      Fact(std::to_string(report.at("rules").size()), "rules exercised"));
  facts.push_back(Fact(Text(report, "set_version"), "vectors"));
  return facts;
}

Json Counts(const Json& implementation) {
  Json counts = Json::array();
  for (const char* outcome : {"pass", "policy", "expected-deviation", "fail",
                              "not-compared", "not-run"}) {
    const auto n =
        implementation.at("outcomes").at(outcome).get<std::uint64_t>();
    counts.push_back({{"n", n},
                      {"zero", n == 0},
                      {"bad", n > 0 && outcome == std::string("fail")}});
  }
  return counts;
}

std::string Share(const Json& share) {
  const auto of = share.at("of").get<std::uint64_t>();
  return of == 0
             ? "-"
             : fmt::format("{}/{}", share.at("right").get<std::uint64_t>(), of);
}

Json Implementations(const Json& report) {
  Json list = Json::array();
  for (const Json& implementation : report.at("implementations")) {
    const std::string status = Text(implementation, "status");
    list.push_back(
        {{"anchor", Text(implementation, "name")},
         {"name", Printable(Text(implementation, "name"))},
         {"version", Text(implementation, "version")},
         {"language", Text(implementation, "language")},
         {"built_in", implementation.at("built_in")},
         {"ran", status == "ran"},
         {"status", status == "unusable" ? "unusable" : "not run"},
         {"why", Text(implementation, "why")},
         {"counts", Counts(implementation)},
         {"profile", ProfileWords(implementation)},
         {"rule_named", Share(implementation.at("rule_named"))},
         {"offset_named", Share(implementation.at("offset_named"))}});
  }
  return list;
}

Json Answer(const ReportView& view, const Json& row) {
  return {{"who", Text(row, "implementation")},
          {"variant", Text(row, "variant")},
          {"got", GotWords(row)},
          {"reason", Text(row, "reason")},
          {"difference", DifferenceOf(row)},
          {"detail", view.DetailOf(row)},
          {"raw", Text(row, "answer")},
          {"stderr", view.StderrOf(row)},
          {"repro", Text(row, "repro")}};
}

std::string Where(const Json& vector) {
  const auto expected = vector.find("expected");
  if (expected == vector.end() || !expected->contains("spec")) return "";
  const Json& offset = expected->at("spec").at("offset");
  return offset.is_null() ? "" : fmt::format("at byte {}", offset.dump());
}

// "canary, gguf_n_dims_eight".
std::string KillsOf(const Json& vector) {
  std::string out;
  for (const Json& name : vector.value("kills", Json::array())) {
    if (!out.empty()) out += ", ";
    out += name.get<std::string>();
  }
  return out;
}

Json VectorPanel(const ReportView& view, const Group& group) {
  const Json& vector = view.vector(group.key);
  const Json excerpt = vector.value("excerpt", Json());
  Json answers = Json::array();
  for (const Json* row : group.rows) answers.push_back(Answer(view, *row));
  return {{"id", group.key},
          {"operation", Text(vector, "operation")},
          {"notes", Text(vector, "notes")},
          {"kills", KillsOf(vector)},
          {"expected", Text(*group.rows.front(), "expected")},
          {"where", Where(vector)},
          {"hex", excerpt.is_null() ? "" : ExcerptHtml(excerpt)},
          {"fields", excerpt.is_null() ? "" : FieldsHtml(excerpt)},
          {"request", Text(vector, "request")},
          {"answer", Text(vector, "answer")},
          {"answers", answers}};
}

// "3 implementations, 2 crash".
std::string TallyWords(const Group& group) {
  std::set<std::string> who;
  std::set<std::string> crashing;
  for (const Json* row : group.rows) {
    who.insert(Text(*row, "implementation"));
    if (Text(*row, "verdict") == "crash") {
      crashing.insert(Text(*row, "implementation"));
    }
  }
  std::string words = Count(who.size(), "implementation");
  if (!crashing.empty()) {
    words += fmt::format(", {} {}", crashing.size(),
                         crashing.size() == 1 ? "crashes" : "crash");
  }
  return words;
}

Json Profiles(const Json& rule) {
  Json list = Json::array();
  if (!rule.contains("profiles")) return list;
  for (const char* name : {"spec", "ggml", "candle"}) {
    const std::string verdict = Text(rule.at("profiles"), name);
    if (verdict.empty()) continue;
    list.push_back({{"name", name}, {"verdict", verdict}});
  }
  return list;
}

std::string SourceWords(const Json& rule) {
  std::string words;
  if (!rule.contains("sources")) return words;
  for (const Json& source : rule.at("sources")) {
    words += (words.empty() ? "" : ", ") + source.get<std::string>();
  }
  return words;
}

std::vector<const Json*> RowsWith(const Json& report, const char* outcome) {
  std::vector<const Json*> rows;
  for (const Json& row : report.at("rows")) {
    if (row.at("outcome") == outcome) rows.push_back(&row);
  }
  return rows;
}

Json Failures(const ReportView& view) {
  const auto groups = GroupByRule(view, RowsWith(view.report(), "fail"));
  Json list = Json::array();
  for (const Group& group : groups) {
    const Json& rule = view.rule(group.key);
    const std::string severity = Text(rule, "severity");
    Json vectors = Json::array();
    for (const Group& vector : GroupBy(
             group.rows, [](const Json& row) { return Text(row, "vector"); })) {
      vectors.push_back(VectorPanel(view, vector));
    }
    list.push_back(
        {{"id", group.key},
         {"severity", severity},
         {"severity_words", severity == "none" ? "required" : severity},
         {"statement", Text(rule, "statement")},
         {"tally", TallyWords(group)},
         {"open", groups.size() <= 2},
         {"profiles", Profiles(rule)},
         {"points_at", Text(rule, "points_at")},
         {"notes", Text(rule, "notes")},
         {"sources", SourceWords(rule)},
         {"vectors", vectors}});
  }
  return list;
}

Json Policies(const ReportView& view) {
  Json list = Json::array();
  for (const Group& group :
       GroupByRule(view, RowsWith(view.report(), "policy"))) {
    const Json& rule = view.rule(group.key);
    Json answers = Json::array();
    for (const Group& answer : GroupBy(group.rows, GotWords)) {
      std::set<std::string> who;
      for (const Json* row : answer.rows) {
        who.insert(Printable(Text(*row, "implementation")));
      }
      answers.push_back({{"got", answer.key},
                         {"who", fmt::format("{}", fmt::join(who, ", "))}});
    }
    Json item = {{"id", group.key}, {"statement", Text(rule, "statement")},
                 {"spec", ""},      {"ggml", ""},
                 {"candle", ""},    {"groups", answers}};
    for (const Json& profile : Profiles(rule)) {
      item[Text(profile, "name")] = Text(profile, "verdict");
    }
    list.push_back(item);
  }
  return list;
}

Json Known(const ReportView& view) {
  Json list = Json::array();
  for (const Group& group : GroupBy(
           RowsWith(view.report(), "expected-deviation"), [](const Json& row) {
             return Text(row, "implementation") + '\n' + Text(row, "rule") +
                    '\n' + GotWords(row) + '\n' + Text(row, "reason");
           })) {
    const Json& row = *group.rows.front();
    list.push_back({{"who", Printable(Text(row, "implementation"))},
                    {"rule", Text(row, "rule")},
                    {"n", group.rows.size()},
                    {"got", GotWords(row)},
                    {"reason", Text(row, "reason")}});
  }
  return list;
}

Json Gaps(const Json& report) {
  Json list = Json::array();
  for (const char* outcome : {"not-compared", "not-run"}) {
    for (const Group& group :
         GroupBy(RowsWith(report, outcome), [](const Json& row) {
           return Text(row, "implementation") + '\n' + Text(row, "reason");
         })) {
      const Json& row = *group.rows.front();
      list.push_back(
          {{"who", Printable(Text(row, "implementation"))},
           {"kind",
            outcome == std::string("not-run") ? "not run" : "not compared"},
           {"n", group.rows.size()},
           {"why", Text(row, "reason")}});
    }
  }
  return list;
}

Json Arithmetic(const Json& report) {
  Json list = Json::array();
  for (const Json& implementation : report.at("implementations")) {
    for (const auto& [operation, text] :
         implementation.at("arithmetic").items()) {
      list.push_back({{"who", Printable(Text(implementation, "name"))},
                      {"operation", operation},
                      {"text", text}});
    }
  }
  return list;
}

Json DeviationNotes(const Json& report) {
  Json list = Json::array();
  for (const Json& implementation : report.at("implementations")) {
    for (const auto& [key, kind] :
         {std::pair("stale_deviations", "stale, remove it:"),
          std::pair("overdue_deviations", "overdue:")}) {
      for (const Json& text : implementation.at(key)) {
        list.push_back({{"name", Printable(Text(implementation, "name"))},
                        {"kind", kind},
                        {"text", text}});
      }
    }
  }
  return list;
}

// What varies, as lines: only plain values.
Json RunLines(const Json& report) {
  Json lines = Json::array();
  for (const auto& [key, value] : report.at("run").items()) {
    if (key == "implementations" || key == "rows") continue;
    const std::string text =
        value.is_string() ? value.get<std::string>() : value.dump();
    lines.push_back(fmt::format("{}: {}", key, Shorten(text, 300)));
  }
  return lines;
}

Json FailingNames(const Json& report) {
  Json names = Json::array();
  for (const Json& implementation : report.at("implementations")) {
    if (implementation.at("outcomes").at("fail") > 0) {
      names.push_back(Text(implementation, "name"));
    }
  }
  return names;
}

Json PageData(const ReportView& view) {
  const Json& report = view.report();
  std::string conclusion = ConclusionWords(report);
  conclusion[0] = static_cast<char>(conclusion[0] - 'a' + 'A');
  Json data = {
      {"conclusion", conclusion},
      {"conclusion_class", Text(report.at("summary"), "conclusion")},
      {"sentence", ConclusionSentence(report)},
      {"facts", Facts(report)},
      {"matrix", MatrixSvg(view)},
      {"implementations", Implementations(report)},
      {"failures", Failures(view)},
      {"failing", FailingNames(report)},
      {"policies", Policies(view)},
      {"known", Known(view)},
      {"arithmetic", Arithmetic(report)},
      {"gaps", Gaps(report)},
      {"deviation_notes", DeviationNotes(report)},
      {"clusters", Json::array()},
      {"nearest", Json::array()},
      {"cluster_sentence", ""},
      {"run", RunLines(report)},
      {"canary", report.at("summary").at("canary").at("caught").get<bool>()
                     ? "this run caught it"
                     : "this run did not, so its results are void"}};
  if (report.contains("clusters")) {
    const Json& clusters = report.at("clusters");
    data["clusters"] = ClusterTable(clusters);
    data["nearest"] = NearestReaders(clusters);
    data["cluster_sentence"] = Printable(ClusterSentence(clusters));
  }
  for (const char* name : {"failures", "policies", "known", "arithmetic",
                           "gaps", "deviation_notes", "clusters"}) {
    data[std::string("has_") + name] = !data[name].empty();
  }
  data["failure_count"] =
      data["failures"].empty() ? "" : Count(data["failures"].size(), "rule");
  return data;
}

}  // namespace

std::string RenderHtml(const Json& report) {
  const ReportView view(report);
  mustache::mustache page{std::string(kReportTemplate)};
  page.set_custom_escape(
      [](const std::string& text) { return HtmlEscape(text); });
  return page.render(ToMustache(PageData(view)));
}

}  // namespace weightproof::reports
