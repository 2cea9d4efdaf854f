// File contents as chunks: literal bytes, runs and holes. A 2^40-byte file is
// a few chunks and becomes a sparse file.
#ifndef WEIGHTPROOF_CORPUS_BYTES_H_
#define WEIGHTPROOF_CORPUS_BYTES_H_

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace weightproof::corpus {

struct Literal {
  std::vector<std::uint8_t> bytes;
  bool operator==(const Literal&) const = default;
};

// unit, n times.
struct Repeat {
  std::vector<std::uint8_t> unit;
  std::uint64_t n = 0;
  bool operator==(const Repeat&) const = default;
};

// n bytes 00; written as a hole.
struct Zero {
  std::uint64_t n = 0;
  bool operator==(const Zero&) const = default;
};

using Chunk = std::variant<Literal, Repeat, Zero>;

struct Bytes {
  std::vector<Chunk> chunks;

  // Total size in bytes; saturates at 2^64-1.
  std::uint64_t Size() const;
  // All bytes, or an error if there are more than max.
  std::expected<std::vector<std::uint8_t>, std::string> Materialize(
      std::uint64_t max) const;
  // Writes a file, holes as holes. The error names the path.
  std::expected<void, std::string> WriteFile(
      const std::filesystem::path& path) const;
  bool operator==(const Bytes&) const = default;
};

}  // namespace weightproof::corpus

#endif  // WEIGHTPROOF_CORPUS_BYTES_H_
