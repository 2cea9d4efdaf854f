// Built with WEIGHTPROOF_MUTANT=canary: GgufViewImplementation() is that of
// the mutated reader.
#include "impls/cpu/gguf_view.h"
#include "impls/registry.h"

namespace weightproof::impls {

const wp_implementation* CanaryImplementation() {
  static const wp_implementation kCanary = [] {
    wp_implementation canary = *GgufViewImplementation();
    canary.name = "canary";
    return canary;
  }();
  return &kCanary;
}

}  // namespace weightproof::impls
