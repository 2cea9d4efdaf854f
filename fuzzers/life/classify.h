// What a GGUF file is a case of: what the trusted reader says of it.
#ifndef WEIGHTPROOF_FUZZERS_LIFE_CLASSIFY_H_
#define WEIGHTPROOF_FUZZERS_LIFE_CLASSIFY_H_

#include <array>
#include <cstdint>
#include <string>

#include "fuzzers/entropy.h"

namespace weightproof::fuzzers {

struct ProfileClass {
  std::string verdict;  // accept, reject, unsupported, limit
  std::string rule;     // of a refusal
  std::uint64_t offset = 0;
};

// By profile: spec, ggml, candle. Files are of one class if verdicts and rules
// are the same.
struct FileClass {
  std::array<ProfileClass, 3> profiles;

  bool Accepted() const { return profiles[0].verdict == "accept"; }
  // "reject gguf.kv.key.empty", "accept": under spec.
  std::string ToString() const;
};

inline constexpr std::array<const char*, 3> kClassProfiles = {"spec", "ggml",
                                                              "candle"};

FileClass ClassOf(ByteSpan file);
bool SameClass(const FileClass& a, const FileClass& b);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_LIFE_CLASSIFY_H_
