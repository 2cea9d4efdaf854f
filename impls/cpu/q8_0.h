// The numeric implementations: one kernel table for each instruction set,
// all bit-equal to the specification (reference/q8_0/SPEC.md), each offered
// behind the C ABI under its own name.
#ifndef WEIGHTPROOF_IMPLS_CPU_Q8_0_H_
#define WEIGHTPROOF_IMPLS_CPU_Q8_0_H_

#include <cstdint>

#include "impls/abi.h"

namespace weightproof::impls {

// The kernels of one instruction set. Pointers are to byte images that need no
// alignment; a block is 34 bytes (Q8_0) or 32 little-endian f32. Nothing
// outside the blocks named is read or written. No kernel throws, allocates or
// changes the floating-point environment.
struct Q80Kernels {
  const char* name;  // "q8_0_avx2"
  // Null if this machine can run the kernels, else what it lacks. The other
  // members are null in a build for another processor.
  const char* (*missing)();

  // False if a value is NaN or infinite; then y is unspecified within its
  // blocks.
  bool (*quantize)(const std::uint8_t* x, std::uint64_t blocks,
                   std::uint8_t* y);
  void (*dequantize)(const std::uint8_t* x, std::uint64_t blocks,
                     std::uint8_t* y);
  // isum: an image of blocks int32, or null.
  float (*dot)(const std::uint8_t* w, const std::uint8_t* x,
               std::uint64_t blocks, std::uint8_t* isum);

  // A column of x is prepared once and then multiplied with many rows.
  std::uint64_t (*prepared_bytes)(std::uint64_t blocks);
  void (*prepare)(const std::uint8_t* x, std::uint64_t blocks,
                  std::uint8_t* prepared);
  // y: an image of rows floats.
  void (*rows)(const std::uint8_t* w, const std::uint8_t* prepared,
               std::uint64_t blocks, std::uint64_t rows, std::uint8_t* y);

  void (*f16_from_f32)(const std::uint8_t* x, std::uint64_t count,
                       std::uint8_t* y);
  void (*f16_to_f32)(const std::uint8_t* x, std::uint64_t count,
                     std::uint8_t* y);
};

const Q80Kernels& Q80ScalarKernels();
const Q80Kernels& Q80Avx2Kernels();
const Q80Kernels& Q80Avx512Kernels();  // AVX-512 VL, BW, VNNI in 256 bits
const Q80Kernels& Q80NeonKernels();    // with dot product instructions

// The best kernels that this machine runs.
const Q80Kernels& BestQ80Kernels();

// Behind the C ABI: "q8_0_scalar", "q8_0_avx2", "q8_0_avx512", "q8_0_neon".
// All exist in every build; what the machine lacks answers
// WP_STATUS_NOT_RUN.
const wp_implementation* Q80ScalarImplementation();
const wp_implementation* Q80Avx2Implementation();
const wp_implementation* Q80Avx512Implementation();
const wp_implementation* Q80NeonImplementation();

// Shared by all: blocks of Q8_1 from f32, and the data check.
bool QuantizeQ81Blocks(const std::uint8_t* x, std::uint64_t blocks,
                       std::uint8_t* y);
void ValidateQ80Data(wp_slice x, std::uint64_t n, std::uint64_t rows,
                     bool is_q8_1, wp_answer* answer);

// Software conversion, and one value of a byte image.
std::uint16_t HalfFromFloat(float value);
float FloatFromHalf(std::uint16_t half);

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_Q8_0_H_
