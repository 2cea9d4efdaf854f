// binary32 <-> binary16 by integer arithmetic on bit patterns. No hardware
// conversion, no floating-point operation: the environment cannot matter.
#ifndef WEIGHTPROOF_REFERENCE_Q8_0_F16_H_
#define WEIGHTPROOF_REFERENCE_Q8_0_F16_H_

#include <cstdint>

namespace weightproof::q8_0 {

// The f16 pattern nearest to an f32 pattern, ties to even; subnormals kept;
// 65520 and more become infinity; a NaN becomes 7E00 with its sign.
// Rules f16.convert.rne, .overflow, .subnormal, .zero, .inf, .nan.
std::uint16_t F16FromF32(std::uint32_t f32);

// The same, but what does not fit is cut off (toward zero): the variant
// `rtz`, a defect. Finite values from 65536 become infinity, as in the
// converters that have it.
std::uint16_t F16FromF32Truncated(std::uint32_t f32);

// The f32 pattern with the value of an f16 pattern: exact. A NaN keeps its
// sign and payload. Rule f16.convert.exact.
std::uint32_t F32FromF16(std::uint16_t f16);

// A NaN is a class: its sign and payload are compared by nobody.
bool IsNanF16(std::uint16_t f16);
bool IsNanF32(std::uint32_t f32);

// The value of an f16 pattern.
float ValueOfF16(std::uint16_t f16);

}  // namespace weightproof::q8_0

#endif  // WEIGHTPROOF_REFERENCE_Q8_0_F16_H_
