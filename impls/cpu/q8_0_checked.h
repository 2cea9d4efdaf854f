// Test support: one body that checks every numeric operation of an
// implementation of the C ABI under guard, in the way of checkasm: inputs by
// pattern and at random, at every alignment and between pages that fault,
// outputs poisoned twice with different values, registers and floating-point
// environment watched (checked_call.h).
#ifndef WEIGHTPROOF_IMPLS_CPU_Q8_0_CHECKED_H_
#define WEIGHTPROOF_IMPLS_CPU_Q8_0_CHECKED_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "impls/abi.h"

namespace weightproof::impls {

struct CheckReport {
  std::uint64_t calls = 0;
  // "q8_0.dot, 9 blocks, pattern runs, offset 17: y differs at byte 0", the
  // first of each operation.
  std::vector<std::string> problems;
};

// Compares all operations that both offer with reference.
CheckReport CheckUnderGuard(const wp_implementation& implementation,
                            const wp_implementation& reference,
                            std::mt19937_64& random);

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_Q8_0_CHECKED_H_
