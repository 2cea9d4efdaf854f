#include "reference/gguf/set.h"

#include <algorithm>
#include <map>
#include <utility>

#include "reference/gguf/checked.h"
#include "reference/gguf/context.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf {
namespace {

// A split key of one file.
struct Stated {
  bool present = false;
  bool integer = false;
  // The number; of negative ones 2^64-1, which no honest set reaches.
  std::uint64_t value = 0;
  std::uint64_t at = 0;  // first byte of the value
};

bool IsInteger(std::uint32_t type) {
  return ValueWidth(type) != 0 && type != kF32 && type != kF64 && type != kBool;
}

bool IsSigned(std::uint32_t type) {
  return type == kI8 || type == kI16 || type == kI32 || type == kI64;
}

Stated Find(const File& file, std::string_view key, bool last) {
  Stated stated;
  const std::vector<std::uint8_t> bytes(key.begin(), key.end());
  const auto index = file.Find(bytes, last);
  if (!index) return stated;
  const KeyValue& kv = file.kv[*index];
  stated.present = true;
  stated.at = kv.value.begin;
  stated.integer = IsInteger(kv.type);
  if (!stated.integer) return stated;
  stated.value = LoadInteger(file.Bytes(kv.value), file.big_endian);
  const std::uint64_t sign = std::uint64_t{1} << (8 * ValueWidth(kv.type) - 1);
  if (IsSigned(kv.type) && (stated.value & sign) != 0) stated.value = kU64Max;
  return stated;
}

class Judge {
 public:
  Judge(std::span<const Shard> shards, const Profile& profile)
      : shards_(shards), profile_(profile) {}

  bool Run() {
    return Files() && First() && Keys() && Ranges() && Names() && Counts() &&
           Complete() && TensorCount() && Alignments();
  }

  std::vector<RuleIndex> policies;
  SetStop stop;

 private:
  struct Keyed {
    const File* file = nullptr;
    std::optional<ShardName> name;
    Stated no, count, tensors;
  };

  // True if the profile lets it pass.
  bool Permits(RuleIndex rule, std::size_t file, std::uint64_t at,
               std::string detail) {
    const Cell cell = profile_.Of(rule);
    if (cell == Cell::kAccept) return true;
    if (cell == Cell::kPolicy) {
      if (std::ranges::find(policies, rule) == policies.end()) {
        policies.push_back(rule);
      }
      return true;
    }
    stop.file = file;
    stop.stop = Stop{.rule = rule,
                     .verdict = cell,
                     .offset = at,
                     .need_bytes = 0,
                     .detail = std::move(detail)};
    return false;
  }

  bool Files() {
    const bool last = profile_.last_duplicate_wins;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      const auto& parsed = *shards_[i].parsed;
      if (!parsed) {
        stop = {i, parsed.error()};
        return false;
      }
      keyed_.push_back({.file = &*parsed,
                        .name = ParseShardName(shards_[i].name),
                        .no = Find(*parsed, "split.no", last),
                        .count = Find(*parsed, "split.count", last),
                        .tensors = Find(*parsed, "split.tensors.count", last)});
    }
    return true;
  }

  bool Keys() {
    for (std::size_t i = 0; i < keyed_.size(); ++i) {
      const Keyed& k = keyed_[i];
      for (const auto& [key, stated] :
           {std::pair{"split.count", &k.count}, std::pair{"split.no", &k.no}}) {
        if (stated->present && !stated->integer &&
            !Permits(rules::kSplitKeyType, i, stated->at,
                     std::string(key) + " is not an integer")) {
          return false;
        }
      }
      if (k.count.integer && k.count.value == 0 &&
          !Permits(rules::kSplitCountZero, i, k.count.at, "split.count is 0")) {
        return false;
      }
    }
    return true;
  }

  bool First() {
    if (keyed_.empty() || Number(0) == 0) return true;
    return Permits(rules::kSplitNoFirst, 0, keyed_[0].no.at,
                   "the first file is shard " + std::to_string(Number(0)));
  }

  bool Ranges() {
    for (std::size_t i = 0; i < keyed_.size(); ++i) {
      const Keyed& k = keyed_[i];
      if (k.no.integer && k.count.integer && k.count.value != 0 &&
          k.no.value >= k.count.value &&
          !Permits(rules::kSplitNoRange, i, k.no.at,
                   "split.no " + std::to_string(k.no.value) + " of " +
                       std::to_string(k.count.value))) {
        return false;
      }
    }
    return true;
  }

  bool Names() {
    for (std::size_t i = 0; i < keyed_.size(); ++i) {
      const Keyed& k = keyed_[i];
      if (k.name && k.no.integer && k.no.value + 1 != k.name->number &&
          !Permits(rules::kSplitNoFilename, i, k.no.at,
                   "split.no is " + std::to_string(k.no.value) + " in " +
                       std::string(shards_[i].name))) {
        return false;
      }
    }
    return true;
  }

  bool Counts() {
    std::optional<std::uint64_t> first;
    for (std::size_t i = 0; i < keyed_.size(); ++i) {
      const Stated& count = keyed_[i].count;
      if (!count.integer) continue;
      if (!first) first = count.value;
      if (count.value != *first &&
          !Permits(rules::kSplitCountDisagrees, i, count.at,
                   "split.count is " + std::to_string(count.value) + " here, " +
                       std::to_string(*first) + " before")) {
        return false;
      }
    }
    return true;
  }

  bool Complete() {
    std::map<std::uint64_t, std::size_t> files;  // shard number -> file
    for (std::size_t i = 0; i < keyed_.size(); ++i) {
      if (!files.emplace(Number(i), i).second &&
          !Permits(rules::kSplitSetMissing, i, keyed_[i].no.at,
                   "shard " + std::to_string(Number(i)) + " appears twice")) {
        return false;
      }
    }
    const std::uint64_t wanted = ShardCount();
    if (files.size() >= wanted) return true;
    return Permits(rules::kSplitSetMissing, 0, keyed_[0].count.at,
                   std::to_string(wanted - files.size()) + " of " +
                       std::to_string(wanted) + " shards are missing");
  }

  bool TensorCount() {
    std::uint64_t sum = 0;
    for (const Keyed& k : keyed_) sum += k.file->tensors.size();
    for (std::size_t i = 0; i < keyed_.size(); ++i) {
      const Stated& stated = keyed_[i].tensors;
      if (!stated.present || (stated.integer && stated.value == sum)) continue;
      if (!Permits(rules::kSplitTensorsCountMismatch, i, stated.at,
                   "split.tensors.count is not the " + std::to_string(sum) +
                       " tensors of the set")) {
        return false;
      }
    }
    return true;
  }

  bool Alignments() {
    for (std::size_t i = 1; i < keyed_.size(); ++i) {
      if (keyed_[i].file->alignment != keyed_[0].file->alignment &&
          !Permits(rules::kSplitAlignDiffers, i, keyed_[i].no.at,
                   "alignment " + std::to_string(keyed_[i].file->alignment) +
                       " here, " + std::to_string(keyed_[0].file->alignment) +
                       " in the first file")) {
        return false;
      }
    }
    return true;
  }

  // Counted from 0: what the file says, else its name, else its place.
  std::uint64_t Number(std::size_t i) const {
    const Keyed& k = keyed_[i];
    if (k.no.integer) return k.no.value;
    if (k.name && k.name->number > 0) return k.name->number - 1;
    return i;
  }

  // What the set claims to have; a count of 0 claims nothing.
  std::uint64_t ShardCount() const {
    for (const Keyed& k : keyed_) {
      if (k.count.integer) return k.count.value;
    }
    for (const Keyed& k : keyed_) {
      if (k.name) return k.name->count;
    }
    return 0;
  }

  std::span<const Shard> shards_;
  const Profile& profile_;
  std::vector<Keyed> keyed_;
};

// Takes the digits at the end of text; nothing if there are fewer than five or
// more than 18.
std::optional<std::uint64_t> TakeNumber(std::string_view& text) {
  std::size_t digits = 0;
  while (digits < text.size()) {
    const char c = text[text.size() - 1 - digits];
    if (c < '0' || c > '9') break;
    ++digits;
  }
  if (digits < 5 || digits > 18) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : text.substr(text.size() - digits)) {
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  text.remove_suffix(digits);
  return number;
}

bool TakeEnd(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

}  // namespace

std::optional<ShardName> ParseShardName(std::string_view name) {
  name = name.substr(name.find_last_of('/') + 1);
  if (!TakeEnd(name, ".gguf")) return std::nullopt;
  const auto count = TakeNumber(name);
  if (!count || !TakeEnd(name, "-of-")) return std::nullopt;
  const auto number = TakeNumber(name);
  if (!number || !TakeEnd(name, "-")) return std::nullopt;
  return ShardName{name, *number, *count};
}

std::expected<std::vector<RuleIndex>, SetStop> JudgeSet(
    std::span<const Shard> shards, const Profile& profile) {
  Judge judge(shards, profile);
  if (!profile.opens_sets) {
    judge.stop.stop.verdict = Cell::kUnsupported;
    judge.stop.stop.detail =
        "profile " + std::string(profile.name) + " opens no sets";
    return std::unexpected(std::move(judge.stop));
  }
  if (!judge.Run()) return std::unexpected(std::move(judge.stop));
  return std::move(judge.policies);
}

}  // namespace weightproof::gguf
