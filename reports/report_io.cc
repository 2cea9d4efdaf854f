#include <fmt/format.h>

#include <exception>
#include <memory>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "reports/embedded.h"
#include "reports/model.h"

namespace weightproof::reports {
namespace {

const valijson::Schema& ReportSchema() {
  static const std::unique_ptr<const valijson::Schema> schema = [] {
    auto loaded = std::make_unique<valijson::Schema>();
    const Json document = Json::parse(kReportSchema);
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document),
                          *loaded);
    return loaded;
  }();
  return *schema;
}

// A list with one element per line.
void AppendLines(const Json& list, std::string* out) {
  *out += "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    *out += i == 0 ? "\n  " : ",\n  ";
    *out += list[i].dump();
  }
  *out += list.empty() ? "]" : "\n ]";
}

}  // namespace

std::expected<void, std::string> CheckReport(const Json& report) {
  valijson::ValidationResults results;
  valijson::Validator validator;
  try {
    if (validator.validate(ReportSchema(),
                           valijson::adapters::NlohmannJsonAdapter(report),
                           &results)) {
      return {};
    }
  } catch (const std::exception& error) {
    return std::unexpected(std::string(error.what()));
  }
  // The last error is the innermost: what is wrong, not where it was noticed.
  valijson::ValidationResults::Error error;
  valijson::ValidationResults::Error next;
  while (results.popError(next)) {
    if (next.context.size() >= error.context.size()) error = next;
  }
  std::string path;
  for (const std::string& step : error.context) path += step;
  return std::unexpected(fmt::format("{}: {}", path, error.description));
}

std::expected<Json, std::string> ParseReport(std::string_view text) {
  Json report;
  try {
    report = Json::parse(text);
  } catch (const std::exception& error) {
    return std::unexpected(fmt::format("not JSON: {}", error.what()));
  }
  if (!report.is_object() || report.value("format", Json()) != kReportFormat) {
    return std::unexpected(
        fmt::format("not a report: \"format\" is not \"{}\"", kReportFormat));
  }
  if (auto valid = CheckReport(report); !valid) {
    return std::unexpected(valid.error());
  }
  return report;
}

std::string ReportText(const Json& report) {
  std::string out = "{";
  for (const std::string_view name :
       {"format", "set_version", "summary", "implementations", "rules",
        "vectors", "rows", "clusters", "run"}) {
    const auto at = report.find(name);
    if (at == report.end()) continue;
    const Json& value = *at;
    out += fmt::format("{}\n \"{}\": ", out.size() == 1 ? "" : ",", name);
    if (value.is_array()) {
      AppendLines(value, &out);
    } else {
      out += value.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
  }
  return out + "\n}\n";
}

}  // namespace weightproof::reports
