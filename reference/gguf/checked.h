// Arithmetic on positions and sizes that cannot wrap: nothing is the answer
// where 64 bits do not hold the result.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_CHECKED_H_
#define WEIGHTPROOF_REFERENCE_GGUF_CHECKED_H_

#include <cstdint>
#include <limits>
#include <optional>

namespace weightproof::gguf {

inline constexpr std::uint64_t kU64Max =
    std::numeric_limits<std::uint64_t>::max();

inline std::optional<std::uint64_t> CheckedAdd(std::uint64_t a,
                                               std::uint64_t b) {
  if (a > kU64Max - b) return std::nullopt;
  return a + b;
}

inline std::optional<std::uint64_t> CheckedMultiply(std::uint64_t a,
                                                    std::uint64_t b) {
  if (b != 0 && a > kU64Max / b) return std::nullopt;
  return a * b;
}

// The least multiple of alignment (not 0) that is not below x.
inline std::optional<std::uint64_t> AlignUp(std::uint64_t x,
                                            std::uint64_t alignment) {
  const std::uint64_t past = x % alignment;
  return past == 0 ? x : CheckedAdd(x, alignment - past);
}

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_CHECKED_H_
