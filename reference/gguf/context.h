// What the stages of a parse share: the position in the file, the profile, the
// file as far as it is known, and the first failure. Internal to the reader.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_CONTEXT_H_
#define WEIGHTPROOF_REFERENCE_GGUF_CONTEXT_H_

#include <array>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "reference/gguf/reader.h"

namespace weightproof::gguf {

class Context {
 public:
  Context(const Input& input, const Profile& profile);

  const Profile& profile() const { return *profile_; }
  std::uint64_t pos() const { return pos_; }
  // Bytes of the file from the position on.
  std::uint64_t Left() const { return file.file_size - pos_; }

  // A rule was met at this offset. True: the profile accepts (a policy is
  // noted) and the parse goes on. False: the parse has stopped.
  bool Permits(RuleIndex rule, std::uint64_t offset, std::string_view detail);
  // A rule was broken after which no reader could go on. Always false.
  bool Refuse(RuleIndex rule, std::uint64_t offset, std::string_view detail);

  // True if the next size bytes are in the prefix. False: the parse has
  // stopped, by the rule at the end of the file if they are not in the file,
  // else for want of a longer prefix.
  bool Have(std::uint64_t size, RuleIndex truncated);
  // Steps over bytes that Have() has promised.
  void Skip(std::uint64_t size) { pos_ += size; }

  // Reads an unsigned integer of 1, 2, 4 or 8 bytes in the file's byte order;
  // nothing if the parse has stopped.
  std::optional<std::uint64_t> Integer(std::uint64_t width,
                                       RuleIndex truncated);
  std::optional<std::uint32_t> U32(RuleIndex truncated);
  // A count, a length or a dim: 64 bits, in version 1 32.
  std::optional<std::uint64_t> Length(RuleIndex truncated) {
    return Integer(file.LengthWidth(), truncated);
  }

  Work* work() { return work_; }

  File file;
  std::uint64_t tensor_count = 0;
  std::uint64_t kv_count = 0;
  std::optional<Stop> stop;

 private:
  const Profile* profile_;
  Work* work_;
  Work unused_work_;
  std::uint64_t pos_ = 0;
};

// The integer in little-endian or big-endian bytes, at most 8 of them.
std::uint64_t LoadInteger(std::span<const std::uint8_t> bytes, bool big_endian);

// Keys or names seen so far, in byte order: n log n whatever they are.
class NameSet {
 public:
  NameSet(const File& file, Work* work);
  // False if the same bytes are there already.
  bool Insert(Range name);
  // True if a member equals the name once both are cut at their first NUL.
  bool HasEqualUpToNul(Range name) const;

 private:
  // A name and its first 16 bytes as numbers: most comparisons end there.
  struct Member {
    Range name;
    std::array<std::uint64_t, 2> head{};
  };
  struct Less {
    const File* file;
    Work* work;
    bool operator()(const Member& a, const Member& b) const;
  };
  Member MemberOf(Range name) const;

  const File* file_;
  std::pmr::monotonic_buffer_resource memory_;  // one piece after the other
  std::pmr::set<Member, Less> members_;
};

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_CONTEXT_H_
