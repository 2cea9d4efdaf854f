// Split sets: several files that make one model.
//
// Shard i of N is a complete GGUF of its own, named PREFIX-%05d-of-%05d.gguf
// with i + 1 and N. Keys: split.no (i, from 0), split.count (N),
// split.tensors.count (tensors of the whole set), by custom u16, u16, i32.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_SET_H_
#define WEIGHTPROOF_REFERENCE_GGUF_SET_H_

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/gguf/profile.h"
#include "reference/gguf/reader.h"

namespace weightproof::gguf {

// What the name of a shard says.
struct ShardName {
  std::string_view prefix;   // before -NNNNN-of-NNNNN.gguf
  std::uint64_t number = 0;  // from 1
  std::uint64_t count = 0;
};

// Nothing if the name, folders aside, is not that of a shard. Numbers have
// five digits or more.
std::optional<ShardName> ParseShardName(std::string_view name);

// One file of the set, in the order in which they are opened.
struct Shard {
  std::string_view name;
  const std::expected<File, Stop>* parsed = nullptr;
};

struct SetStop {
  std::size_t file = 0;  // whose fault it is: position in the list
  // rule is kNoRule with verdict kUnsupported where the profile opens no sets.
  Stop stop;
};

// Judges a set under the profile that its files were parsed with. A fault
// inside any shard refuses the set by that rule. Then, in this order: the first
// file; the type of the split keys and split.count 0, file by file; numbers out
// of range; names; counts that disagree; shards missing or present twice; the
// tensor count; alignments. Keys that are absent state nothing. Returns
// the set rules met whose verdict is policy; those of each file are in the
// file.
std::expected<std::vector<RuleIndex>, SetStop> JudgeSet(
    std::span<const Shard> shards, const Profile& profile);

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_SET_H_
