// Pieces of the GGUF oracle. Internal to this folder.
#ifndef WEIGHTPROOF_FUZZERS_GGUF_ORACLE_DIFFERENCE_H_
#define WEIGHTPROOF_FUZZERS_GGUF_ORACLE_DIFFERENCE_H_

#include <optional>
#include <string>

#include "fuzzers/gguf/oracle.h"

namespace weightproof::fuzzers {

// Where two recordings first differ, for people.
std::string DescribeLogDifference(const Bytes& expected, const Bytes& got);

// gguf_tensor of every tensor (and of one too many), gguf_get of every key (by
// its type, and by another) and gguf_check of a file that both readers accept;
// at most 16 tensors and keys. With a choice: of the one of each that it picks.
std::optional<Finding> CompareGgufParts(
    const wp_implementation& trusted, const wp_implementation& tested,
    ByteSpan file, std::optional<std::uint64_t> choice = std::nullopt);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GGUF_ORACLE_DIFFERENCE_H_
