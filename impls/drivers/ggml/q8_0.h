// Q8_0 operations of ggml.
#ifndef WEIGHTPROOF_IMPLS_DRIVERS_GGML_Q8_0_H_
#define WEIGHTPROOF_IMPLS_DRIVERS_GGML_Q8_0_H_

#include <string>

#include "impls/abi.h"
#include "impls/drivers/ggml/api.h"

namespace weightproof::drivers::ggml {

// ggml/ref: the functions that write files: quantize_row_q8_0_ref and its
// kin in the base library.
const wp_implementation* RefImplementation(const Api& api);

// ggml/cpu-NAME: what one prebuilt CPU library computes with. A library that
// this machine cannot run (score 0) answers every operation with not-run;
// nothing of it but its score is called.
const wp_implementation* CpuImplementation(const Api& api, const CpuApi& cpu,
                                           const std::string& name);

}  // namespace weightproof::drivers::ggml

#endif  // WEIGHTPROOF_IMPLS_DRIVERS_GGML_Q8_0_H_
