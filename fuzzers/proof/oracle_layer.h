// What the layers share that ask by a fuzz target's oracle.
#ifndef WEIGHTPROOF_FUZZERS_PROOF_ORACLE_LAYER_H_
#define WEIGHTPROOF_FUZZERS_PROOF_ORACLE_LAYER_H_

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

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_PROOF_ORACLE_LAYER_H_
