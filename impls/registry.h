// The one list of everything that is under test in process: the built-in
// implementations, each a table of the C ABI (impls/abi.h).
#ifndef WEIGHTPROOF_IMPLS_REGISTRY_H_
#define WEIGHTPROOF_IMPLS_REGISTRY_H_

#include <span>
#include <string_view>

#include "impls/abi.h"

namespace weightproof::impls {

// Every built-in implementation, in a fixed order. The tables live as long as
// the process; none is null and names are unique.
std::span<const wp_implementation* const> BuiltIns();

// The built-in implementation of this name ("reference", "gguf_view",
// "q8_0_avx2"), or null.
const wp_implementation* FindBuiltIn(std::string_view name);

// The optimized GGUF reader with one planted bug (impls/mutants/canary.toml).
// Named "canary", never part of BuiltIns(). A run that does not catch it
// proves nothing.
const wp_implementation* CanaryImplementation();

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_REGISTRY_H_
