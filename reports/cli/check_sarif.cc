#include "reports/cli/check_sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/formats.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

// Profiles that stop at the same rule and byte are one finding.
struct SarifStop {
  const Finding* finding;
  std::string by;  // "spec reject, ggml reject"
  bool rejected = false;
};

std::vector<SarifStop> SarifStops(const std::vector<const Finding*>& findings) {
  std::vector<SarifStop> stops;
  for (const Finding* finding : findings) {
    if (finding->rule == kNoRule) continue;
    auto stop = std::ranges::find_if(stops, [&](const SarifStop& other) {
      return other.finding->rule == finding->rule &&
             other.finding->offset == finding->offset;
    });
    if (stop == stops.end()) {
      stop = stops.insert(stops.end(), {finding, ""});
    }
    stop->by += fmt::format("{}{} {}", stop->by.empty() ? "" : ", ",
                            finding->profile, ToString(finding->verdict));
    stop->rejected |= finding->verdict == Cell::kReject;
  }
  return stops;
}

std::string StopWords(const SarifStop& stop) {
  const Finding& finding = *stop.finding;
  return fmt::format("{}. {}{}By profile: {}.", Rules()[finding.rule].statement,
                     finding.detail, finding.detail.empty() ? "" : ". ",
                     stop.by);
}

Json SarifRegion(std::uint64_t offset, std::uint64_t length) {
  return {{"byteOffset", offset}, {"byteLength", length}};
}

Json SarifPlace(const std::filesystem::path& path) {
  return {{"artifactLocation", {{"uri", UriOf(path)}}}};
}

Json SarifLocations(Json place) {
  return Json::array({Json{{"physicalLocation", std::move(place)}}});
}

}  // namespace

std::string UriOf(const std::filesystem::path& path) {
  std::string out = path.is_absolute() ? "file://" : "";
  for (const char c : path.generic_string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string::npos;
    out += plain ? std::string(1, c)
                 : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

void CheckSarif::Result(const std::filesystem::path& path, RuleIndex rule,
                        bool rejected, std::string_view words, Json region) {
  rules_.insert(rule);
  Json place = SarifPlace(path);
  if (!region.is_null()) place["region"] = std::move(region);
  const std::string severity(ToString(Rules()[rule].severity));
  results_.push_back(
      {{"ruleId", Rules()[rule].id},
       {"level", rejected ? reports::SarifLevel(severity) : "note"},
       {"message", {{"text", reports::Printable(words)}}},
       {"locations", SarifLocations(std::move(place))}});
}

void CheckSarif::Add(const std::filesystem::path& path,
                     const FileCheck& check) {
  std::vector<const Finding*> findings;
  std::set<RuleIndex> policies;
  for (const Finding& finding : check.findings) {
    findings.push_back(&finding);
    policies.insert(finding.policies.begin(), finding.policies.end());
  }
  for (const SarifStop& stop : SarifStops(findings)) {
    const std::uint64_t offset = stop.finding->offset;
    Result(path, stop.finding->rule, stop.rejected, StopWords(stop),
           SarifRegion(offset, offset < check.file_size ? 1 : 0));
  }
  for (const RuleIndex policy : policies) {
    Result(path, policy, false,
           fmt::format("Readers may differ: {}.", Rules()[policy].statement),
           nullptr);
  }
  if (!check.data) return;
  for (const DataFinding& found : check.data->findings) {
    Result(path, found.rule, true,
           fmt::format("{}. Tensor {}, block {}.",
                       Rules()[found.rule].statement, found.name, found.block),
           SarifRegion(found.offset, 1));
  }
}

void CheckSarif::Add(const SetCheck& check) {
  for (std::size_t file = 0; file < check.files.size(); ++file) {
    std::vector<const Finding*> findings;
    for (const SetFinding& item : check.findings) {
      if (item.file == file) findings.push_back(&item.finding);
    }
    for (const SarifStop& stop : SarifStops(findings)) {
      Result(check.files[file], stop.finding->rule, stop.rejected,
             StopWords(stop), SarifRegion(stop.finding->offset, 0));
    }
  }
}

void CheckSarif::Add(const std::filesystem::path& path,
                     const conformance::FileError& error) {
  notifications_.push_back(
      {{"level", "error"},
       {"message",
        {{"text", "cannot be checked: " + reports::Printable(error.message)}}},
       {"locations", SarifLocations(SarifPlace(path))}});
}

std::string CheckSarif::Dump() const {
  Json rules = Json::array();
  for (const RuleIndex index : rules_) {
    const Rule& rule = Rules()[index];
    rules.push_back(reports::SarifRule({{"id", rule.id},
                                        {"statement", rule.statement},
                                        {"severity", ToString(rule.severity)},
                                        {"notes", rule.notes}}));
  }
  return reports::SarifLog("", std::move(rules), results_, notifications_)
             .dump(1) +
         "\n";
}

}  // namespace weightproof::cli
