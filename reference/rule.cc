#include "reference/rule.h"

#include <array>

namespace weightproof {
namespace {

constexpr Rule kRules[] = {
#include "reference/rules_data.inc"
};

constexpr std::array<std::string_view, 7> kCellNames = {
    "accept", "reject", "unsupported", "limit", "policy", "bound", "n/a"};
constexpr std::array<std::string_view, 5> kSeverityNames = {
    "none", "inconclusive", "ambiguous", "nonconforming", "hazard"};

}  // namespace

std::span<const Rule> Rules() { return kRules; }

std::optional<RuleIndex> FindRule(std::string_view id) {
  for (std::size_t i = 0; i < std::size(kRules); ++i) {
    if (kRules[i].id == id) return static_cast<RuleIndex>(i);
  }
  return std::nullopt;
}

std::string_view ToString(Cell cell) {
  return kCellNames[static_cast<std::size_t>(cell)];
}

std::string_view ToString(Severity severity) {
  return kSeverityNames[static_cast<std::size_t>(severity)];
}

}  // namespace weightproof
