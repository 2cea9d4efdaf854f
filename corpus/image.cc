#include "corpus/image.h"

#include <algorithm>

namespace weightproof::corpus {
namespace {

// Longer runs are kept as one chunk.
constexpr std::uint64_t kLiteralRun = 64;

// The first size bytes of a chunk that has more.
void CutChunk(Chunk& chunk, std::uint64_t size, Bytes& rest) {
  if (auto* literal = std::get_if<Literal>(&chunk)) {
    literal->bytes.resize(static_cast<std::size_t>(size));
  } else if (auto* zero = std::get_if<Zero>(&chunk)) {
    zero->n = size;
  } else {
    auto& repeat = std::get<Repeat>(chunk);
    const std::uint64_t unit = repeat.unit.size();
    repeat.n = size / unit;
    const auto part =
        repeat.unit.begin() + static_cast<std::ptrdiff_t>(size % unit);
    rest.chunks.push_back(
        Literal{std::vector<std::uint8_t>(repeat.unit.begin(), part)});
  }
}

}  // namespace

bool Image::Grow(std::uint64_t n) {
  if (n > kMaxSize - position_) return false;
  position_ += n;
  return true;
}

bool Image::Append(std::span<const std::uint8_t> bytes, Spot* spot) {
  if (!Grow(bytes.size())) return false;
  if (bytes_.chunks.empty() ||
      !std::holds_alternative<Literal>(bytes_.chunks.back())) {
    bytes_.chunks.push_back(Literal{});
  }
  auto& last = std::get<Literal>(bytes_.chunks.back()).bytes;
  if (spot != nullptr) *spot = {bytes_.chunks.size() - 1, last.size()};
  last.insert(last.end(), bytes.begin(), bytes.end());
  return true;
}

bool Image::AppendRepeat(std::span<const std::uint8_t> unit, std::uint64_t n) {
  if (unit.empty() || n == 0) return true;
  std::uint64_t size = 0;
  if (__builtin_mul_overflow(std::uint64_t{unit.size()}, n, &size)) {
    return false;
  }
  if (size <= kLiteralRun) {
    for (std::uint64_t i = 0; i < n; ++i) {
      if (!Append(unit)) return false;
    }
    return true;
  }
  if (!Grow(size)) return false;
  bytes_.chunks.push_back(
      Repeat{std::vector<std::uint8_t>(unit.begin(), unit.end()), n});
  return true;
}

bool Image::AppendHole(std::uint64_t n) {
  if (!Grow(n)) return false;
  if (n > 0) bytes_.chunks.push_back(Zero{n});
  return true;
}

void Image::Overwrite(Spot spot, std::span<const std::uint8_t> bytes) {
  auto& literal = std::get<Literal>(bytes_.chunks[spot.chunk]).bytes;
  std::copy(bytes.begin(), bytes.end(),
            literal.begin() + static_cast<std::ptrdiff_t>(spot.offset));
}

void Image::Cut(std::uint64_t size) {
  std::uint64_t kept = 0;
  for (std::size_t i = 0; i < bytes_.chunks.size(); ++i) {
    const std::uint64_t chunk = Bytes{{bytes_.chunks[i]}}.Size();
    if (kept + chunk <= size) {
      kept += chunk;
      continue;
    }
    Bytes rest;
    CutChunk(bytes_.chunks[i], size - kept, rest);
    bytes_.chunks.resize(i + 1);
    bytes_.chunks.insert(bytes_.chunks.end(), rest.chunks.begin(),
                         rest.chunks.end());
    break;
  }
  position_ = std::min(position_, size);
}

}  // namespace weightproof::corpus
