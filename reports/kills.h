// Which planted bugs a vector kills, in a report.
#ifndef WEIGHTPROOF_REPORTS_KILLS_H_
#define WEIGHTPROOF_REPORTS_KILLS_H_

#include <nlohmann/json.hpp>

namespace weightproof::reports {

// Adds "kills" (names of mutants) to each vector of a report, from what
// `weightproof mutants` left. Nothing happens if that is no kill matrix, is of
// another set of vectors, or never asked the vectors.
void AddKills(const nlohmann::json& matrix, nlohmann::json& report);

}  // namespace weightproof::reports

#endif  // WEIGHTPROOF_REPORTS_KILLS_H_
