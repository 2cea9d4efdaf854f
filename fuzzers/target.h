// Fuzz targets: what every engine needs to know of a format, and nothing of
// any engine.
//
// Each format is one folder with a targets.cc that defines its list; the build
// collects the folders (CMakeLists.txt). Everything else, the engines' glue,
// the replay of corpora, the command line, takes targets from here.
#ifndef WEIGHTPROOF_FUZZERS_TARGET_H_
#define WEIGHTPROOF_FUZZERS_TARGET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzers/entropy.h"
#include "fuzzers/finding.h"
#include "impls/abi.h"

namespace weightproof::conformance {
struct Vector;
}

namespace weightproof::fuzzers {

// Whom an oracle compares. Any may be a table opened from a shared object.
struct Subjects {
  const wp_implementation* trusted = nullptr;
  std::vector<const wp_implementation*> tested;
};

// What one input showed.
struct Execution {
  std::optional<Finding> finding;
  bool accepted = false;
  // Where the trusted implementation refused: the stage of its rule ("magic",
  // "kv", ...); empty if it accepted. Lives as long as the process.
  std::string_view stage;
  // The rule of that refusal; empty if it accepted or gave none.
  std::string_view rule;
  // Hashes of what was seen (verdict and rule, policies, kinds of fields, ...);
  // 0 is none. An engine without instrumentation keeps inputs that show a new
  // one.
  std::array<std::uint64_t, 8> features{};
  // A documented deviation was met under this rule; it is counted, and is no
  // finding.
  std::string_view known_rule;
};

// How thoroughly an oracle asks. kSampled leaves expensive questions to a
// fixed share of inputs, chosen by the input's bytes; kAll asks each.
enum class Depth : std::uint8_t { kSampled, kAll };

struct Target {
  std::string_view name;        // "gguf_diff"
  std::string_view format;      // "gguf": the folder
  std::string_view about;       // one line for people
  std::string_view extension;   // of a finding's file: "gguf", "entropy"
  std::size_t max_size = 4096;  // of an input that an engine makes
  // The implementations it compares unless told otherwise. Those that cannot
  // run on this machine are left out.
  Subjects (*subjects)() = nullptr;
  // Never throws; any bytes, the empty input included.
  Execution (*run)(const Subjects& subjects, ByteSpan input,
                   Depth depth) = nullptr;
  // A fresh input.
  Bytes (*generate)(Random& random) = nullptr;
  // An input like this one; at most max_size bytes; any bytes will do.
  Bytes (*mutate)(ByteSpan input, Random& random,
                  std::size_t max_size) = nullptr;
  // An input that has something of both.
  Bytes (*cross)(ByteSpan a, ByteSpan b, Random& random,
                 std::size_t max_size) = nullptr;
  // Targets whose inputs can be given to a driver as they are: the input as a
  // case for the judge, with the trusted answers (false if there are none),
  // and the rules that it is about, most telling first.
  bool (*as_vector)(ByteSpan input, conformance::Vector& out) = nullptr;
  std::vector<std::string> (*rules_of)(ByteSpan input) = nullptr;
};

// The targets of all formats, by name.
std::span<const Target> Targets();
// The target of this name, or null.
const Target* FindTarget(std::string_view name);

// ---- pieces for formats ----

// Mutation that knows nothing of a format: flips, boundary numbers, insertion,
// removal, repetition of bytes.
Bytes MutateBytes(ByteSpan input, Random& random, std::size_t max_size);
// The head of one and the tail of the other.
Bytes CrossBytes(ByteSpan a, ByteSpan b, Random& random, std::size_t max_size);
// Random bytes, mostly few.
Bytes GenerateBytes(Random& random);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_TARGET_H_
