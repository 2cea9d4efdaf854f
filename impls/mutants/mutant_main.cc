// The entry of a mutant's shared object: the built-in implementation that has
// the bug.
#include <cstdio>
#include <string_view>

#include "impls/registry.h"

// Its name, from implementation.cc of the mutant.
extern "C" const char wp_mutant_implementation[];

extern "C" __attribute__((visibility("default"))) const wp_implementation*
wp_implementation_open(const char*, char* error, size_t error_size) {
  for (const wp_implementation* built_in : weightproof::impls::BuiltIns()) {
    if (std::string_view(built_in->name) == wp_mutant_implementation) {
      return built_in;
    }
  }
  std::snprintf(error, error_size, "no implementation is called %s",
                wp_mutant_implementation);
  return nullptr;
}
