// Buffers of numeric vectors.
#ifndef WEIGHTPROOF_CONFORMANCE_NUMERIC_H_
#define WEIGHTPROOF_CONFORMANCE_NUMERIC_H_

#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace weightproof::conformance {

// A buffer as a vector writes it, as bytes:
//   a chunk list [{"hex":"003c"}, {"repeat":"0000803f","n":31}, {"zero":8}]
//   an answer's {"hex":"003c.."}
//   {"gen":{"seed":1,"draw":"U","blocks":4096}}, see reference/q8_0/generator.h
// The error says what is malformed. At most 512 MiB.
std::expected<std::vector<std::uint8_t>, std::string> ExpandBuffer(
    const nlohmann::json& buffer);

// Lower-case hex.
std::string ToHex(std::span<const std::uint8_t> bytes);
std::expected<std::vector<std::uint8_t>, std::string> FromHex(
    std::string_view hex);
// SHA-256 in lower-case hex.
std::string Sha256Hex(std::span<const std::uint8_t> bytes);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_NUMERIC_H_
