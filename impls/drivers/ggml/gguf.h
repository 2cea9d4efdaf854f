// GGUF operations of ggml: what it parsed, in the form of the C ABI.
#ifndef WEIGHTPROOF_IMPLS_DRIVERS_GGML_GGUF_H_
#define WEIGHTPROOF_IMPLS_DRIVERS_GGML_GGUF_H_

#include "impls/abi.h"
#include "impls/drivers/ggml/api.h"

namespace weightproof::drivers::ggml {

// ggml/metadata: no_alloc, the tensor data is never read.
const wp_implementation* MetadataImplementation(const Api& api);

// ggml/full: the data is loaded by ggml; gguf.tensor hands out those bytes.
// Files for which ggml would allocate more than 1 GiB are not run.
const wp_implementation* FullImplementation(const Api& api);

}  // namespace weightproof::drivers::ggml

#endif  // WEIGHTPROOF_IMPLS_DRIVERS_GGML_GGUF_H_
