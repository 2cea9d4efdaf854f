// Stages 1 to 3: magic, version, counts.
#include <algorithm>
#include <array>

#include "reference/gguf/stages.h"

namespace weightproof::gguf {
namespace {

constexpr std::array<std::uint8_t, 4> kMagic = {0x47, 0x47, 0x55, 0x46};
constexpr std::array<std::uint8_t, 4> kMagicReversed = {0x46, 0x55, 0x47, 0x47};
constexpr std::uint64_t kVersionAt = 4;
constexpr std::uint64_t kTensorCountAt = 8;

// Smallest entries on disk. A key-value of a conforming file has one byte
// more; an empty key is to be reported as such.
constexpr std::uint64_t kLeastKv = 13;        // 8 + 0 + 4 + 1
constexpr std::uint64_t kLeastKvV1 = 9;       // 4 + 0 + 4 + 1
constexpr std::uint64_t kLeastTensor = 24;    // 8 + 0 + 4 + 0 + 4 + 8
constexpr std::uint64_t kLeastTensorV1 = 20;  // 4 + 0 + 4 + 0 + 4 + 8

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

// The magic is spelt backwards. A body that is big-endian too makes it another
// rule; the version word tells, if the file has one.
bool CheckReversedMagic(Context& c) {
  const std::uint64_t at = c.file.base;
  bool big_endian = false;
  if (c.Left() >= 8) {
    if (!c.Have(8, rules::kHeaderMagicTruncated)) return false;
    const std::uint64_t version =
        LoadInteger(c.file.Bytes({at + kVersionAt, 4}), true);
    big_endian = version >= 1 && version <= 3;
  }
  if (big_endian) {
    return c.Refuse(rules::kHeaderMagicReversedBe, at,
                    "the magic is FUGG and the version word is big-endian");
  }
  return c.Permits(rules::kHeaderMagicReversed, at, "the magic is FUGG");
}

std::uint32_t SwapBytes(std::uint32_t x) {
  return (x >> 24) | ((x >> 8) & 0xff00) | ((x << 8) & 0xff0000) | (x << 24);
}

bool CheckTensorCount(Context& c, std::uint64_t at) {
  const std::uint64_t least =
      c.file.version == 1 ? kLeastTensorV1 : kLeastTensor;
  if (c.tensor_count > c.Left() / least) {
    return c.Refuse(rules::kHeaderTensorCountExceedsFile, at,
                    std::to_string(c.tensor_count) + " tensors cannot fit in " +
                        std::to_string(c.Left()) + " bytes");
  }
  return true;
}

bool CheckKvCount(Context& c, std::uint64_t at) {
  const std::uint64_t least = c.file.version == 1 ? kLeastKvV1 : kLeastKv;
  if (c.kv_count > c.Left() / least) {
    return c.Refuse(rules::kHeaderKvCountExceedsFile, at,
                    std::to_string(c.kv_count) + " keys cannot fit in " +
                        std::to_string(c.Left()) + " bytes");
  }
  return true;
}

// Call it after the two above: neither product can wrap then.
bool CheckCountsTogether(Context& c, std::uint64_t at) {
  const bool v1 = c.file.version == 1;
  const std::uint64_t tensors =
      c.tensor_count * (v1 ? kLeastTensorV1 : kLeastTensor);
  const std::uint64_t keys = c.kv_count * (v1 ? kLeastKvV1 : kLeastKv);
  if (keys > c.Left() - tensors) {
    return c.Refuse(rules::kHeaderCountsExceedFile, at,
                    "keys and tensors together cannot fit in " +
                        std::to_string(c.Left()) + " bytes");
  }
  return true;
}

bool CheckCountCap(Context& c, std::uint64_t count, std::uint64_t at) {
  return count <= kMaxEntries ||
         c.Refuse(rules::kLimitCountsCap, at, "more than 2^30 entries");
}

}  // namespace

bool ReadMagic(Context& c) {
  if (!c.Have(4, rules::kHeaderMagicTruncated)) return false;
  const auto magic = c.file.Bytes({c.pos(), 4});
  if (std::ranges::equal(magic, kMagicReversed)) {
    if (!CheckReversedMagic(c)) return false;
  } else if (!std::ranges::equal(magic, kMagic)) {
    return c.Refuse(rules::kHeaderMagicWrong, c.file.base,
                    "bytes 0-3 are not 47 47 55 46");
  }
  c.Skip(4);
  return true;
}

bool ReadVersion(Context& c) {
  const std::uint64_t at = c.file.base + kVersionAt;
  const auto version = c.U32(rules::kHeaderVersionTruncated);
  if (!version) return false;
  c.file.version = *version;
  if (*version == 0) {
    return c.Refuse(rules::kHeaderVersionZero, at, "version 0");
  }
  if (*version == 1) {
    return c.Permits(rules::kHeaderVersionOne, at,
                     "version 1: counts, lengths and dims of 32 bits");
  }
  if (*version <= 3) return true;
  if (SwapBytes(*version) == 3) {
    c.file.version = 3;
    c.file.big_endian = true;
    return c.Permits(rules::kHeaderVersionBigEndian, at,
                     "version 3 in big-endian byte order");
  }
  if (*version > 65535) {
    return c.Refuse(rules::kHeaderVersionGarbage, at,
                    "version " + std::to_string(*version));
  }
  return c.Refuse(rules::kHeaderVersionFuture, at,
                  "version " + std::to_string(*version));
}

bool ReadCounts(Context& c) {
  const std::uint64_t tensors_at = c.file.base + kTensorCountAt;
  const std::uint64_t kv_at = tensors_at + c.file.LengthWidth();
  const auto tensor_count = c.Length(rules::kHeaderCountsTruncated);
  if (!tensor_count) return false;
  const auto kv_count = c.Length(rules::kHeaderCountsTruncated);
  if (!kv_count) return false;
  c.tensor_count = *tensor_count;
  c.kv_count = *kv_count;
  if (c.tensor_count >= kSignBit) {
    return c.Refuse(rules::kHeaderTensorCountSignBit, tensors_at,
                    "tensor_count is negative as a signed number");
  }
  if (c.kv_count >= kSignBit) {
    return c.Refuse(rules::kHeaderKvCountSignBit, kv_at,
                    "metadata_kv_count is negative as a signed number");
  }
  return CheckTensorCount(c, tensors_at) && CheckKvCount(c, kv_at) &&
         CheckCountsTogether(c, kv_at) &&
         CheckCountCap(c, c.tensor_count, tensors_at) &&
         CheckCountCap(c, c.kv_count, kv_at);
}

}  // namespace weightproof::gguf
