#include "conformance/tensor_bytes.h"

#include <zlib.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/dump_value.h"

namespace weightproof::conformance {
namespace {

using corpus::Bytes;
using corpus::Chunk;
using corpus::Literal;
using corpus::Repeat;
using corpus::Zero;

std::uint64_t SizeOf(const Chunk& chunk) { return Bytes{{chunk}}.Size(); }

// CRC of n zero bytes: doubling, as crc(ab) follows from crc(a), crc(b), |b|.
std::uint32_t CrcOfZeros(std::uint64_t n) {
  std::uint32_t result = 0;
  std::uint32_t power = Crc32(0, std::string_view("\0", 1));
  for (std::uint64_t size = 1; n != 0; size *= 2, n /= 2) {
    if (n % 2 != 0) {
      result = static_cast<std::uint32_t>(
          crc32_combine64(result, power, static_cast<z_off64_t>(size)));
    }
    power = static_cast<std::uint32_t>(
        crc32_combine64(power, power, static_cast<z_off64_t>(size)));
  }
  return result;
}

// Calls with successive pieces of chunk[from, from + size).
template <typename Piece>
void EachPiece(const Chunk& chunk, std::uint64_t from, std::uint64_t size,
               Piece piece) {
  const auto* literal = std::get_if<Literal>(&chunk);
  const auto* repeat = std::get_if<Repeat>(&chunk);
  const std::vector<std::uint8_t>& unit =
      literal != nullptr ? literal->bytes : repeat->unit;
  while (size > 0) {
    const std::uint64_t at = from % unit.size();
    const std::uint64_t count = std::min(size, unit.size() - at);
    piece(std::string_view(reinterpret_cast<const char*>(unit.data()) + at,
                           count));
    from += count;
    size -= count;
  }
}

// Calls for the part of every chunk that lies in [offset, offset + size).
template <typename Part>
bool EachPart(const Bytes& bytes, std::uint64_t offset, std::uint64_t size,
              Part part) {
  for (const Chunk& chunk : bytes.chunks) {
    const std::uint64_t chunk_size = SizeOf(chunk);
    if (offset >= chunk_size) {
      offset -= chunk_size;
      continue;
    }
    const std::uint64_t count = std::min(size, chunk_size - offset);
    if (count > 0) part(chunk, offset, count);
    size -= count;
    offset = 0;
  }
  return size == 0;
}

}  // namespace

std::optional<std::uint32_t> CrcOfRange(const Bytes& bytes,
                                        std::uint64_t offset,
                                        std::uint64_t size) {
  std::uint32_t crc = 0;
  const bool whole = EachPart(
      bytes, offset, size,
      [&](const Chunk& chunk, std::uint64_t from, std::uint64_t count) {
        if (std::holds_alternative<Zero>(chunk)) {
          crc = static_cast<std::uint32_t>(crc32_combine64(
              crc, CrcOfZeros(count), static_cast<z_off64_t>(count)));
          return;
        }
        EachPiece(chunk, from, count,
                  [&](std::string_view piece) { crc = Crc32(crc, piece); });
      });
  if (!whole) return std::nullopt;
  return crc;
}

std::optional<std::uint64_t> NumberAt(const Bytes& bytes, std::uint64_t offset,
                                      int width) {
  std::string text;
  const bool whole = EachPart(
      bytes, offset, static_cast<std::uint64_t>(width),
      [&](const Chunk& chunk, std::uint64_t from, std::uint64_t count) {
        if (std::holds_alternative<Zero>(chunk)) {
          text.append(count, '\0');
          return;
        }
        EachPiece(chunk, from, count,
                  [&](std::string_view piece) { text += piece; });
      });
  if (!whole) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(text[i]);
  }
  return number;
}

}  // namespace weightproof::conformance
