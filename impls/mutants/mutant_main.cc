// The entry of a mutant's shared object: the built-in implementation whose
// file was replaced.
#include <cstdio>
#include <string_view>

#include "impls/registry.h"

// WEIGHTPROOF_MUTATED_STEM: "gguf_view_values", "q8_0_avx2". The
// implementation is the one with the longest name that begins it.
extern "C" __attribute__((visibility("default"))) const wp_implementation*
wp_implementation_open(const char*, char* error, size_t error_size) {
  const std::string_view stem = WEIGHTPROOF_MUTATED_STEM;
  const wp_implementation* found = nullptr;
  std::size_t longest = 0;
  for (const wp_implementation* built_in : weightproof::impls::BuiltIns()) {
    const std::string_view name = built_in->name;
    if (stem.starts_with(name) && name.size() > longest) {
      found = built_in;
      longest = name.size();
    }
  }
  if (found == nullptr) {
    std::snprintf(error, error_size, "no implementation is called like %s",
                  WEIGHTPROOF_MUTATED_STEM);
  }
  return found;
}
