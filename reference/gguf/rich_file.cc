#include "reference/gguf/rich_file.h"

#include <cstdio>

#include "reference/gguf/value.h"

namespace weightproof::gguf::test {
namespace {

class Printer : public ValueVisitor {
 public:
  explicit Printer(std::string& out) : out_(out) {}
  void Scalars(std::uint32_t type, std::span<const std::uint8_t> bytes,
               std::uint64_t count) override {
    out_ += " " + std::to_string(count) + "*" + std::to_string(type) + ":";
    for (const std::uint8_t byte : bytes) {
      char text[3];
      std::snprintf(text, sizeof text, "%02x", byte);
      out_ += text;
    }
  }
  void String(std::span<const std::uint8_t> bytes) override {
    out_ += " '" + std::string(bytes.begin(), bytes.end()) + "'";
  }
  void ArrayBegin(std::uint32_t type, std::uint64_t count) override {
    out_ += " [" + std::to_string(type) + "/" + std::to_string(count);
  }
  void ArrayEnd() override { out_ += " ]"; }

 private:
  std::string& out_;
};

std::string Chars(const File& file, Range range) {
  const auto bytes = file.Bytes(range);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

TestFile RichFile(std::uint32_t version, bool big_endian) {
  TestFile f(big_endian);
  f.Header(version, 3, 17);
  f.Key("general.architecture", 8).String("llama");
  f.Key("k.u8", 0).U8(0x81).Key("k.i8", 1).U8(0x82);
  f.Key("k.u16", 2).U16(0x8123).Key("k.i16", 3).U16(0x8223);
  f.Key("k.u32", 4).U32(0x81234567).Key("k.i32", 5).U32(0x82345678);
  f.Key("k.f32", 6).U32(0x3fc00000).Key("k.bool", 7).U8(1);
  f.Key("k.u64", 10).U64(0x8123456789abcdef);
  f.Key("k.i64", 11).U64(0x8223456789abcdef);
  f.Key("k.f64", 12).U64(0x3ff8000000000001);
  f.Key("k.tokens", 9).Array(8, 3).String("").String("\xe2\x96\x81");
  f.String("</s>");
  f.Key("k.words", 9).Array(3, 3).U16(1).U16(2).U16(0xfffd);
  f.Key("k.nested", 9).Array(9, 2).Array(4, 2).U32(1).U32(2);
  f.Array(8, 1).String("x");
  f.Key("k.empty", 9).Array(12, 0);
  f.Alignment(64);
  f.Tensor("blk.0.w", {32, 2}, 8, 0);
  f.Tensor("none", {4, 0}, 0, 128);
  f.Tensor("norm", {3}, 0, 128);
  return f.Pad(64).Fill(68, 0x11).Fill(60).Fill(12, 0x22).Fill(52);
}

std::string Describe(const File& file) {
  std::string out = "version " + std::to_string(file.version) + " alignment " +
                    std::to_string(file.alignment) + "\n";
  for (const KeyValue& kv : file.kv) {
    out += Chars(file, kv.key) + " " + std::to_string(kv.type);
    Printer printer(out);
    VisitValue(file, kv, printer);
    out += "\n";
  }
  for (const Tensor& tensor : file.tensors) {
    out += Chars(file, tensor.name) + " [";
    for (std::uint32_t i = 0; i < tensor.n_dims; ++i) {
      out += " " + std::to_string(tensor.dims[i]);
    }
    out += " ] type " + std::to_string(tensor.type) + " at " +
           std::to_string(tensor.offset) + " size " +
           std::to_string(tensor.size) + "\n";
  }
  return out;
}

}  // namespace weightproof::gguf::test
