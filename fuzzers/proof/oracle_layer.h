// What the layers share that ask by a fuzz target's oracle.
#ifndef WEIGHTPROOF_FUZZERS_PROOF_ORACLE_LAYER_H_
#define WEIGHTPROOF_FUZZERS_PROOF_ORACLE_LAYER_H_

#include <string_view>
#include <vector>

#include "fuzzers/proof/layer.h"
#include "fuzzers/target.h"
#include "impls/registry.h"

namespace weightproof::fuzzers {

// The trusted implementation and one that is tested.
inline Subjects Against(const wp_implementation& subject) {
  return {impls::FindBuiltIn("reference"), {&subject}};
}

inline CaseReport Reported(const std::optional<Finding>& finding) {
  if (!finding) return {CaseReport::kPassed, ""};
  return {CaseReport::kFailed, BucketOf(*finding)};
}

// The numbers of the cases whose target is of a format.
template <typename Case>
std::vector<std::size_t> OfFormat(const std::vector<Case>& cases,
                                  std::string_view format) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].target->format == format) out.push_back(i);
  }
  return out;
}

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_PROOF_ORACLE_LAYER_H_
