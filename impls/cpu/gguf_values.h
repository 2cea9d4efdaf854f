// The data of a GGUF file: scales that are no number, tensors that hold
// nothing. By rules gguf.values.* of reference/gguf/rules.tsv.
//
// Limited by the memory's bandwidth, on all cores; constant memory beside 128
// bytes for each tensor.
#ifndef WEIGHTPROOF_IMPLS_CPU_GGUF_VALUES_H_
#define WEIGHTPROOF_IMPLS_CPU_GGUF_VALUES_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "impls/cpu/gguf_view.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {

struct GgufDataFinding {
  RuleIndex rule;        // gguf.values.*
  std::uint64_t tensor;  // index in table order
  std::uint64_t block;   // first block with it; 0 if of the whole tensor
  std::uint64_t offset;  // absolute: of the scale, or of the tensor
  std::uint64_t count;   // scales with it; 1 if of the whole tensor
};

struct GgufDataOptions {
  unsigned threads = 0;  // 0: one for each core
  // Called by any thread before and after it reads a window of the data, of
  // at most 4 MiB; for callers who map more than they have memory, or show
  // progress. May be empty.
  std::function<void(std::span<const std::uint8_t>)> before, after;
};

// Looks at every block of every tensor. The view's prefix must be the whole
// file. Findings by tensor, those of one tensor by offset: of each rule one.
std::vector<GgufDataFinding> CheckGgufValues(const GgufView& view,
                                             const GgufDataOptions& options);

}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_GGUF_VALUES_H_
