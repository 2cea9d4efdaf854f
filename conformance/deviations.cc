#include "conformance/deviations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace weightproof::conformance {
namespace {

std::unexpected<std::string> Wrong(std::size_t index, std::string_view member,
                                   std::string_view what) {
  return std::unexpected(fmt::format("/{}/{}: {}", index, member, what));
}

std::string Text(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

// A string or a list of strings, as a list.
std::vector<std::string> Texts(const Json& object, const char* name) {
  std::vector<std::string> texts;
  const auto it = object.find(name);
  if (it == object.end()) return texts;
  if (it->is_string()) texts.push_back(it->get<std::string>());
  if (!it->is_array()) return texts;
  for (const Json& item : *it) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

bool IsDate(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00";
  return text.size() == kForm.size() &&
         std::ranges::equal(text, kForm, [](char c, char form) {
           return form == '-' ? c == '-' : c >= '0' && c <= '9';
         });
}

std::expected<Deviation, std::string> OneFromJson(const Json& json,
                                                  std::size_t index) {
  constexpr std::array<std::string_view, 10> kMembers = {
      "rule",   "vector",   "instance", "operation", "verdicts",
      "reason", "upstream", "versions", "owner",     "until"};
  if (!json.is_object()) return Wrong(index, "", "not an object");
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(kMembers, name) == kMembers.end()) {
      return Wrong(index, name, "unknown member");
    }
  }
  Deviation deviation = {Text(json, "rule"),      Text(json, "vector"),
                         Text(json, "instance"),  Text(json, "operation"),
                         Texts(json, "verdicts"), Text(json, "reason"),
                         Text(json, "upstream"),  Texts(json, "versions"),
                         Text(json, "owner"),     Text(json, "until")};
  if (deviation.rule.empty() == deviation.vector.empty()) {
    return Wrong(index, "rule", "exactly one of rule and vector is needed");
  }
  if (deviation.verdicts.empty()) {
    return Wrong(index, "verdicts", "is missing or empty");
  }
  if (deviation.reason.empty()) return Wrong(index, "reason", "is missing");
  if (deviation.owner.empty()) return Wrong(index, "owner", "is missing");
  if (!IsDate(deviation.until)) {
    return Wrong(index, "until", "is not a date like 2027-06-30");
  }
  return deviation;
}

bool IsAbout(const Deviation& deviation, const Row& row) {
  if (!deviation.operation.empty() && deviation.operation != row.operation) {
    return false;
  }
  return deviation.rule.empty() ? deviation.vector == row.vector
                                : deviation.rule == row.rule;
}

}  // namespace

bool GlobMatches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::expected<std::vector<Deviation>, std::string> DeviationsFromJson(
    const Json& json) {
  if (!json.is_array()) return std::unexpected("not a list");
  std::vector<Deviation> deviations;
  for (const Json& entry : json) {
    auto deviation = OneFromJson(entry, deviations.size());
    if (!deviation) return std::unexpected(deviation.error());
    deviations.push_back(std::move(*deviation));
  }
  return deviations;
}

bool AppliesTo(const Deviation& deviation, std::string_view implementation,
               std::string_view version) {
  if (!deviation.instance.empty() &&
      !GlobMatches(deviation.instance, implementation)) {
    return false;
  }
  return deviation.versions.empty() ||
         std::ranges::any_of(deviation.versions, [&](const auto& pattern) {
           return GlobMatches(pattern, version);
         });
}

bool Foresees(const Deviation& deviation, const Row& row) {
  return IsAbout(deviation, row) &&
         std::ranges::find(deviation.verdicts, row.verdict) !=
             deviation.verdicts.end();
}

std::string Describe(const Deviation& deviation) {
  return fmt::format("{} ({}, {}, until {})",
                     deviation.rule.empty() ? deviation.vector : deviation.rule,
                     deviation.reason, deviation.owner, deviation.until);
}

void ApplyDeviations(const std::vector<Deviation>& deviations,
                     std::string_view today, bool whole_set,
                     std::vector<Row>& rows, Implementation& implementation) {
  for (const Deviation& deviation : deviations) {
    if (!AppliesTo(deviation, implementation.name, implementation.version)) {
      continue;
    }
    int matched = 0, about = 0, not_run = 0;
    for (Row& row : rows) {
      if (!IsAbout(deviation, row)) continue;
      ++about;
      if (row.outcome == Outcome::kNotRun) ++not_run;
      const bool failed = row.outcome == Outcome::kFail ||
                          row.outcome == Outcome::kExpectedDeviation;
      if (!failed || !Foresees(deviation, row)) continue;
      ++matched;
      if (row.outcome == Outcome::kFail) {
        row.outcome = Outcome::kExpectedDeviation;
        row.reason =
            fmt::format("{}; expected: {}", row.reason, Describe(deviation));
      }
    }
    if (matched > 0 && std::string_view(deviation.until) < today) {
      implementation.overdue_deviations.push_back(Describe(deviation));
    }
    if (whole_set && matched == 0 && about > 0 && not_run == 0) {
      implementation.stale_deviations.push_back(Describe(deviation));
    }
  }
}

}  // namespace weightproof::conformance
