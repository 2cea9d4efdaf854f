#include "fuzzers/gift/zip.h"

#include <zlib.h>

#include <cstdint>

namespace weightproof::fuzzers {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 31;

class Writer {
 public:
  void U16(std::uint64_t value) { Number(value, 2); }
  void U32(std::uint64_t value) { Number(value, 4); }
  void Raw(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    out.insert(out.end(), bytes, bytes + size);
  }

  Bytes out;

 private:
  void Number(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) {
      out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
  }
};

// What the local and the central header of a file have in common: version
// needed, flags, method (stored), time, date, checksum, sizes, lengths.
void Common(const CorpusInput& file, Writer& writer) {
  const auto crc = crc32_z(0, file.bytes.data(), file.bytes.size());
  writer.U16(10);
  writer.U16(0);
  writer.U16(0);
  writer.U16(0);
  writer.U16(1 << 5 | 1);
  writer.U32(crc);
  writer.U32(file.bytes.size());
  writer.U32(file.bytes.size());
  writer.U16(file.name.size());
  writer.U16(0);
}

}  // namespace

std::expected<Bytes, std::string> ZipStored(
    const std::vector<CorpusInput>& files) {
  if (files.size() > 0xffff) return std::unexpected("too many files");
  Writer writer, central;
  for (const CorpusInput& file : files) {
    const std::size_t at = writer.out.size();
    if (file.name.size() > 0xffff || at + file.bytes.size() > kMost) {
      return std::unexpected(file.name + ": too large for the archive");
    }
    writer.U32(0x04034b50);
    Common(file, writer);
    writer.Raw(file.name.data(), file.name.size());
    writer.Raw(file.bytes.data(), file.bytes.size());
    central.U32(0x02014b50);
    central.U16(10);
    Common(file, central);
    central.U16(0);  // comment
    central.U16(0);  // disk
    central.U16(0);
    central.U32(0);
    central.U32(at);
    central.Raw(file.name.data(), file.name.size());
  }
  const std::size_t at = writer.out.size();
  writer.Raw(central.out.data(), central.out.size());
  writer.U32(0x06054b50);
  writer.U16(0);
  writer.U16(0);
  writer.U16(files.size());
  writer.U16(files.size());
  writer.U32(central.out.size());
  writer.U32(at);
  writer.U16(0);
  return std::move(writer.out);
}

}  // namespace weightproof::fuzzers
