#include "conformance/run_result.h"

#include <algorithm>

namespace weightproof::conformance {

int ExitCode(const RunResult& result) {
  if (!result.canary_caught) return 4;
  if (result.built_ins_disagree) return 5;
  const auto unusable = [](const Implementation& implementation) {
    return implementation.status == ImplementationStatus::kUnusable;
  };
  if (std::ranges::any_of(result.implementations, unusable)) return 3;
  const auto stale = [](const Implementation& implementation) {
    return !implementation.stale_deviations.empty();
  };
  if (std::ranges::any_of(result.implementations, stale)) return 1;
  const auto failed = [](const Row& row) {
    return row.outcome == Outcome::kFail;
  };
  if (std::ranges::any_of(result.rows, failed)) return 1;
  return result.interrupted || result.unrecorded > 0 ? 6 : 0;
}

}  // namespace weightproof::conformance
