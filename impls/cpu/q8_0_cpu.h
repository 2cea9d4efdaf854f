// What this machine lacks to run a set of kernels: a sentence, or null.
#ifndef WEIGHTPROOF_IMPLS_CPU_Q8_0_CPU_H_
#define WEIGHTPROOF_IMPLS_CPU_Q8_0_CPU_H_

namespace weightproof::impls {

const char* MissingForAvx2();    // AVX2 and F16C
const char* MissingForAvx512();  // these, AVX-512 F, BW, VL and VNNI
const char* MissingForNeon();    // AArch64 with dot product instructions

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_Q8_0_CPU_H_
