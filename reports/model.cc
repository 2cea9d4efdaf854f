#include "reports/model.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "reference/rule.h"
#include "reports/clusters.h"
#include "reports/excerpt.h"
#include "reports/text.h"

namespace weightproof::reports {
namespace {

using conformance::Implementation;
using conformance::Outcome;
using conformance::Row;
using conformance::RunResult;
using conformance::Vector;

constexpr std::size_t kLongText = 2000;

Json OrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(ValidUtf8(text));
}

Json Texts(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(ValidUtf8(text));
  return list;
}

// JSON as one line of bounded length.
std::string Compact(const Json& value) {
  return Shorten(value.dump(-1, ' ', false, Json::error_handler_t::replace),
                 kLongText);
}

std::vector<Row> SortedRows(const RunResult& result) {
  std::vector<Row> rows = result.rows;
  std::ranges::sort(rows, {}, [](const Row& row) {
    return std::tie(row.implementation, row.vector, row.variant);
  });
  return rows;
}

// Outcome counts with every outcome present.
class Tally {
 public:
  void Add(Outcome outcome) { ++counts_[outcome]; }
  Json ToJson() const {
    Json json = Json::object();
    for (const Outcome outcome :
         {Outcome::kPass, Outcome::kPolicy, Outcome::kExpectedDeviation,
          Outcome::kFail, Outcome::kNotCompared, Outcome::kNotRun}) {
      const auto at = counts_.find(outcome);
      json[std::string(ToString(outcome))] =
          at == counts_.end() ? 0 : at->second;
    }
    return json;
  }

 private:
  std::map<Outcome, std::uint64_t> counts_;
};

// What is counted per implementation besides outcomes.
Json Scores(const std::vector<Row>& rows, const std::string& name) {
  Tally outcomes;
  std::map<std::string, std::uint64_t> incidents = {{"crash", 0},
                                                    {"hang", 0},
                                                    {"out-of-memory", 0},
                                                    {"protocol-error", 0},
                                                    {"nondeterministic", 0},
                                                    {"not-implemented", 0}};
  std::uint64_t read_differently = 0, late = 0, without_reason = 0;
  std::uint64_t rules = 0, rules_right = 0, offsets = 0, offsets_right = 0;
  for (const Row& row : rows) {
    if (row.implementation != name) continue;
    outcomes.Add(row.outcome);
    const auto incident = incidents.find(row.verdict);
    if (incident != incidents.end()) ++incident->second;
    read_differently += row.outcome == Outcome::kFail &&
                        row.verdict == "accept" && !row.difference.empty();
    late += row.late;
    without_reason += row.without_reason;
    rules += row.rule_matches.has_value();
    rules_right += row.rule_matches.value_or(false);
    offsets += row.offset_matches.has_value();
    offsets_right += row.offset_matches.value_or(false);
  }
  return {{"outcomes", outcomes.ToJson()},
          {"incidents", incidents},
          {"read_differently", read_differently},
          {"late", late},
          {"without_reason", without_reason},
          {"rule_named", {{"right", rules_right}, {"of", rules}}},
          {"offset_named", {{"right", offsets_right}, {"of", offsets}}}};
}

// The profile an implementation follows on most points (of several, the first
// by name); null without points.
// The profile an implementation follows most; none if it leaves even that one
// on half of the points.
Json InferredProfile(const Implementation& implementation) {
  const std::pair<int, int>* best = nullptr;
  std::string name;
  for (const auto& [profile, points] : implementation.profile_points) {
    if (best == nullptr || points.first > best->first) {
      best = &points;
      name = profile;
    }
  }
  if (best == nullptr || 2 * best->first <= best->second) return nullptr;
  return name;
}

Json ProfilePoints(const Implementation& implementation) {
  Json list = Json::array();
  for (const auto& [profile, points] : implementation.profile_points) {
    list.push_back({{"name", ValidUtf8(profile)},
                    {"agrees", points.first},
                    {"points", points.second}});
  }
  return list;
}

Json ImplementationJson(const Implementation& implementation,
                        const std::vector<Row>& rows) {
  Json json = {
      {"name", ValidUtf8(implementation.name)},
      {"version", OrNull(implementation.version)},
      {"language", OrNull(implementation.language)},
      {"status", ToString(implementation.status)},
      {"why", OrNull(implementation.why)},
      {"built_in", implementation.built_in},
      {"declared_profile",
       OrNull(implementation.declared_profile.value_or(""))},
      {"inferred_profile", InferredProfile(implementation)},
      {"profiles", ProfilePoints(implementation)},
      {"operations", Texts(implementation.operations)},
      {"variants", Texts(implementation.variants)},
      {"stale_deviations", Texts(implementation.stale_deviations)},
      {"overdue_deviations", Texts(implementation.overdue_deviations)}};
  Json arithmetic = Json::object();
  for (const auto& [operation, text] : implementation.arithmetic) {
    arithmetic[ValidUtf8(operation)] = ValidUtf8(text);
  }
  json["arithmetic"] = arithmetic;
  json.update(Scores(rows, implementation.name));
  return json;
}

// The answer without its free text, which may name scratch paths.
Json StableAnswer(Json answer) {
  if (answer.is_object()) answer.erase("detail");
  if (answer.is_null()) return answer;
  return Compact(answer);
}

// Fields that say nothing are left out: most rows are plain passes.
Json RowJson(const Row& row) {
  Json json = {{"implementation", ValidUtf8(row.implementation)},
               {"vector", ValidUtf8(row.vector)},
               {"rule", ValidUtf8(row.rule)},
               {"operation", ValidUtf8(row.operation)},
               {"outcome", ToString(row.outcome)},
               {"verdict", OrNull(row.verdict)},
               {"expected", ValidUtf8(row.expected)}};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) json[name] = Shorten(ValidUtf8(text), kLongText);
  };
  add("variant", row.variant);
  add("reason", row.reason);
  add("difference", row.difference);
  add("signal", row.signal);
  if (row.rule_matches) json["rule_matches"] = *row.rule_matches;
  if (row.offset_matches) json["offset_matches"] = *row.offset_matches;
  if (!row.profiles.empty()) json["profiles"] = Texts(row.profiles);
  if (row.late) json["late"] = true;
  if (row.without_reason) json["without_reason"] = true;
  if (row.outcome != Outcome::kPass) {
    add("repro", row.repro);
    if (!row.answer.is_null()) json["answer"] = StableAnswer(row.answer);
  }
  return json;
}

Json RuleJson(const Rule& rule) {
  Json sources = Json::array();
  std::string_view rest = rule.sources;
  while (!rest.empty()) {
    const std::size_t end = rest.find(';');
    sources.push_back(rest.substr(0, end));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  return {{"id", rule.id},
          {"format", rule.format},
          {"stage", rule.stage},
          {"severity", weightproof::ToString(rule.severity)},
          {"profiles",
           {{"spec", weightproof::ToString(rule.spec)},
            {"ggml", weightproof::ToString(rule.ggml)},
            {"candle", weightproof::ToString(rule.candle)}}},
          {"points_at", rule.points_at},
          {"statement", rule.statement},
          {"notes", rule.notes},
          {"sources", sources}};
}

// A rule a row names that the registry lacks.
Json UnknownRule(const std::string& id) {
  Json json = RuleJson(Rule{});
  json["id"] = ValidUtf8(id);
  json["statement"] = "Not in the registry of this build.";
  return json;
}

// In the order of the registry, unknown ones last.
Json RulesJson(const std::set<std::string>& ids) {
  Json list = Json::array();
  for (const Rule& rule : Rules()) {
    if (ids.contains(std::string(rule.id))) list.push_back(RuleJson(rule));
  }
  for (const std::string& id : ids) {
    if (!FindRule(id)) list.push_back(UnknownRule(id));
  }
  return list;
}

Json VectorJson(const Vector& vector) {
  Json expected = Json::object();
  for (const auto& [profile, want] : vector.expect) {
    expected[profile] = {{"verdict", want.verdict},
                         {"rule", OrNull(want.rule.value_or(""))},
                         {"offset", nullptr}};
    if (want.offset) expected[profile]["offset"] = *want.offset;
  }
  Json json = {{"id", ValidUtf8(vector.id)},
               {"rule", ValidUtf8(vector.rule)},
               {"format", ValidUtf8(vector.format)},
               {"operation", ValidUtf8(vector.operation)},
               {"twin", OrNull(vector.twin)},
               {"notes", ValidUtf8(vector.notes)},
               {"expected", expected},
               {"excerpt", nullptr},
               {"request", nullptr},
               {"answer", nullptr}};
  const auto spec = vector.expect.find("spec");
  if (!vector.bytes.chunks.empty() || vector.operation == "gguf.parse") {
    json["excerpt"] = MakeExcerpt(
        vector.format, vector.bytes,
        spec == vector.expect.end() ? std::nullopt : spec->second.offset);
  }
  if (!vector.request.is_null()) json["request"] = Compact(vector.request);
  if (spec != vector.expect.end() && !spec->second.answer.is_null()) {
    json["answer"] = Compact(spec->second.answer);
  }
  return json;
}

Json VectorsJson(const conformance::VectorSet& set,
                 const std::set<std::string>& ids) {
  std::map<std::string, const Vector*> found;
  for (const Vector& vector : set.vectors) {
    if (ids.contains(vector.id)) found[vector.id] = &vector;
  }
  Json list = Json::array();
  for (const auto& [id, vector] : found) list.push_back(VectorJson(*vector));
  return list;
}

std::string Conclusion(int exit_code) {
  switch (exit_code) {
    case 0:
      return "conforming";
    case 1:
      return "not-conforming";
    case 3:
      return "unusable";
    case 4:
      return "void";
    case 6:
      return "incomplete";
    default:
      return "internal-error";
  }
}

Json SummaryJson(const RunResult& result, const std::vector<Row>& rows) {
  Tally tally;
  for (const Row& row : rows) tally.Add(row.outcome);
  const int exit_code = conformance::ExitCode(result);
  return {{"conclusion", Conclusion(exit_code)},
          {"exit_code", exit_code},
          {"executed", result.executed},
          {"skipped", result.skipped},
          {"total", result.total},
          {"interrupted", result.interrupted},
          {"unrecorded", result.unrecorded},
          {"outcomes", tally.ToJson()},
          {"canary",
           {{"caught", result.canary_caught},
            {"detail", ValidUtf8(result.canary_detail)}}},
          {"built_ins",
           {{"agree", !result.built_ins_disagree},
            {"detail", ValidUtf8(result.built_ins_detail)}}}};
}

// The part that varies.
Json RunJson(const RunResult& result, const std::vector<Row>& rows) {
  Json run = result.run.is_object() ? result.run : Json::object();
  Json measured = Json::array();
  for (const Implementation& implementation : result.implementations) {
    measured.push_back({{"name", ValidUtf8(implementation.name)},
                        {"seconds", implementation.seconds},
                        {"peak_rss_bytes", implementation.peak_rss_bytes}});
  }
  run["implementations"] = measured;
  Json texts = Json::array();
  for (const Row& row : rows) {
    const bool has_detail = row.answer.is_object() &&
                            row.answer.contains("detail") &&
                            row.answer["detail"].is_string();
    if (row.outcome == Outcome::kPass) continue;
    if (row.stderr_tail.empty() && !has_detail) continue;
    Json text = {{"implementation", ValidUtf8(row.implementation)},
                 {"vector", ValidUtf8(row.vector)},
                 {"variant", ValidUtf8(row.variant)}};
    if (!row.stderr_tail.empty()) {
      text["stderr"] = ValidUtf8(row.stderr_tail);
    }
    if (has_detail) {
      text["detail"] = Shorten(
          ValidUtf8(row.answer["detail"].get<std::string>()), kLongText);
    }
    texts.push_back(text);
  }
  run["rows"] = texts;
  return run;
}

}  // namespace

std::string_view ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kPolicy:
      return "policy";
    case Outcome::kExpectedDeviation:
      return "expected-deviation";
    case Outcome::kFail:
      return "fail";
    case Outcome::kNotCompared:
      return "not-compared";
    case Outcome::kNotRun:
      return "not-run";
  }
  return "not-run";
}

std::string_view ToString(conformance::ImplementationStatus status) {
  switch (status) {
    case conformance::ImplementationStatus::kRan:
      return "ran";
    case conformance::ImplementationStatus::kNotRun:
      return "not-run";
    case conformance::ImplementationStatus::kUnusable:
      return "unusable";
  }
  return "not-run";
}

Json BuildReport(const RunResult& result,
                 const conformance::VectorSet& vectors) {
  const std::vector<Row> rows = SortedRows(result);
  std::set<std::string> rule_ids;
  std::set<std::string> vector_ids;
  Json row_list = Json::array();
  for (const Row& row : rows) {
    rule_ids.insert(row.rule);
    vector_ids.insert(row.vector);
    row_list.push_back(RowJson(row));
  }
  std::vector<Implementation> sorted = result.implementations;
  std::ranges::sort(sorted, {}, &Implementation::name);
  Json implementations = Json::array();
  for (const Implementation& implementation : sorted) {
    implementations.push_back(ImplementationJson(implementation, rows));
  }
  return {{"format", kReportFormat},
          {"set_version", ValidUtf8(vectors.version)},
          {"summary", SummaryJson(result, rows)},
          {"implementations", implementations},
          {"rules", RulesJson(rule_ids)},
          {"vectors", VectorsJson(vectors, vector_ids)},
          {"rows", row_list},
          {"clusters", Clusters(row_list)},
          {"run", RunJson(result, rows)}};
}

}  // namespace weightproof::reports
