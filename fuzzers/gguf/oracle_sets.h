// What readers say of the data of a file, and of several files as one model.
#ifndef WEIGHTPROOF_FUZZERS_GGUF_ORACLE_SETS_H_
#define WEIGHTPROOF_FUZZERS_GGUF_ORACLE_SETS_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuzzers/entropy.h"
#include "fuzzers/finding.h"
#include "impls/abi.h"

namespace weightproof::fuzzers {

// gguf_check under a profile: verdict, rule, offset, every finding.
std::optional<Finding> CompareGgufCheck(const wp_implementation& trusted,
                                        const wp_implementation& tested,
                                        ByteSpan file, const char* profile);

struct SetFile {
  std::string name;  // without folders
  Bytes bytes;
};

// One to three copies of a file with keys, and names, that mostly make a split
// set of them. Total and deterministic.
std::vector<SetFile> MakeGgufSet(ByteSpan file, Random& random);

// gguf_open_set under a profile: verdict, rule, offset and file of a refusal,
// the contents of every file. Nothing if a reader opens no sets.
std::optional<Finding> CompareGgufSet(const wp_implementation& trusted,
                                      const wp_implementation& tested,
                                      std::span<const SetFile> files,
                                      const char* profile);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GGUF_ORACLE_SETS_H_
