#include "impls/cpu/guarded_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace weightproof::impls {

namespace {
// Room for offsets and poison on both sides of a buffer.
constexpr std::size_t kRoom = 512;
}  // namespace

GuardedArena::GuardedArena(std::size_t size)
    : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  inner_ = (size + kRoom + page_ - 1) / page_ * page_;
  void* const map = mmap(nullptr, inner_ + 2 * page_, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) std::abort();
  first_ = static_cast<std::uint8_t*>(map) + page_;
  if (mprotect(first_, inner_, PROT_READ | PROT_WRITE) != 0) std::abort();
}

GuardedArena::~GuardedArena() { munmap(first_ - page_, inner_ + 2 * page_); }

std::uint8_t* GuardedArena::Place(std::size_t size, Placement placement,
                                  std::uint8_t poison) {
  if (size + kRoom > inner_) std::abort();
  std::memset(first_, poison, inner_);
  poison_ = poison;
  size_ = size;
  if (placement.offset == Placement::kUpper) {
    buffer_ = first_ + inner_ - size;
  } else if (placement.offset == Placement::kLower) {
    buffer_ = first_;
  } else {
    buffer_ = first_ + kRoom / 2 + placement.offset;
  }
  return buffer_;
}

std::uint8_t* GuardedArena::Place(std::span<const std::uint8_t> content,
                                  Placement placement, std::uint8_t poison) {
  Place(content.size(), placement, poison);
  std::copy(content.begin(), content.end(), buffer_);
  return buffer_;
}

bool GuardedArena::PoisonIntact() const {
  // All equal to the first, which is poison.
  const auto poison = [this](const std::uint8_t* from, const std::uint8_t* to) {
    return from == to || (*from == poison_ && std::equal(from + 1, to, from));
  };
  return poison(first_, buffer_) && poison(buffer_ + size_, first_ + inner_);
}

}  // namespace weightproof::impls
