#include <fmt/format.h>

#include <algorithm>

#include "reports/formats.h"
#include "reports/text.h"
#include "reports/view.h"

namespace weightproof::reports {
namespace {

// The byte a vector's rejection points at, if the report shows it.
Json Region(const Json& vector) {
  const auto excerpt = vector.find("excerpt");
  if (excerpt == vector.end() || !excerpt->is_object()) return nullptr;
  const auto at = excerpt->find("at");
  if (at == excerpt->end() || !at->is_number_unsigned()) return nullptr;
  return {{"byteOffset", *at}, {"byteLength", 1}};
}

Json ResultObject(const ReportView& view, const Json& row) {
  const std::string implementation = Text(row, "implementation");
  const std::string id = Text(row, "vector");
  const Json& rule = view.rule(Text(row, "rule"));
  std::string message =
      fmt::format("{}: {}; expected {}. {}", implementation, GotWords(row),
                  Text(row, "expected"), Text(row, "reason"));
  const std::string difference = DifferenceOf(row);
  if (!difference.empty()) message += " " + difference;
  message += "\nReproduce: " + Text(row, "repro");
  Json place = {{"artifactLocation",
                 {{"uri", "vectors/" + id}, {"uriBaseId", "EXPORT"}}}};
  Json region = Region(view.vector(id));
  if (!region.is_null()) place["region"] = std::move(region);
  return {
      {"ruleId", Text(row, "rule")},
      {"level", SarifLevel(Text(rule, "severity"))},
      {"message", {{"text", Printable(message)}}},
      {"locations",
       {{{"physicalLocation", std::move(place)},
         {"logicalLocations",
          {{{"fullyQualifiedName", Printable(implementation) + "/" + id}}}}}}},
      {"partialFingerprints",
       {{"weightproof/v1", fmt::format("{}/{}/{}", Printable(implementation),
                                       id, Text(row, "variant"))}}}};
}

}  // namespace

// Hazards are errors: some reader crashes there, over-reads, or runs out of
// memory.
const char* SarifLevel(const std::string& severity) {
  return severity == "hazard"      ? "error"
         : severity == "ambiguous" ? "note"
                                   : "warning";
}

Json SarifRule(const Json& rule) {
  const std::string severity = Text(rule, "severity");
  Json object = {{"id", Text(rule, "id")},
                 {"shortDescription", {{"text", Text(rule, "statement")}}},
                 {"defaultConfiguration", {{"level", SarifLevel(severity)}}},
                 {"properties", {{"severity", severity}}}};
  const std::string notes = Text(rule, "notes");
  if (!notes.empty()) object["help"] = {{"text", notes}};
  return object;
}

Json SarifLog(const std::string& version, Json rules, Json results,
              Json notifications) {
  Json driver = {{"name", "Weightproof"}, {"rules", std::move(rules)}};
  if (!version.empty()) driver["version"] = version;
  Json run = {{"tool", {{"driver", std::move(driver)}}},
              {"results", std::move(results)}};
  if (!notifications.empty()) {
    run["invocations"] = Json::array(
        {Json{{"executionSuccessful", false},
              {"toolExecutionNotifications", std::move(notifications)}}});
  }
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({std::move(run)})}};
}

std::string RenderSarif(const Json& report) {
  const ReportView view(report);
  Json rules = Json::array();
  Json results = Json::array();
  for (const Json& rule : report.at("rules")) {
    rules.push_back(SarifRule(rule));
  }
  for (const Json& row : report.at("rows")) {
    if (Text(row, "outcome") == "fail") {
      results.push_back(ResultObject(view, row));
    }
  }
  return SarifLog(Text(report, "set_version"), std::move(rules),
                  std::move(results))
             .dump(1) +
         "\n";
}

}  // namespace weightproof::reports
