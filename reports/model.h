// The report: one JSON object (report.schema.json) made from a run, and the
// only input of every renderer.
//
// Everything that varies between two runs of the same implementations stands
// under "run": times, memory, host, paths, standard error and the free text of
// answers. The rest is byte-identical.
#ifndef WEIGHTPROOF_REPORTS_MODEL_H_
#define WEIGHTPROOF_REPORTS_MODEL_H_

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "conformance/run_result.h"
#include "conformance/vector.h"

namespace weightproof::reports {

using Json = nlohmann::json;

inline constexpr std::string_view kReportFormat = "weightproof.report.v1";

// "pass", "policy", "expected-deviation", "fail", "not-compared", "not-run".
std::string_view ToString(conformance::Outcome outcome);
// "ran", "not-run", "unusable".
std::string_view ToString(conformance::ImplementationStatus status);

// The report of a run: rows sorted by implementation, vector and variant; the
// rules those rows name, in registry order, and the vectors, sorted by id. Text
// is made valid UTF-8.
Json BuildReport(const conformance::RunResult& result,
                 const conformance::VectorSet& vectors);

// Report text, parsed and checked against the schema. The error says what is
// wrong with it and where.
std::expected<Json, std::string> ParseReport(std::string_view text);

// Nothing if report satisfies report.schema.json, else the first violation:
// a path into the report and what is wrong there.
std::expected<void, std::string> CheckReport(const Json& report);

// The report as text: one row, rule, vector and implementation per line.
std::string ReportText(const Json& report);

}  // namespace weightproof::reports

#endif  // WEIGHTPROOF_REPORTS_MODEL_H_
