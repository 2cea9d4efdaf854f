// Files for tests, field by field, with a note of where each field lies.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_TEST_FILE_H_
#define WEIGHTPROOF_REFERENCE_GGUF_TEST_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reference/gguf/reader.h"

namespace weightproof::gguf::test {

inline constexpr std::uint64_t Pow2(int exponent) {
  return std::uint64_t{1} << exponent;
}

// Each call appends. Fields leave marks, the latest of a kind wins: version,
// tc, kc, kl, kb, vt, vv, sl, sb, ae, al, el, nl, nb, nd, d0.., ty, of.
class TestFile {
 public:
  explicit TestFile(bool big_endian = false) : big_endian_(big_endian) {}

  TestFile& Int(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) {
      const int place = big_endian_ ? width - 1 - i : i;
      bytes.push_back(static_cast<std::uint8_t>(value >> (8 * place)));
    }
    return *this;
  }
  TestFile& U8(std::uint64_t value) { return Int(value, 1); }
  TestFile& U16(std::uint64_t value) { return Int(value, 2); }
  TestFile& U32(std::uint64_t value) { return Int(value, 4); }
  TestFile& U64(std::uint64_t value) { return Int(value, 8); }
  // A count, length or dim: 4 bytes in version 1.
  TestFile& Len(std::uint64_t value) { return Int(value, length_width_); }
  TestFile& Raw(std::string_view text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    return *this;
  }
  TestFile& Fill(std::uint64_t count, std::uint8_t byte = 0) {
    bytes.insert(bytes.end(), count, byte);
    return *this;
  }
  TestFile& Mark(const std::string& name) {
    marks[name] = bytes.size();
    return *this;
  }
  // Zero bytes up to a multiple of the alignment.
  TestFile& Pad(std::uint64_t alignment = 32) {
    Mark("pad");
    while (bytes.size() % alignment != 0) bytes.push_back(0);
    return Mark("data");
  }

  TestFile& Header(std::uint64_t version, std::uint64_t tensors,
                   std::uint64_t keys, std::string_view magic = "GGUF") {
    Raw(magic).Mark("version").U32(version);
    length_width_ = version == 1 ? 4 : 8;
    return Mark("tc").Len(tensors).Mark("kc").Len(keys);
  }
  // A string value, without the type before it.
  TestFile& String(std::string_view text) {
    return Mark("sl").Len(text.size()).Mark("sb").Raw(text);
  }
  // Key and value type; the value follows.
  TestFile& Key(std::string_view key, std::uint32_t type) {
    Mark("kl").Len(key.size()).Mark("kb").Raw(key);
    return Mark("vt").U32(type).Mark("vv");
  }
  // Element type and length; the elements follow.
  TestFile& Array(std::uint32_t type, std::uint64_t count) {
    return Mark("ae").U32(type).Mark("al").Len(count).Mark("el");
  }
  TestFile& Tensor(std::string_view name,
                   const std::vector<std::uint64_t>& dims, std::uint32_t type,
                   std::uint64_t offset) {
    Mark("nl").Len(name.size()).Mark("nb").Raw(name);
    Mark("nd").U32(dims.size()).Mark("d0");
    for (std::size_t i = 0; i < dims.size(); ++i) {
      Mark("d" + std::to_string(i)).Len(dims[i]);
    }
    return Mark("ty").U32(type).Mark("of").U64(offset).Mark("end");
  }
  // KV(general.alignment, u32, value).
  TestFile& Alignment(std::uint64_t value) {
    return Key("general.alignment", kU32).U32(value);
  }

  std::uint64_t At(const std::string& mark) const { return marks.at(mark); }
  std::uint64_t size() const { return bytes.size(); }
  Input input() const {
    return Input{.prefix = bytes, .file_size = bytes.size()};
  }

  std::vector<std::uint8_t> bytes;
  std::map<std::string, std::uint64_t> marks;

  static constexpr std::uint32_t kU32 = 4;

 private:
  bool big_endian_;
  int length_width_ = 8;
};

}  // namespace weightproof::gguf::test

#endif  // WEIGHTPROOF_REFERENCE_GGUF_TEST_FILE_H_
