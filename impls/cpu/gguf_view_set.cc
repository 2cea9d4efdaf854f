// Split sets: the rules about several files that make one model.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <set>
#include <string>

#include "impls/cpu/gguf_view_abi.h"
#include "impls/cpu/gguf_view_internal.h"
#include "reference/gguf/rules.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {
namespace gguf_internal {
namespace rules = gguf::rules;
namespace {

// PREFIX-00002-of-00003.gguf.
struct NumberedName {
  std::uint64_t number, count;
};

// The decimal number of 5 to 18 digits at the end of *text, taken off it.
std::optional<std::uint64_t> NumberAtEnd(std::string_view* text) {
  const std::size_t before = text->find_last_not_of("0123456789") + 1;
  const std::string_view digits = text->substr(before);
  if (digits.size() < 5 || digits.size() > 18) return std::nullopt;
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  *text = text->substr(0, before);
  return number;
}

std::optional<NumberedName> ReadName(std::string_view name) {
  constexpr std::string_view kEnd = ".gguf", kOf = "-of-";
  if (!name.ends_with(kEnd)) return std::nullopt;
  name.remove_suffix(kEnd.size());
  const auto count = NumberAtEnd(&name);
  if (!count || !name.ends_with(kOf)) return std::nullopt;
  name.remove_suffix(kOf.size());
  const auto number = NumberAtEnd(&name);
  if (!number || !name.ends_with('-')) return std::nullopt;
  return NumberedName{*number, *count};
}

struct SplitKey {
  enum { kAbsent, kNoInteger, kInteger } state = kAbsent;
  std::uint64_t value = 0;  // negative ones are the largest number
  std::uint64_t at = 0;
};

SplitKey ReadKey(const GgufView& view, std::string_view name) {
  SplitKey key;
  for (const GgufKv& kv : view.kvs) {
    if (kv.key != name) continue;
    key.at = kv.value;
    const std::uint64_t width = kWidth[kv.type];
    if (width == 0 || kv.type == 6 || kv.type == 12 || kv.type == kBool) {
      key.state = SplitKey::kNoInteger;
      return key;
    }
    key.state = SplitKey::kInteger;
    for (std::uint64_t i = 0; i < width; ++i) {
      const std::uint64_t from = view.big_endian ? i : width - 1 - i;
      key.value = key.value << 8 | view.prefix[kv.value + from];
    }
    const bool is_signed =
        kv.type == 1 || kv.type == 3 || kv.type == 5 || kv.type == 11;
    if (is_signed && key.value >> (8 * width - 1) != 0) key.value = UINT64_MAX;
    return key;
  }
  return key;
}

struct Part {
  std::optional<NumberedName> name;
  SplitKey no, count, tensors;
  std::uint64_t tensor_count, alignment;
};

// The set's rules in the order of the specification; each part returns false
// when the answer is known, with the file at fault in file().
class SetReader {
 public:
  SetReader(std::span<const Part> parts, GgufProfile profile)
      : parts_(parts), judge_(profile) {}

  bool Run() {
    return First() && Types() && Ranges() && Names() && Counts() && Repeats() &&
           Missing() && Tensors() && Alignments();
  }
  std::uint64_t file() const { return file_; }
  Judge& judge() { return judge_; }

 private:
  bool Fail(RuleIndex rule, std::uint64_t file, std::uint64_t at) {
    file_ = file;
    return !judge_.Stops(rule, at);
  }

  // From 0: as stated, else as named, else as given.
  std::uint64_t NumberOf(std::uint64_t i) const {
    const Part& part = parts_[i];
    if (part.no.state == SplitKey::kInteger) return part.no.value;
    return part.name && part.name->number != 0 ? part.name->number - 1 : i;
  }

  bool First() {
    return NumberOf(0) == 0 || Fail(rules::kSplitNoFirst, 0, parts_[0].no.at);
  }

  bool Types() {
    for (std::uint64_t i = 0; i < parts_.size(); ++i) {
      for (const SplitKey* key : {&parts_[i].count, &parts_[i].no}) {
        if (key->state == SplitKey::kNoInteger &&
            !Fail(rules::kSplitKeyType, i, key->at)) {
          return false;
        }
      }
      const SplitKey& count = parts_[i].count;
      if (count.state == SplitKey::kInteger && count.value == 0 &&
          !Fail(rules::kSplitCountZero, i, count.at)) {
        return false;
      }
    }
    return true;
  }

  bool Ranges() {
    for (std::uint64_t i = 0; i < parts_.size(); ++i) {
      const auto& [name, no, count, tensors, n, alignment] = parts_[i];
      const bool both =
          no.state == SplitKey::kInteger && count.state == SplitKey::kInteger;
      if (both && count.value != 0 && no.value >= count.value &&
          !Fail(rules::kSplitNoRange, i, no.at)) {
        return false;
      }
    }
    return true;
  }

  bool Names() {
    for (std::uint64_t i = 0; i < parts_.size(); ++i) {
      const SplitKey& no = parts_[i].no;
      if (no.state != SplitKey::kInteger || !parts_[i].name) continue;
      const std::uint64_t number = parts_[i].name->number;
      const bool same = number != 0 && no.value == number - 1;
      const bool wraps = number == 0 && no.value == UINT64_MAX;
      if (!same && !wraps && !Fail(rules::kSplitNoFilename, i, no.at)) {
        return false;
      }
    }
    return true;
  }

  bool Counts() {
    const SplitKey* first = nullptr;
    for (std::uint64_t i = 0; i < parts_.size(); ++i) {
      const SplitKey& count = parts_[i].count;
      if (count.state != SplitKey::kInteger) continue;
      if (first == nullptr) first = &count;
      if (count.value != first->value &&
          !Fail(rules::kSplitCountDisagrees, i, count.at)) {
        return false;
      }
    }
    return true;
  }

  bool Repeats() {
    for (std::uint64_t i = 0; i < parts_.size(); ++i) {
      if (!numbers_.insert(NumberOf(i)).second &&
          !Fail(rules::kSplitSetMissing, i, parts_[i].no.at)) {
        return false;
      }
    }
    return true;
  }

  bool Missing() {
    std::optional<std::uint64_t> stated, named;
    for (const Part& part : parts_) {
      if (!stated && part.count.state == SplitKey::kInteger) {
        stated = part.count.value;
      }
      if (!named && part.name) named = part.name->count;
    }
    const std::uint64_t wanted = stated ? *stated : named.value_or(0);
    return numbers_.size() >= wanted ||
           Fail(rules::kSplitSetMissing, 0, parts_[0].count.at);
  }

  bool Tensors() {
    std::uint64_t sum = 0;
    for (const Part& part : parts_) sum += part.tensor_count;
    for (std::uint64_t i = 0; i < parts_.size(); ++i) {
      const SplitKey& stated = parts_[i].tensors;
      const bool right =
          stated.state == SplitKey::kAbsent ||
          (stated.state == SplitKey::kInteger && stated.value == sum);
      if (!right && !Fail(rules::kSplitTensorsCountMismatch, i, stated.at)) {
        return false;
      }
    }
    return true;
  }

  bool Alignments() {
    for (std::uint64_t i = 1; i < parts_.size(); ++i) {
      if (parts_[i].alignment != parts_[0].alignment &&
          !Fail(rules::kSplitAlignDiffers, i, parts_[i].no.at)) {
        return false;
      }
    }
    return true;
  }

  std::span<const Part> parts_;
  Judge judge_;
  std::set<std::uint64_t> numbers_;
  std::uint64_t file_ = 0;
};

}  // namespace

void OpenSet(const wp_gguf_input* files, const char* const* names,
             std::uint64_t count, const wp_gguf_sink* sinks,
             wp_answer* answer) {
  if (count == 0) {
    answer->status = WP_STATUS_NOT_RUN;
    return Say(answer, "no file");
  }
  const auto profile = FindProfile(files[0].profile);
  if (profile == GgufProfile::kCandle) {
    answer->status = WP_STATUS_OK;
    answer->verdict = WP_UNSUPPORTED;
    return Say(answer, "this profile opens no sets");
  }
  std::vector<GgufView> views;
  std::vector<Part> parts;
  for (std::uint64_t i = 0; i < count; ++i) {
    wp_gguf_input file = files[i];
    file.profile = files[0].profile;
    answer->row = static_cast<std::int64_t>(i);
    std::optional<GgufView> view = Open(file, answer);
    if (!view) return;
    parts.push_back({ReadName(names[i]), ReadKey(*view, "split.no"),
                     ReadKey(*view, "split.count"),
                     ReadKey(*view, "split.tensors.count"),
                     view->tensors.size(), view->alignment});
    views.push_back(std::move(*view));
  }
  SetReader reader(parts, *profile);
  if (!reader.Run()) {
    answer->row = static_cast<std::int64_t>(reader.file());
    return Refuse(reader.judge().finding(), answer);
  }
  answer->row = 0;
  for (std::uint64_t i = 0; i < count; ++i) Emit(views[i], sinks[i]);
  for (const RuleIndex rule : reader.judge().TakePolicies()) {
    sinks[0].policy(sinks[0].context, Rules()[rule].id.data());
  }
}

}  // namespace gguf_internal
}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls
