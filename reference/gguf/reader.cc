#include "reference/gguf/reader.h"

#include <algorithm>
#include <utility>

#include "reference/gguf/stages.h"

namespace weightproof::gguf {

std::span<const std::uint8_t> File::Bytes(Range range) const {
  return prefix.subspan(static_cast<std::size_t>(range.begin),
                        static_cast<std::size_t>(range.size));
}

std::optional<std::size_t> File::Find(std::span<const std::uint8_t> key,
                                      bool last) const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < kv.size(); ++i) {
    if (!std::ranges::equal(Bytes(kv[i].key), key)) continue;
    found = i;
    if (!last) break;
  }
  return found;
}

std::expected<File, Stop> Parse(const Input& input, const Profile& profile) {
  Context c(input, profile);
  for (const auto stage : {ReadMagic, ReadVersion, ReadCounts, ReadKeyValues,
                           SettleAlignment, ReadTensors}) {
    if (!stage(c)) return std::unexpected(std::move(*c.stop));
  }
  if (input.require_keys && !CheckRequiredKeys(c)) {
    return std::unexpected(std::move(*c.stop));
  }
  if (!CheckGeometry(c) || !CheckData(c)) {
    return std::unexpected(std::move(*c.stop));
  }
  return std::move(c.file);
}

}  // namespace weightproof::gguf
