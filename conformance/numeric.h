// Buffers and answers of numeric vectors.
#ifndef WEIGHTPROOF_CONFORMANCE_NUMERIC_H_
#define WEIGHTPROOF_CONFORMANCE_NUMERIC_H_

#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/vector.h"

namespace weightproof::conformance {

// A buffer as a vector writes it, as bytes:
//   a chunk list [{"hex":"003c"}, {"repeat":"0000803f","n":31}, {"zero":8}]
//   an answer's {"hex":"003c.."}
//   {"gen":{"seed":1,"draw":"U","blocks":4096}}, see reference/q8_0/generator.h
// The error says what is malformed. At most 512 MiB.
std::expected<std::vector<std::uint8_t>, std::string> ExpandBuffer(
    const Json& buffer);

// Lower-case hex, and back.
std::string ToHex(std::span<const std::uint8_t> bytes);
std::expected<std::vector<std::uint8_t>, std::string> FromHex(
    std::string_view hex);
// SHA-256 in lower-case hex.
std::string Sha256Hex(std::span<const std::uint8_t> bytes);

// An output with every NaN replaced by one: f32 outputs by 7fc00000, f16
// outputs and the halves of blocks by 7e00. Outputs are compared, and hashed
// for y_sha256, in this form. operation: "q8_0.quantize", ...
std::vector<std::uint8_t> CanonicalOutput(std::string_view operation,
                                          std::span<const std::uint8_t> y);

// A copy of a q8_0 vector whose expect and variants are computed by the
// reference from its operation, rule and request; what was there is dropped.
//
// expect.spec.answer holds y, or y_sha256 for outputs over 64 KiB. Besides:
// "isum" per block (dot), "exact_times_2p48" as decimal text (dot; a list for
// matvec; absent where a scale is not finite), and for validate "canonical"
// and "finding" {rule, block, offset, value}. Only y, y_sha256 and isum are
// compared with an implementation's answer.
//
// The cells of ggml and candle are the registry's for the rule, unless spec
// itself leaves the rule's cell (an accepted twin of a rejecting rule): then
// all profiles are as spec is.
std::expected<Vector, std::string> WithExpectations(const Vector& vector);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_NUMERIC_H_
