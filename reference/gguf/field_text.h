// How field values read for people. Internal to the field visitor.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_FIELD_TEXT_H_
#define WEIGHTPROOF_REFERENCE_GGUF_FIELD_TEXT_H_

#include <cstdint>
#include <span>
#include <string>

namespace weightproof::gguf {

// "\"general.alignment\""; escapes for quotes, control characters and bytes
// that are not UTF-8; cut after 64 bytes.
std::string QuotedText(std::span<const std::uint8_t> text);

// "7", "-1", "true", "0x3fc00000 (1.5)"; bits: the value's own, zero-extended.
std::string ScalarText(std::uint32_t value_type, std::uint64_t bits);

// "u32", "13 (unknown)".
std::string ValueTypeText(std::uint64_t id);
// "F32", "4 (withdrawn)", "43 (unknown)".
std::string TensorTypeText(std::uint64_t id);

// The number in bits as 64 bits: sign-extended for signed integer types.
std::uint64_t ExtendScalar(std::uint32_t value_type, std::uint64_t bits);

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_FIELD_TEXT_H_
