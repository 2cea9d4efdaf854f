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
void ReferenceGgufCheck(const wp_gguf_input* input,
                        const wp_gguf_data_sink* sink, wp_answer* answer);
void ReferenceGgufOpenSet(const wp_gguf_input* files, const char* const* names,
                          uint64_t count, const wp_gguf_sink* sinks,
                          wp_answer* answer);

// ---- reference_q8_0.cc; contracts as in wp_implementation. A variant is
// WP_STATUS_NOT_IMPLEMENTED. matvec runs in the caller's thread. ----

void ReferenceQ80Quantize(const char* variant, const float* x, uint64_t n,
                          uint64_t rows, uint8_t* y, wp_answer* answer);
void ReferenceQ81Quantize(const char* variant, const float* x, uint64_t n,
                          uint64_t rows, uint8_t* y, wp_answer* answer);
void ReferenceQ80Dequantize(const char* variant, const uint8_t* x, uint64_t n,
                            uint64_t rows, float* y, wp_answer* answer);
void ReferenceQ80Dot(const char* variant, const uint8_t* w, const uint8_t* x,
                     uint64_t n, float* y, int32_t* isum, wp_answer* answer);
void ReferenceQ80Matvec(const char* variant, const uint8_t* w,
                        const uint8_t* x_blocks, const float* x_f32, uint64_t n,
                        uint64_t rows, uint64_t cols, uint32_t threads,
                        float* y, wp_answer* answer);
void ReferenceQ80Validate(wp_slice x, uint64_t n, uint64_t rows,
                          wp_answer* answer);
void ReferenceQ81Validate(wp_slice x, uint64_t n, uint64_t rows,
                          wp_answer* answer);
void ReferenceF16FromF32(const char* variant, const float* x, uint64_t count,
                         uint16_t* y, wp_answer* answer);
void ReferenceF16ToF32(const char* variant, const uint16_t* x, uint64_t count,
                       float* y, wp_answer* answer);

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_REFERENCE_OPS_H_
