// What an oracle has to say against an implementation.
#ifndef WEIGHTPROOF_FUZZERS_FINDING_H_
#define WEIGHTPROOF_FUZZERS_FINDING_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace weightproof::fuzzers {

// In the order in which oracles ask; kCrash and kHang are told by whoever
// watches the process.
enum class FindingKind : std::uint8_t {
  kCrash,
  kHang,
  kVerdict,         // another verdict than the trusted implementation
  kRule,            // the same verdict for another rule
  kOffset,          // the same rule at another byte
  kDump,            // accepted, but read differently
  kOutput,          // other output bits
  kContract,        // an answer that the ABI does not allow
  kNondeterminism,  // another answer when asked again
  kOverwrite,       // wrote outside its output, or left part of it unwritten
  kAllocation,      // more memory than the bound allows
  kRoundTrip,       // assembling what was disassembled gives other bytes, ...
  kGenerator,       // the generator made a file that is not valid
};

// "crash", "verdict", "dump", ...
std::string_view ToString(FindingKind kind);
// False for another word.
bool FromString(std::string_view text, FindingKind& kind);

struct Finding {
  FindingKind kind = FindingKind::kCrash;
  std::string implementation;  // whose answer it is
  // The rule the trusted implementation applied, or "" if it accepted.
  std::string rule;
  // What differs, in words without anything that varies from input to input:
  // "accept instead of reject", "kv[].value". Findings with equal kind, rule
  // and behaviour are one.
  std::string behaviour;
  std::string description;  // for people: both answers
  bool operator==(const Finding&) const = default;
};

// kind, implementation, rule and behaviour in one line: equal for duplicates.
std::string BucketOf(const Finding& finding);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_FINDING_H_
