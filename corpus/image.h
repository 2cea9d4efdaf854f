// The file under construction: chunks with a position.
#ifndef WEIGHTPROOF_CORPUS_IMAGE_H_
#define WEIGHTPROOF_CORPUS_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "corpus/bytes.h"

namespace weightproof::corpus {

class Image {
 public:
  // Files end before this: positions fit a signed 64-bit file offset.
  static constexpr std::uint64_t kMaxSize = (std::uint64_t{1} << 63) - 1;

  // Where bytes were put, to be overwritten later.
  struct Spot {
    std::size_t chunk = 0;
    std::size_t offset = 0;
  };

  std::uint64_t position() const { return position_; }
  const Bytes& bytes() const { return bytes_; }

  // Each returns false, and appends nothing, if the file became too long.
  bool Append(std::span<const std::uint8_t> bytes, Spot* spot = nullptr);
  // unit n times: literal bytes while short, one chunk otherwise.
  bool AppendRepeat(std::span<const std::uint8_t> unit, std::uint64_t n);
  bool AppendHole(std::uint64_t n);

  void Overwrite(Spot spot, std::span<const std::uint8_t> bytes);
  // Keeps the first size bytes; size <= position().
  void Cut(std::uint64_t size);

 private:
  bool Grow(std::uint64_t n);

  Bytes bytes_;
  std::uint64_t position_ = 0;
};

}  // namespace weightproof::corpus

#endif  // WEIGHTPROOF_CORPUS_IMAGE_H_
