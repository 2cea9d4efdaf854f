#include "impls/cpu/q8_0_cpu.h"

#include "impls/cpu/q8_0.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace weightproof::impls {

const char* MissingForAvx2() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) return "this processor has no AVX2";
  if (!__builtin_cpu_supports("f16c")) return "this processor has no F16C";
  return nullptr;
#else
  return "needs an x86-64 processor";
#endif
}

const char* MissingForAvx512() {
#if defined(__x86_64__)
  if (const char* missing = MissingForAvx2()) return missing;
  if (!__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512bw")) {
    return "this processor has no AVX-512 VL and BW";
  }
  if (!__builtin_cpu_supports("avx512vnni")) {
    return "this processor has no AVX-512 VNNI";
  }
  return nullptr;
#else
  return "needs an x86-64 processor";
#endif
}

const char* MissingForNeon() {
#if defined(__aarch64__) && defined(__linux__)
  constexpr unsigned long kDotProduct = 1ul << 20;  // HWCAP_ASIMDDP
  if ((getauxval(AT_HWCAP) & kDotProduct) != 0) return nullptr;
  return "this processor has no dot product instructions";
#elif defined(__ARM_FEATURE_DOTPROD)
  return nullptr;
#else
  return "needs an AArch64 processor";
#endif
}

const Q80Kernels& BestQ80Kernels() {
  if (MissingForAvx512() == nullptr) return Q80Avx512Kernels();
  if (MissingForAvx2() == nullptr) return Q80Avx2Kernels();
  if (MissingForNeon() == nullptr) return Q80NeonKernels();
  return Q80ScalarKernels();
}

}  // namespace weightproof::impls
