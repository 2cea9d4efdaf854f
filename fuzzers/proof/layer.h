// A layer of tests that mutants must not pass.
#ifndef WEIGHTPROOF_FUZZERS_PROOF_LAYER_H_
#define WEIGHTPROOF_FUZZERS_PROOF_LAYER_H_

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/vector.h"
#include "fuzzers/proof/guarded.h"
#include "impls/abi.h"

namespace weightproof::fuzzers {

// Cases, each of which an implementation passes or fails. Everything that does
// not depend on the implementation is prepared beforehand; Check runs in a
// process of its own.
class Layer {
 public:
  virtual ~Layer() = default;
  // "vectors", "replay", "properties", "fuzzing".
  virtual std::string_view name() const = 0;
  // The cases that ask implementations of this format ("gguf", "q8_0").
  virtual std::vector<std::size_t> CasesOf(std::string_view format) const = 0;
  // For people, and for the list of what killed a mutant.
  virtual std::string NameOf(std::size_t index) const = 0;
  virtual CaseReport Check(std::size_t index,
                           const wp_implementation& subject) const = 0;
  // Whether all cases are worth running on a mutant that one has killed.
  virtual bool WantsEveryKill() const { return false; }
  virtual GuardOptions Guard() const { return {}; }
};

using LayerResult = std::expected<std::unique_ptr<Layer>, std::string>;

// Every vector under every profile, compared to the bit: verdict, rule,
// offset, policies, dump; output, integer sums. set must outlive the layer.
LayerResult MakeVectorLayer(const conformance::VectorSet& set);
// The committed corpora (a folder for each target, named like it), and the
// files and numeric requests of all vectors of at most 64 KiB, through the
// differential oracles.
LayerResult MakeReplayLayer(const std::filesystem::path& corpora,
                            const conformance::VectorSet& set);
// Properties over the generators, with fixed seeds.
LayerResult MakePropertyLayer();
// The differential targets from an empty corpus, with fixed seeds and a fixed
// number of executions for each.
LayerResult MakeFuzzLayer(std::uint64_t executions);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_PROOF_LAYER_H_
