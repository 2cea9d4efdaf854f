// Inputs of the numeric operations out of any bytes.
#ifndef WEIGHTPROOF_FUZZERS_Q8_0_GENERATOR_H_
#define WEIGHTPROOF_FUZZERS_Q8_0_GENERATOR_H_

#include <cstdint>

#include "fuzzers/entropy.h"

namespace weightproof::fuzzers {

enum class Q80Operation : std::uint8_t {
  kQuantize,
  kQuantizeQ81,
  kDequantize,
  kDot,
  kMatvecBlocks,
  kMatvecFloats,
  kValidate,
  kValidateQ81,
  kFromF32,
  kToF32,
};
inline constexpr int kQ80Operations = 10;

// One call. Buffers are little-endian images.
struct Q80Case {
  Q80Operation operation = Q80Operation::kQuantize;
  std::uint64_t n = 32;  // row length in elements; need not be a multiple of 32
  std::uint64_t rows = 1;
  std::uint64_t cols = 1;
  std::uint32_t threads = 1;
  Bytes w;  // weights: dot and matvec
  Bytes x;
  // Address of buffers modulo 64.
  std::uint8_t x_skew = 0, w_skew = 0, y_skew = 0;
};

// Total and deterministic. Floats are drawn from ties, powers of two,
// subnormals, extremes, runs, NaN and infinities; blocks from scales of all
// classes and codes that include -128.
Q80Case GenerateQ80(ByteSpan entropy);

// Images of count f32 values, Q8_0 blocks of 34 bytes, Q8_1 blocks of 36.
Bytes GenerateFloats(Entropy& entropy, std::uint64_t count);
Bytes GenerateQ80Blocks(Entropy& entropy, std::uint64_t blocks);
Bytes GenerateQ81Blocks(Entropy& entropy, std::uint64_t blocks);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_Q8_0_GENERATOR_H_
