#include "reference/q8_0/blocks.h"

#include <bit>

namespace weightproof::q8_0 {
namespace {

std::uint16_t ReadU16(std::span<const std::uint8_t> bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] | (bytes[at + 1] << 8));
}

void WriteU16(std::uint16_t value, std::span<std::uint8_t> bytes,
              std::size_t at) {
  bytes[at] = static_cast<std::uint8_t>(value);
  bytes[at + 1] = static_cast<std::uint8_t>(value >> 8);
}

void ReadCodes(std::span<const std::uint8_t> bytes, Block& block) {
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    block.q[i] = static_cast<std::int8_t>(bytes[i]);
  }
}

void WriteCodes(const Block& block, std::span<std::uint8_t> bytes) {
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    bytes[i] = static_cast<std::uint8_t>(block.q[i]);
  }
}

}  // namespace

Block ReadQ80(std::span<const std::uint8_t> bytes) {
  Block block;
  block.d = ReadU16(bytes, 0);
  ReadCodes(bytes.subspan(2, kBlockValues), block);
  return block;
}

Block ReadQ81(std::span<const std::uint8_t> bytes) {
  Block block;
  block.d = ReadU16(bytes, 0);
  block.s = ReadU16(bytes, 2);
  ReadCodes(bytes.subspan(4, kBlockValues), block);
  return block;
}

void WriteQ80(const Block& block, std::span<std::uint8_t> bytes) {
  WriteU16(block.d, bytes, 0);
  WriteCodes(block, bytes.subspan(2, kBlockValues));
}

void WriteQ81(const Block& block, std::span<std::uint8_t> bytes) {
  WriteU16(block.d, bytes, 0);
  WriteU16(block.s, bytes, 2);
  WriteCodes(block, bytes.subspan(4, kBlockValues));
}

float ReadF32(std::span<const std::uint8_t> bytes, std::size_t i) {
  std::uint32_t pattern = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    pattern |= static_cast<std::uint32_t>(bytes[4 * i + k]) << (8 * k);
  }
  return std::bit_cast<float>(pattern);
}

void WriteF32(float value, std::span<std::uint8_t> bytes, std::size_t i) {
  const std::uint32_t pattern = std::bit_cast<std::uint32_t>(value);
  for (std::size_t k = 0; k < 4; ++k) {
    bytes[4 * i + k] = static_cast<std::uint8_t>(pattern >> (8 * k));
  }
}

}  // namespace weightproof::q8_0
