// fuzz_NAME without a foreign engine: see fuzzers/program.h.
#include <cstdio>

#include "fuzzers/program.h"

int main(int argc, char** argv) {
  const auto* target =
      weightproof::fuzzers::FindTarget(WEIGHTPROOF_FUZZ_TARGET);
  if (target == nullptr) {
    std::fprintf(stderr, "no target %s\n", WEIGHTPROOF_FUZZ_TARGET);
    return 5;
  }
  return weightproof::fuzzers::TargetMain(*target, argc, argv);
}
