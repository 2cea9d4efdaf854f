// The trusted implementation behind the C ABI: thin adapters from the table of
// operations to the rooms under reference/.
#ifndef WEIGHTPROOF_IMPLS_REFERENCE_OPS_H_
#define WEIGHTPROOF_IMPLS_REFERENCE_OPS_H_

#include "impls/abi.h"

namespace weightproof::impls {

// The implementation named "reference": every operation, trusted and slow.
// Lives as long as the process.
const wp_implementation* ReferenceImplementation();

// ---- reference_gguf.cc; contracts as in wp_implementation ----

// Reads the caller's bytes only. If they end inside the header of a larger
// file the answer is WP_STATUS_NOT_RUN and says how many bytes are missing.
void ReferenceGgufParse(const wp_gguf_input* input, const wp_gguf_sink* sink,
                        wp_answer* answer);
void ReferenceGgufTensor(const wp_gguf_input* input, uint64_t index,
                         const wp_bytes_sink* out, wp_answer* answer);
// Sends key and value to the sink, nothing else.
void ReferenceGgufGet(const wp_gguf_input* input, wp_slice key, uint32_t type,
                      const wp_gguf_sink* sink, wp_answer* answer);

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_REFERENCE_OPS_H_
