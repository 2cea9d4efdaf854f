// Which layer of tests kills which planted bug.
#ifndef WEIGHTPROOF_FUZZERS_PROOF_KILL_MATRIX_H_
#define WEIGHTPROOF_FUZZERS_PROOF_KILL_MATRIX_H_

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuzzers/proof/layer.h"
#include "fuzzers/proof/mutant.h"

namespace weightproof::fuzzers {

// What one layer did to one mutant.
struct Kill {
  bool killed = false;
  std::string by;                // the first case that killed it
  std::string what;              // how: "spec: accept", "Segmentation fault"
  std::vector<std::string> all;  // every case, where the layer wants that
};

struct MutantRow {
  Mutant mutant;
  bool ran = false;
  std::string why;                    // not run
  std::map<std::string, Kill> kills;  // by layer
};

struct LayerRow {
  std::string name;
  double seconds = 0;  // with the unmutated implementations
  std::size_t cases = 0;
  // Cases that an unmutated implementation fails; they kill nothing.
  std::vector<std::string> unsound;
};

struct KillMatrix {
  std::vector<LayerRow> layers;
  std::vector<MutantRow> mutants;

  std::size_t Ran() const;
  std::size_t Killed(const std::string& layer) const;
};

// layer, mutant ("" for the unmutated ones), how many of how many are done.
using KillProgress =
    std::function<void(std::string_view layer, std::string_view mutant,
                       std::size_t done, std::size_t total)>;

// A kill counts only for a case that the unmutated implementation passes.
// A mutant that crashes or hangs is killed.
KillMatrix RunKillMatrix(const std::vector<Mutant>& mutants,
                         const std::vector<std::unique_ptr<Layer>>& layers,
                         const KillProgress& progress);

// Vectors of the in-process operations that killed no mutant although other
// vectors of their rule are there. Empty without the layer "vectors".
std::vector<std::string> IdleVectors(const KillMatrix& matrix,
                                     const conformance::VectorSet& set);

// {"mutants":[{"name","rule","ran","killed_by":{"vectors":bool,..},...}],
//  "layers":[..],"vectors":{id:[mutants]},"idle_vectors":[..]}; a layer that
// was not asked for is null.
nlohmann::json ToJson(const KillMatrix& matrix,
                      const conformance::VectorSet& set);

// The table for people.
std::string ToText(const KillMatrix& matrix);
// The vectors that kill none of these mutants and do not stand alone for their
// rule, counted by rule; "" if the vectors were not asked.
std::string IdleToText(const KillMatrix& matrix,
                       const conformance::VectorSet& set);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_PROOF_KILL_MATRIX_H_
