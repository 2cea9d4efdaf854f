#include "impls/registry.h"

#include <array>

#include "impls/cpu/gguf_view.h"
#include "impls/cpu/q8_0.h"
#include "impls/reference_ops.h"

namespace weightproof::impls {

// One line for each implementation.
std::span<const wp_implementation* const> BuiltIns() {
  static const std::array kBuiltIns = {
      ReferenceImplementation(),
      GgufViewImplementation(),
      Q80ScalarImplementation(),
      Q80Avx2Implementation(),
      Q80Avx512Implementation(),
      Q80NeonImplementation(),
  };
  return kBuiltIns;
}

const wp_implementation* FindBuiltIn(std::string_view name) {
  for (const wp_implementation* implementation : BuiltIns()) {
    if (implementation->name == name) return implementation;
  }
  return nullptr;
}

}  // namespace weightproof::impls
