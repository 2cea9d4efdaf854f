// The report for other programs: CI systems, code hosts, badges.
#ifndef WEIGHTPROOF_REPORTS_FORMATS_H_
#define WEIGHTPROOF_REPORTS_FORMATS_H_

#include <nlohmann/json.hpp>
#include <string>

namespace weightproof::reports {

using Json = nlohmann::json;

// A summary for a pull request or a job page: conclusion, table, failing
// rules of each implementation with one command that reproduces each.
std::string RenderMarkdown(const Json& report);

// JUnit XML: a suite per implementation, a case per row. Known deviations,
// rows not compared and rows not run are skipped with their reason.
std::string RenderJUnit(const Json& report);

// SARIF 2.1.0 for code hosts: a result per failing row, located at the byte of
// its vector (below the folder of `weightproof export`) and by
// "implementation/vector".
std::string RenderSarif(const Json& report);

// A log of one run of the tool: rules from SarifRule, results. What went wrong
// with the run itself, if anything, is notifications. version may be empty.
Json SarifLog(const std::string& version, Json rules, Json results,
              Json notifications = Json::array());
// From a rule of a report: {id, statement, severity, notes}.
Json SarifRule(const Json& rule);
// "error", "warning" or "note".
const char* SarifLevel(const std::string& severity);

// A badge in the endpoint format of shields.io.
std::string RenderBadge(const Json& report);

}  // namespace weightproof::reports

#endif  // WEIGHTPROOF_REPORTS_FORMATS_H_
