// The data of tensors: scales that are no number, tensors that hold nothing.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_DATA_VALUES_H_
#define WEIGHTPROOF_REFERENCE_GGUF_DATA_VALUES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/gguf/reader.h"

namespace weightproof::gguf {

// All that one rule finds in one tensor.
struct ValueFinding {
  RuleIndex rule = kNoRule;  // kValuesScaleNan, ...Inf, ...TensorZero, ...
  std::uint64_t tensor = 0;  // index in the table
  std::uint64_t block = 0;   // first block with it; 0 if of the whole tensor
  std::uint64_t offset = 0;  // in the file: of that scale, or of the tensor
  std::uint64_t count = 0;   // scales with it; 1 if of the whole tensor
  std::string_view field =
      {};  // name of the scale; empty if of the whole tensor
};

// Looks at every byte of every tensor of an accepted file, whose prefix must be
// all of it. By tensor, the findings of one tensor by offset.
std::vector<ValueFinding> CheckValues(const File& file);

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_DATA_VALUES_H_
