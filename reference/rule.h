// The rule registry: every statement Weightproof makes about a file or a
// computation, with a permanent id.
//
// The registry is data (reference/<format>/rules.tsv); a generator turns each
// file into a header of constants, reference/<format>/rules.h in the build
// tree, and into the table behind Rules(). Built-in implementations may use
// this data and share nothing else with the reference.
#ifndef WEIGHTPROOF_REFERENCE_RULE_H_
#define WEIGHTPROOF_REFERENCE_RULE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weightproof {

// What a profile says about inputs that meet a rule. kPolicy admits accept and
// reject; kBound is judged by an error bound; kNotApplicable makes no claim.
enum class Cell : std::uint8_t {
  kAccept,
  kReject,
  kUnsupported,
  kLimit,
  kPolicy,
  kBound,
  kNotApplicable,
};

// What a finding means to somebody who holds the file. kNone: nothing is wrong
// (rules that demand acceptance). kInconclusive: not judged (unsupported, over
// a limit). kAmbiguous: readers may differ. kNonconforming: breaks the text.
// kHazard: some real reader crashes, over-reads or exhausts memory.
enum class Severity : std::uint8_t {
  kNone,
  kInconclusive,
  kAmbiguous,
  kNonconforming,
  kHazard,
};

// Position of a rule in Rules(). Stable within one build only; ids are what
// lives forever.
using RuleIndex = std::uint16_t;
inline constexpr RuleIndex kNoRule = 0xffff;

struct Rule {
  std::string_view id;         // "gguf.align.value.zero"
  std::string_view format;     // "gguf", "q8_0": the folder of its registry
  std::string_view stage;      // "kv", "geometry", ...
  Severity severity;
  Cell spec;                   // verdict of each profile
  Cell ggml;
  Cell candle;
  std::string_view points_at;  // what the byte offset of a finding names
  std::string_view fields;     // dump fields the rule is about, comma-separated
  std::string_view judged_by;  // "parse", or the harness test that judges it
  std::string_view statement;  // one sentence
  std::string_view notes;      // what breaks, bug class, known deviations
  std::string_view sources;    // semicolon-separated
};

// All rules, format by format, each in registry order.
std::span<const Rule> Rules();

// The index of the rule with this id, or nothing.
std::optional<RuleIndex> FindRule(std::string_view id);

// "accept", "reject", "unsupported", "limit", "policy", "bound", "n/a".
std::string_view ToString(Cell cell);
// "none", "inconclusive", "ambiguous", "nonconforming", "hazard".
std::string_view ToString(Severity severity);

}  // namespace weightproof

#endif  // WEIGHTPROOF_REFERENCE_RULE_H_
