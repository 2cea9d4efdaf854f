// The format's own mutation as a custom mutator of AFL++
// (AFL_CUSTOM_MUTATOR_LIBRARY); the functions are AFL++'s interface.
#include <cstddef>
#include <cstdint>

#include "fuzzers/target.h"

namespace {

using namespace weightproof::fuzzers;

struct State {
  Random random;
  Bytes out;
};

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void* afl_custom_init(void* /*afl*/, unsigned int seed) {
  return new State{Random(seed), {}};
}

EXPORT std::size_t afl_custom_fuzz(void* data, std::uint8_t* buffer,
                                   std::size_t size, std::uint8_t** out,
                                   std::uint8_t* add, std::size_t add_size,
                                   std::size_t max_size) {
  static const Target& target = *FindTarget(WEIGHTPROOF_FUZZ_TARGET);
  auto& state = *static_cast<State*>(data);
  const bool cross = add != nullptr && add_size > 0 && state.random.OneIn(8);
  state.out = cross ? target.cross({buffer, size}, {add, add_size},
                                   state.random, max_size)
                    : target.mutate({buffer, size}, state.random, max_size);
  *out = state.out.data();
  return state.out.size();
}

EXPORT void afl_custom_deinit(void* data) { delete static_cast<State*>(data); }
