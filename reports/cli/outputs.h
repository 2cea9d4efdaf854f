// Writing reports, and reading them back.
#ifndef WEIGHTPROOF_REPORTS_CLI_OUTPUTS_H_
#define WEIGHTPROOF_REPORTS_CLI_OUTPUTS_H_

#include <expected>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace weightproof::cli {

using Json = nlohmann::json;

// "terminal", "html", "json", "markdown", "junit", "badge".
const std::vector<std::string>& ReportFormats();

// The report in one of ReportFormats(); terminal in the style of standard
// output.
std::string RenderReport(const Json& report, std::string_view format);

// Writes report.json, report.html, report.md, junit.xml and badge.json.
std::expected<void, std::string> WriteReports(
    const Json& report, const std::filesystem::path& folder);

// Reads a report.json. The error names the path.
std::expected<Json, std::string> ReadReport(const std::filesystem::path& path);

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_OUTPUTS_H_
