// The optimized GGUF reader: looks at a file in place and judges it by every
// rule of reference/gguf/rules.tsv that a parse can break.
//
// Written against the rules, not against the reference reader: the two share
// the registry's data and no code.
//
// Memory: at most 1 MiB + 16 bytes for each byte of header (all up to the data
// start), whatever the header declares. Time: linear in the header, n log n in
// tensors. No value is copied; a GgufView points into the caller's bytes.
#ifndef WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_H_
#define WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "impls/abi.h"
#include "impls/cpu/mutant_namespace.h"
#include "reference/rule.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {

enum class GgufProfile : std::uint8_t { kSpec, kGgml, kCandle };

struct GgufInput {
  // The first bytes of the file, or all of them.
  std::span<const std::uint8_t> prefix;
  std::uint64_t file_size = 0;  // >= prefix.size()
  std::uint64_t base = 0;       // the GGUF starts here in the file
  GgufProfile profile = GgufProfile::kSpec;
  // Judge gguf.kv.required.keys.
  bool require_keys = false;
};

// The first rule the file breaks under the profile.
struct GgufFinding {
  Cell verdict;  // kReject, kUnsupported or kLimit
  RuleIndex rule;
  std::uint64_t offset;  // absolute, in bytes
};

// The prefix ends inside the header: no verdict before the first `bytes` bytes
// of the file (more than the prefix, at most file_size) are there.
struct GgufNeedsMore {
  std::uint64_t bytes;
};

struct GgufKv {
  std::string_view key;
  std::uint32_t type;   // GGUF value type
  std::uint64_t value;  // absolute offset of the value
};

struct GgufTensor {
  std::string_view name;
  std::uint32_t n_dims;  // 0..4
  std::uint32_t type;    // ggml type
  std::uint64_t dims;    // absolute offset of dims[0]
  std::uint64_t offset;  // relative to the data start
  std::uint64_t size;    // bytes without padding
};

// An accepted file. Points into the prefix.
struct GgufView {
  std::span<const std::uint8_t> prefix;
  std::uint32_t version = 0;
  bool big_endian = false;
  std::uint64_t alignment = 32;
  std::uint64_t data_start = 0;     // absolute
  std::vector<GgufKv> kvs;          // file order, repeated keys too
  std::vector<GgufTensor> tensors;  // file order
  // Rules met under policy, each once, in the order in which they were met.
  std::vector<RuleIndex> policies;
};

using GgufResult = std::variant<GgufView, GgufFinding, GgufNeedsMore>;

// Reads and judges a file. Order of checks: that of the specification, each
// field as soon as it is read. Padding bytes that lie behind the prefix in the
// data section are not judged.
GgufResult ParseGguf(const GgufInput& input);

// dims[index] of a tensor of this view, in file order; index < n_dims.
std::uint64_t GgufDim(const GgufView& view, const GgufTensor& tensor,
                      std::uint32_t index);

// The reader behind the C ABI: gguf_parse, gguf_tensor, gguf_get. Takes the
// profile from the request.
const wp_implementation* GgufViewImplementation();

}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_H_
