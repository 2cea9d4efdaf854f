// The fuzz targets of Q8_0.
#include <string_view>

#include "fuzzers/q8_0/oracle.h"
#include "fuzzers/target.h"
#include "impls/registry.h"

namespace weightproof::fuzzers::format_q8_0 {
namespace {

// Kernels that this machine cannot run say so for the empty row, and are left
// out.
bool RunsHere(const wp_implementation& implementation) {
  Q80Case nothing;
  nothing.n = 0;
  return AskQ80(implementation, nullptr, nothing).offered;
}

Subjects AllKernels() {
  Subjects subjects;
  subjects.trusted = impls::FindBuiltIn("reference");
  for (const wp_implementation* implementation : impls::BuiltIns()) {
    if (std::string_view(implementation->name).starts_with("q8_0_") &&
        RunsHere(*implementation)) {
      subjects.tested.push_back(implementation);
    }
  }
  return subjects;
}

}  // namespace

std::span<const Target> FormatTargets() {
  static const Target kTargets[] = {
      {.name = "q8_0_diff",
       .format = "q8_0",
       .about = "the reference against every kernel that runs here",
       .extension = "entropy",
       .max_size = 1024,
       .subjects = AllKernels,
       .run = CheckQ80,
       .generate = GenerateBytes,
       .mutate = MutateBytes,
       .cross = CrossBytes},
  };
  return kTargets;
}

}  // namespace weightproof::fuzzers::format_q8_0
