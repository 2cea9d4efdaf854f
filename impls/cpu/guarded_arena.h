// Test support: memory between two pages that fault, filled with poison, in
// which one buffer at a time lies anywhere.
#ifndef WEIGHTPROOF_IMPLS_CPU_GUARDED_ARENA_H_
#define WEIGHTPROOF_IMPLS_CPU_GUARDED_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weightproof::impls {

// Where a buffer lies: against the upper or the lower page, or so many bytes
// past an address of which 64 is a divisor.
struct Placement {
  static constexpr int kUpper = -1, kLower = -2;
  int offset = kUpper;
};

class GuardedArena {
 public:
  // For buffers of at most size bytes.
  explicit GuardedArena(std::size_t size);
  ~GuardedArena();
  GuardedArena(const GuardedArena&) = delete;
  GuardedArena& operator=(const GuardedArena&) = delete;

  // Poisons everything and places a buffer of size bytes.
  std::uint8_t* Place(std::size_t size, Placement placement,
                      std::uint8_t poison);
  // The same, filled with content.
  std::uint8_t* Place(std::span<const std::uint8_t> content,
                      Placement placement, std::uint8_t poison);
  std::span<const std::uint8_t> Buffer() const { return {buffer_, size_}; }
  // Nothing outside the buffer has changed.
  bool PoisonIntact() const;

 private:
  std::uint8_t* first_ = nullptr;  // writable bytes
  std::size_t inner_ = 0, page_ = 0;
  std::uint8_t* buffer_ = nullptr;
  std::size_t size_ = 0;
  std::uint8_t poison_ = 0;
};

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_GUARDED_ARENA_H_
