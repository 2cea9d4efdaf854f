#include "reports/cli/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "reports/cli/command.h"
#include "reports/formats.h"
#include "reports/html.h"
#include "reports/model.h"
#include "reports/terminal.h"

namespace weightproof::cli {
namespace {

constexpr std::uint64_t kMaxReport = std::uint64_t{1} << 30;

}  // namespace

const std::vector<std::string>& ReportFormats() {
  static const std::vector<std::string> formats = {
      "terminal", "html", "json", "markdown", "junit", "sarif", "badge"};
  return formats;
}

std::string RenderReport(const Json& report, std::string_view format) {
  if (format == "html") return reports::RenderHtml(report);
  if (format == "json") return reports::ReportText(report);
  if (format == "markdown") return reports::RenderMarkdown(report);
  if (format == "junit") return reports::RenderJUnit(report);
  if (format == "sarif") return reports::RenderSarif(report);
  if (format == "badge") return reports::RenderBadge(report);
  return reports::RenderTerminal(report, reports::StyleFor(STDOUT_FILENO));
}

std::expected<void, std::string> WriteReports(
    const Json& report, const std::filesystem::path& folder) {
  constexpr std::array<std::pair<const char*, const char*>, 6> kFiles = {
      {{"json", "report.json"},
       {"html", "report.html"},
       {"markdown", "report.md"},
       {"junit", "junit.xml"},
       {"sarif", "report.sarif"},
       {"badge", "badge.json"}}};
  for (const auto& [format, name] : kFiles) {
    auto written = WriteFile(folder / name, RenderReport(report, format));
    if (!written) return written;
  }
  return {};
}

std::expected<Json, std::string> ReadReport(const std::filesystem::path& path) {
  const auto text = ReadFile(path, kMaxReport);
  if (!text) return std::unexpected(text.error());
  auto report = reports::ParseReport(*text);
  if (report) return report;
  return std::unexpected(fmt::format("{}: {}", path.string(), report.error()));
}

}  // namespace weightproof::cli
