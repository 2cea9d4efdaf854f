// What the classifiers share.
#ifndef WEIGHTPROOF_CONFORMANCE_CLASSIFY_COMMON_H_
#define WEIGHTPROOF_CONFORMANCE_CLASSIFY_COMMON_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "conformance/classify.h"
#include "conformance/numeric_reference.h"
#include "reference/q8_0/quantize.h"

namespace weightproof::conformance {

// Whether got equals an expected output in canonical form, with NaN as a
// class.
bool SameOutput(std::string_view operation,
                std::span<const std::uint8_t> expected,
                std::span<const std::uint8_t> got);

// Whether all blocks of f32 are finite and have a d that is 0 or a normal f32:
// there amax rules, casts and subnormals cannot matter.
bool IsOrdinary(std::span<const std::uint8_t> x);

// Compares the answers of one operation with every named variant: total,
// matched, nearest, variant, first difference, leaves_spec and a verdict from
// these. quantizer: what an f32 x of matvec is quantized by. use: which
// vectors take part (default: all).
Arithmetic MatchNamed(std::string_view operation,
                      std::span<const NumericAnswer> answers,
                      const q8_0::Quantizer& quantizer = {},
                      const std::function<bool(const Vector&)>& use = nullptr);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_CLASSIFY_COMMON_H_
