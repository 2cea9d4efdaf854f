// What may be wrong with the bytes of a key, a name or a string: each function
// finds the first offending byte, or nothing.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_TEXT_H_
#define WEIGHTPROOF_REFERENCE_GGUF_TEXT_H_

#include <cstdint>
#include <optional>
#include <span>

namespace weightproof::gguf {

using Text = std::span<const std::uint8_t>;

// First byte of the first sequence that is not well-formed UTF-8 (Unicode,
// table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
std::optional<std::uint64_t> FirstInvalidUtf8(Text text);

std::optional<std::uint64_t> FirstNul(Text text);

// First byte above 7F.
std::optional<std::uint64_t> FirstNonAscii(Text text);

// First space (20) or control character (01..1F, 7F). NUL has rules of its
// own.
std::optional<std::uint64_t> FirstSpaceOrControl(Text text);

// First byte that breaks segment ("." segment)*, segment = [a-z0-9_]+: a byte
// of neither kind, or the dot that closes an empty segment; for a text that
// ends in a dot, that dot.
std::optional<std::uint64_t> FirstBreakOfKeyGrammar(Text text);

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_TEXT_H_
