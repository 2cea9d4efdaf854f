// Expected deviations: failures of an implementation that are known, with a
// reason, an owner and a date by which somebody looks again. They relabel a
// fail and hide nothing.
#ifndef WEIGHTPROOF_CONFORMANCE_DEVIATIONS_H_
#define WEIGHTPROOF_CONFORMANCE_DEVIATIONS_H_

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/run_result.h"

namespace weightproof::conformance {

struct Deviation {
  std::string rule;  // exactly one of rule and vector is set
  std::string vector;
  std::string instance;   // glob over implementation names; empty: any
  std::string operation;  // empty: any
  std::vector<std::string> verdicts;  // what it answers instead
  std::string reason;
  std::string upstream;
  std::vector<std::string> versions;  // empty: any
  std::string owner;
  std::string until;  // "2027-06-30"
};

// A list of deviations. The error names the JSON pointer.
std::expected<std::vector<Deviation>, std::string> DeviationsFromJson(
    const Json& json);

// Whether the entry speaks of this implementation at all.
bool AppliesTo(const Deviation& deviation, std::string_view implementation,
               std::string_view version);
// Whether the entry foresees this row, which failed.
bool Foresees(const Deviation& deviation, const Row& row);
std::string Describe(const Deviation& deviation);

// Relabels the failed rows that are foreseen, and notes in implementation the
// entries that are stale (the implementation ran all vectors the entry is
// about, and none failed that way) and overdue (today, "2026-11-30", is past
// until). whole_set: every vector of the set was selected for this run; a
// partial run makes nothing stale.
void ApplyDeviations(const std::vector<Deviation>& deviations,
                     std::string_view today, bool whole_set,
                     std::vector<Row>& rows, Implementation& implementation);

// Shell-style: * and ? over a whole string.
bool GlobMatches(std::string_view pattern, std::string_view text);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_DEVIATIONS_H_
