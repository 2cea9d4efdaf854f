// Profiles: what a family of readers says about each rule.
//
// A profile is one verdict column of the registry plus the values that a
// verdict alone does not fix. The reader takes a profile and knows nothing
// else about who asks.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_PROFILE_H_
#define WEIGHTPROOF_REFERENCE_GGUF_PROFILE_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "reference/gguf/rules.h"
#include "reference/rule.h"

namespace weightproof::gguf {

// Where the data start of a GGUF that begins at a non-zero base is aligned.
enum class BaseMeaning : std::uint8_t {
  kRelative,  // the distance from the base is a multiple of the alignment
  kAbsolute,  // the position in the file is
};

struct Profile {
  std::string_view name;     // "spec", "ggml", "candle"
  std::string_view version;  // what it was pinned to

  // Verdict per rule, indexed by rule - rules::kFirst.
  std::array<Cell, rules::kEnd - rules::kFirst> verdict;

  // Alignment of a file that states none.
  std::uint64_t default_alignment = 32;
  // Alignment used where the profile accepts a general.alignment whose type it
  // cannot use: 64-bit, negative, float, bool, string or array.
  std::uint64_t fallback_alignment = 32;
  // Of accepted duplicate keys the last one is the value (else the first).
  bool last_duplicate_wins = true;
  BaseMeaning base_meaning = BaseMeaning::kAbsolute;
  // Opens several shards as one model; otherwise every set is unsupported.
  bool opens_sets = true;

  // The verdict for a gguf rule.
  Cell Of(RuleIndex rule) const;
};

// spec, ggml, candle, in this order.
std::span<const Profile> Profiles();

const Profile& SpecProfile();
const Profile& GgmlProfile();
const Profile& CandleProfile();

// The profile of this name, or null.
const Profile* FindProfile(std::string_view name);

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_PROFILE_H_
