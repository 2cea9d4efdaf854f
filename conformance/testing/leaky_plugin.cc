// As a library linked with value-changing optimisation: its start-up code lets
// the processor flush subnormals in the thread that loads it.
#include <cstdint>
#include <cstring>

#include "impls/abi.h"

namespace {

void Flush() {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
  std::uint64_t word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  __asm__ volatile("msr fpcr, %0" : : "r"(word | std::uint64_t{1} << 24));
#endif
}

__attribute__((constructor)) void AtLoad() { Flush(); }

// Halves of the smallest normal number: shows whether subnormals survive.
void Halve(const char*, const std::uint8_t*, std::uint64_t, std::uint64_t,
           float* y, wp_answer* answer) {
  const volatile float smallest = 1.17549435e-38f;
  const float half = smallest * 0.5f;
  for (int i = 0; i < 32; ++i) std::memcpy(y + i, &half, sizeof(half));
  answer->status = WP_STATUS_OK;
  answer->verdict = WP_ACCEPT;
}

const char* const kNone[] = {nullptr};
const char* const kVerdicts[] = {"accept", nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) const wp_implementation*
wp_implementation_open(const char*, char*, std::size_t) {
  static wp_implementation table = {};
  table.abi_version = WP_ABI_VERSION;
  table.name = "leaky";
  table.version = "1";
  table.language = "C++";
  table.verdicts = kVerdicts;
  table.dump_fields = kNone;
  table.variants = kNone;
  table.q8_0_dequantize = Halve;
  return &table;
}
