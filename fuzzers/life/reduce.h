// Making a GGUF file small that shows something.
#ifndef WEIGHTPROOF_FUZZERS_LIFE_REDUCE_H_
#define WEIGHTPROOF_FUZZERS_LIFE_REDUCE_H_

#include <cstdint>
#include <functional>

#include "fuzzers/entropy.h"

namespace weightproof::fuzzers {

// A smaller file for which still(file) is true. Whole entries go first (kvs,
// tensors, then the tokens inside and behind them), with the counts, and where
// that does not do the lengths and the layout, put right; then bytes. Asks at
// most max_tries times; file itself must satisfy still. Deterministic.
Bytes ReduceGguf(ByteSpan file, const std::function<bool(ByteSpan)>& still,
                 std::uint64_t max_tries = 4000);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_LIFE_REDUCE_H_
