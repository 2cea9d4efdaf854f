// modelvet's violations and the rule each stands for. A violation that covers
// several rules, or a cap of its own, names none.
#ifndef WEIGHTPROOF_IMPLS_DRIVERS_MODELVET_VIOLATIONS_H_
#define WEIGHTPROOF_IMPLS_DRIVERS_MODELVET_VIOLATIONS_H_

#include <cstdint>

namespace weightproof::drivers::modelvet {

struct Violation {
  std::uint32_t number;
  const char* name;
  const char* rule;  // or null
};

// clang-format off
inline constexpr Violation kViolations[] = {
    {1, "truncated", nullptr},
    {100, "magic", "gguf.header.magic.wrong"},
    {101, "version unsupported", nullptr},
    {102, "version legacy", "gguf.header.version.one"},
    {103, "version endian", "gguf.header.version.big_endian"},
    {110, "tensor count range", nullptr},
    {111, "kv count range", nullptr},
    {200, "key empty", "gguf.kv.key.empty"},
    {201, "key length cap", nullptr},
    {202, "key utf8", "gguf.kv.key.utf8_invalid"},
    {203, "key duplicate", "gguf.kv.key.duplicate"},
    {204, "kv type range", "gguf.kv.type.unknown"},
    {205, "kv array type range", nullptr},
    {206, "kv array nested", nullptr},
    {207, "kv array elements cap", nullptr},
    {208, "kv bool byte", nullptr},
    {209, "kv total bytes cap", nullptr},
    {210, "string length cap", nullptr},
    {211, "string utf8", "gguf.kv.string.utf8_invalid"},
    {220, "alignment type", nullptr},
    {221, "alignment value", nullptr},
    {300, "name length", nullptr},
    {301, "name utf8", "gguf.tensor.name.utf8_invalid"},
    {302, "name duplicate", "gguf.tensor.name.duplicate"},
    {303, "tensor dims cap", "gguf.tensor.n_dims.too_many"},
    {304, "tensor dimension range", nullptr},
    {305, "tensor elements overflow", "gguf.tensor.elements.overflow"},
    {306, "tensor type range", nullptr},
    {307, "tensor type unsupported", "gguf.tensor.type.withdrawn"},
    {308, "tensor block divisibility", "gguf.tensor.row.block_multiple"},
    {309, "tensor offset mismatch", nullptr},
    {310, "tensor size overflow", nullptr},
    {311, "tensor data extent", nullptr},
    {400, "trailing bytes", "gguf.data.tail.trailing_bytes"},
};
// clang-format on

// Null for a number that is not listed.
constexpr const Violation* FindViolation(std::uint32_t number) {
  for (const Violation& violation : kViolations) {
    if (violation.number == number) return &violation;
  }
  return nullptr;
}

}  // namespace weightproof::drivers::modelvet

#endif  // WEIGHTPROOF_IMPLS_DRIVERS_MODELVET_VIOLATIONS_H_
