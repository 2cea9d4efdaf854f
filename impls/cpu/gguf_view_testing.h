// Helpers of the GGUF tests: files in a compact notation, and a run of an
// implementation that keeps every event.
#ifndef WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_TESTING_H_
#define WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_TESTING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/abi.h"

namespace weightproof::impls::testing {

inline constexpr const char* kProfiles[] = {"spec", "ggml", "candle"};

// ---- bytes; little-endian unless said ----
std::string U8(std::uint64_t v);
std::string U16(std::uint64_t v);
std::string U32(std::uint64_t v);
std::string U64(std::uint64_t v);
std::string F32(float v);
std::string Z(std::uint64_t n);  // n bytes 00
std::string Times(std::uint64_t n, std::string_view unit);
std::string S(std::string_view text);  // length and bytes
std::string H(std::uint32_t version, std::uint64_t tensors, std::uint64_t kvs);
std::string Kv(std::string_view key, std::uint32_t type,
               std::string_view payload);
std::string A(std::uint32_t element, std::uint64_t n);
std::string Ti(std::string_view name, const std::vector<std::uint64_t>& dims,
               std::uint32_t type, std::uint64_t offset);
std::string Pad(std::string bytes, std::uint64_t alignment = 32);

// A file in any version and byte order, field by field.
class Writer {
 public:
  Writer(std::uint32_t version, bool big) : version_(version), big_(big) {}
  void Int(std::uint64_t value, int width);
  void Word(std::uint64_t value) { Int(value, version_ == 1 ? 4 : 8); }
  void Text(std::string_view text);
  void Raw(std::string_view bytes) { bytes_ += bytes; }
  void Header(std::uint64_t tensors, std::uint64_t kvs);
  void Key(std::string_view key, std::uint32_t type);
  void Array(std::uint32_t element, std::uint64_t n);
  void Tensor(std::string_view name, const std::vector<std::uint64_t>& dims,
              std::uint32_t type, std::uint64_t offset);
  void Align(std::uint64_t alignment) { bytes_ = Pad(bytes_, alignment); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::uint32_t version_;
  bool big_;
  std::string bytes_;
};

// A valid file (under spec) with every value type, arrays of all kinds, nested
// arrays, and several tensors with padding. In version 1 and big-endian too.
std::string RichFile(std::uint32_t version = 3, bool big = false);

// ---- runs ----
struct Outcome {
  std::int32_t status = -1;
  std::int32_t verdict = -1;
  std::string rule;
  std::uint64_t offset = WP_NO_OFFSET;
  std::string detail;
  std::string events;  // one line each, scalars of an array in hex on one line
  std::vector<std::string> policies;
  bool operator==(const Outcome&) const = default;
};

struct RunOptions {
  const char* profile = "spec";
  std::optional<std::uint64_t> file_size;  // default: the bytes given
  std::uint64_t base = 0;
  bool require_keys = false;
};
Outcome Parse(const wp_implementation& reader, std::string_view bytes,
              const RunOptions& options = {});

// One line: verdict, rule, offset, policies.
std::string Summary(const Outcome& outcome);

// ---- cases ----
// What the three profiles say of a file: one letter of A, R, L, U, P each. For
// P the file is accepted and the rule listed. `also` names the rule and offset
// of a profile (index) that finds another rule first.
struct Also {
  std::string rule;
  std::uint64_t offset;
};
struct Case {
  std::string rule;  // without "gguf."
  std::string sgc;
  std::uint64_t offset;
  std::string bytes;
  std::map<int, Also> also = {};
  std::optional<std::uint64_t> file_size = std::nullopt;
};

// Every rule that a parse can break; and the minimal inputs of public reports.
std::vector<Case> HeaderCases();
std::vector<Case> ValueCases();
std::vector<Case> TensorCases();
std::vector<Case> AllCases();

}  // namespace weightproof::impls::testing

#endif  // WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_TESTING_H_
