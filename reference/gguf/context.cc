#include "reference/gguf/context.h"

#include <algorithm>

#include "reference/gguf/text.h"

namespace weightproof::gguf {

Context::Context(const Input& input, const Profile& profile)
    : profile_(&profile), work_(input.work ? input.work : &unused_work_) {
  file.prefix = input.prefix.first(static_cast<std::size_t>(
      std::min<std::uint64_t>(input.prefix.size(), input.file_size)));
  file.file_size = input.file_size;
  file.base = input.base;
  pos_ = std::min(input.base, input.file_size);
}

bool Context::Permits(RuleIndex rule, std::uint64_t offset,
                      std::string_view detail) {
  const Cell cell = profile_->Of(rule);
  if (cell == Cell::kAccept) return true;
  if (cell != Cell::kPolicy) return Refuse(rule, offset, detail);
  if (std::ranges::find(file.policies, rule) == file.policies.end()) {
    file.policies.push_back(rule);
  }
  return true;
}

bool Context::Refuse(RuleIndex rule, std::uint64_t offset,
                     std::string_view detail) {
  const Cell cell = profile_->Of(rule);
  const bool reason = cell == Cell::kUnsupported || cell == Cell::kLimit;
  stop = Stop{.rule = rule,
              .verdict = reason ? cell : Cell::kReject,
              .offset = offset,
              .need_bytes = 0,
              .detail = std::string(detail)};
  return false;
}

bool Context::Have(std::uint64_t size, RuleIndex truncated) {
  ++work_->fields;
  if (size > Left()) {
    return Refuse(truncated, file.file_size,
                  std::to_string(size) + " bytes wanted at " +
                      std::to_string(pos_) + ", " + std::to_string(Left()) +
                      " left in the file");
  }
  const std::uint64_t end = pos_ + size;
  if (end > file.prefix.size()) {
    const std::uint64_t need = end - file.prefix.size();
    stop = Stop{.rule = kNoRule,
                .verdict = Cell::kReject,
                .offset = file.prefix.size(),
                .need_bytes = need,
                .detail = "the prefix ends inside the header; at least " +
                          std::to_string(need) + " more bytes are needed"};
    return false;
  }
  return true;
}

std::optional<std::uint64_t> Context::Integer(std::uint64_t width,
                                              RuleIndex truncated) {
  if (!Have(width, truncated)) return std::nullopt;
  const std::uint64_t value =
      LoadInteger(file.Bytes({pos_, width}), file.big_endian);
  pos_ += width;
  return value;
}

std::optional<std::uint32_t> Context::U32(RuleIndex truncated) {
  const auto value = Integer(4, truncated);
  if (!value) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::uint64_t LoadInteger(std::span<const std::uint8_t> bytes,
                          bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t place = big_endian ? bytes.size() - 1 - i : i;
    value |= std::uint64_t{bytes[i]} << (8 * place);
  }
  return value;
}

NameSet::NameSet(const File& file, Work* work)
    : file_(&file), members_(Less{&file, work}, &memory_) {}

bool NameSet::Less::operator()(const Member& a, const Member& b) const {
  ++work->comparisons;
  if (a.head != b.head) return a.head < b.head;
  return std::ranges::lexicographical_compare(file->Bytes(a.name),
                                              file->Bytes(b.name));
}

// Shorter names are filled up with NUL, which no order of different heads
// notices.
NameSet::Member NameSet::MemberOf(Range name) const {
  Member member{.name = name, .head = {}};
  const auto bytes = file_->Bytes(name);
  for (std::size_t i = 0; i < 16; ++i) {
    std::uint64_t& word = member.head[i / 8];
    word = word << 8 | (i < bytes.size() ? bytes[i] : 0);
  }
  return member;
}

bool NameSet::Insert(Range name) {
  return members_.insert(MemberOf(name)).second;
}

bool NameSet::HasEqualUpToNul(Range name) const {
  const Text bytes = file_->Bytes(name);
  const Range cut{name.begin, FirstNul(bytes).value_or(name.size)};
  // NUL is the lowest byte: whatever equals the cut name up to a NUL comes
  // right after it.
  const auto at = members_.lower_bound(MemberOf(cut));
  if (at == members_.end() || at->name.size < cut.size) return false;
  const Text found = file_->Bytes(at->name);
  return std::ranges::equal(found.first(cut.size), bytes.first(cut.size)) &&
         (found.size() == cut.size || found[cut.size] == 0);
}

}  // namespace weightproof::gguf
