// Where the scales of each quantized type lie in a block, and how they are
// written. Source: the block structures of ggml (ggml-common.h).
#ifndef WEIGHTPROOF_REFERENCE_GGUF_SCALES_H_
#define WEIGHTPROOF_REFERENCE_GGUF_SCALES_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace weightproof::gguf {

enum class ScaleEncoding : std::uint8_t {
  kF16,     // IEEE half
  kF32,     // IEEE single
  kSpread,  // IEEE half whose nibbles, lowest first, are the high nibbles of
            // the bytes offset, offset + 2, + 4, + 6
  kE8M0,    // a power of two; FF is NaN
  kUe4m3,   // 4 bits of exponent, 3 of mantissa; low seven bits 7F is NaN
};

struct ScaleField {
  std::uint32_t type;     // tensor type
  std::string_view name;  // of the field: "d", "dmin", "m", "s", "e"
  std::uint32_t offset;   // of its first byte in the block
  ScaleEncoding encoding;
};

// All of them, by type; those of one type by offset. Types without an entry
// have no scales.
std::span<const ScaleField> ScaleFields();

enum class ScaleClass : std::uint8_t { kFinite, kInfinite, kNan };

// What a scale is. block is the whole block; big_endian: its 16- and 32-bit
// words are reversed.
ScaleClass Classify(const ScaleField& field,
                    std::span<const std::uint8_t> block, bool big_endian);

// The first byte of the scale in the block.
std::uint64_t ScaleOffset(const ScaleField& field, bool big_endian);

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_SCALES_H_
