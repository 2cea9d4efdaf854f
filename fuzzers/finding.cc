#include "fuzzers/finding.h"

#include <array>

namespace weightproof::fuzzers {
namespace {

constexpr std::array<std::string_view, 13> kNames = {
    "crash",      "hang",       "verdict",  "rule",           "offset",
    "dump",       "output",     "contract", "nondeterminism", "overwrite",
    "allocation", "round-trip", "generator"};

}  // namespace

std::string_view ToString(FindingKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

bool FromString(std::string_view text, FindingKind& kind) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] != text) continue;
    kind = static_cast<FindingKind>(i);
    return true;
  }
  return false;
}

std::string BucketOf(const Finding& finding) {
  std::string out(ToString(finding.kind));
  out += " " + finding.implementation;
  out += " " + (finding.rule.empty() ? "-" : finding.rule);
  out += ": " + finding.behaviour;
  return out;
}

}  // namespace weightproof::fuzzers
