#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <expected>
#include <optional>

#include "conformance/dump_value.h"
#include "conformance/host.h"
#include "conformance/mapped_file.h"

namespace weightproof::conformance {
namespace {

constexpr std::uint64_t kMaxOutputBytes = 1u << 30;
constexpr std::uint64_t kBlock = 32;
constexpr std::uint64_t kQ80Bytes = 34;
constexpr std::uint64_t kQ81Bytes = 36;
// Room behind every buffer that is handed out, so that a slip of a foreign
// kernel by one block is a wrong answer of its own and not of the next vector.
constexpr std::size_t kSlack = 64;

// Bytes aligned for any element type.
struct Buffer {
  std::vector<std::uint8_t> storage;
  std::uint64_t size = 0;

  void Resize(std::uint64_t bytes) {
    size = bytes;
    storage.assign(bytes + kSlack, 0);
  }
  template <typename T>
  T* As() {
    return reinterpret_cast<T*>(storage.data());
  }
};

std::optional<std::uint64_t> Product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// A request being answered. Every reader notes the first problem.
class NumericCall {
 public:
  NumericCall(const wp_implementation& implementation, const Json& request)
      : implementation_(implementation), request_(request) {}

  Json Run(std::string_view operation);

 private:
  void Fail(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }
  std::uint64_t Number(const char* name, std::uint64_t fallback);
  Buffer Read(const char* name);
  void ReadFile(const Json& value, const char* name, Buffer& buffer);
  bool SelectVariant();
  // Whether the buffer has exactly a * b * c bytes. Not asked of a row length
  // that the operation has to refuse anyway.
  void Expect(const char* name, const Buffer& buffer, std::uint64_t a,
              std::uint64_t b, std::uint64_t c);
  Buffer Output(std::uint64_t a, std::uint64_t b, std::uint64_t c);
  Json Answer(Buffer* y);

  void Quantize(bool q8_1);
  void Dequantize();
  void Dot();
  void Matvec();
  void Validate(bool q8_1);
  void Convert(bool to_f32);

  const wp_implementation& implementation_;
  const Json& request_;
  std::string problem_;
  std::string variant_name_;
  const char* variant_ = nullptr;
  wp_answer answer_ = EmptyAnswer();
  std::optional<Buffer> y_;
  std::optional<std::vector<std::int32_t>> isum_;
};

std::uint64_t NumericCall::Number(const char* name, std::uint64_t fallback) {
  const auto it = request_.find(name);
  if (it == request_.end()) return fallback;
  if (it->is_number_unsigned()) return it->get<std::uint64_t>();
  Fail(fmt::format("\"{}\" is not an unsigned integer", name));
  return fallback;
}

void NumericCall::ReadFile(const Json& value, const char* name,
                           Buffer& buffer) {
  const auto file = value.find("file");
  const Json offset = value.value("offset", Json(0u));
  const Json bytes = value.value("bytes", Json());
  if (file == value.end() || !file->is_string() ||
      !offset.is_number_unsigned() || !bytes.is_number_unsigned()) {
    return Fail(
        fmt::format("\"{}\" is neither hex nor file, offset, bytes", name));
  }
  const auto mapped = MappedFile::Open(file->get<std::string>());
  if (!mapped) {
    return Fail(fmt::format("\"{}\": {}: {}", name, mapped.error().code,
                            mapped.error().message));
  }
  const auto all = mapped->bytes();
  const auto from = offset.get<std::uint64_t>();
  const auto count = bytes.get<std::uint64_t>();
  if (from > all.size() || count > all.size() - from) {
    return Fail(fmt::format("\"{}\" reaches past the end of its file", name));
  }
  buffer.Resize(count);
  if (count > 0) std::memcpy(buffer.As<char>(), all.data() + from, count);
  if (mapped->Changed()) Fail("file-changed");
}

Buffer NumericCall::Read(const char* name) {
  Buffer buffer;
  buffer.Resize(0);
  const auto it = request_.find(name);
  if (it == request_.end() || !it->is_object()) {
    Fail(fmt::format("\"{}\" is missing or not a buffer", name));
    return buffer;
  }
  const auto hex = it->find("hex");
  if (hex == it->end()) {
    ReadFile(*it, name, buffer);
    return buffer;
  }
  const auto bytes = hex->is_string()
                         ? HexToBytes(hex->get_ref<const std::string&>())
                         : std::nullopt;
  if (!bytes) {
    Fail(fmt::format("\"{}\" has a malformed \"hex\"", name));
    return buffer;
  }
  buffer.Resize(bytes->size());
  std::memcpy(buffer.As<char>(), bytes->data(), bytes->size());
  return buffer;
}

void NumericCall::Expect(const char* name, const Buffer& buffer,
                         std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (Number("n", 0) % kBlock != 0) return;
  const auto ab = Product(a, b);
  const auto size = ab ? Product(*ab, c) : std::nullopt;
  if (size && *size == buffer.size) return;
  Fail(fmt::format("\"{}\" has {} bytes, which does not fit n, rows and cols",
                   name, buffer.size));
}

Buffer NumericCall::Output(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  Buffer buffer;
  buffer.Resize(0);
  const auto ab = Product(a, b);
  const auto size = ab ? Product(*ab, c) : std::nullopt;
  if (!size || *size > kMaxOutputBytes) {
    Fail("the output would be larger than 1 GiB");
    return buffer;
  }
  if (problem_.empty()) buffer.Resize(*size);
  return buffer;
}

// False if the request forces a code path that cannot be forced here.
bool NumericCall::SelectVariant() {
  const auto it = request_.find("variant");
  if (it == request_.end() || it->is_null()) return true;
  if (!it->is_string()) {
    Fail("\"variant\" is not a string");
    return false;
  }
  variant_name_ = it->get<std::string>();
  const char* const* names = implementation_.variants;
  for (; names != nullptr && *names != nullptr; ++names) {
    if (variant_name_ == *names) variant_ = *names;
  }
  if (variant_ == nullptr) {
    Fail(fmt::format("no variant {}", variant_name_));
    return false;
  }
  return true;
}

void NumericCall::Quantize(bool q8_1) {
  const std::uint64_t n = Number("n", 0), rows = Number("rows", 1);
  Buffer x = Read("x");
  Expect("x", x, n, rows, 4);
  Buffer y = Output(n / kBlock, rows, q8_1 ? kQ81Bytes : kQ80Bytes);
  if (!problem_.empty()) return;
  const auto quantize =
      q8_1 ? implementation_.q8_1_quantize : implementation_.q8_0_quantize;
  quantize(variant_, x.As<float>(), n, rows, y.As<std::uint8_t>(), &answer_);
  y_ = std::move(y);
}

void NumericCall::Dequantize() {
  const std::uint64_t n = Number("n", 0), rows = Number("rows", 1);
  Buffer x = Read("x");
  Expect("x", x, n / kBlock, rows, kQ80Bytes);
  Buffer y = Output(n, rows, 4);
  if (!problem_.empty()) return;
  implementation_.q8_0_dequantize(variant_, x.As<std::uint8_t>(), n, rows,
                                  y.As<float>(), &answer_);
  y_ = std::move(y);
}

void NumericCall::Dot() {
  const std::uint64_t n = Number("n", 0);
  Buffer w = Read("w"), x = Read("x");
  Expect("w", w, n / kBlock, kQ80Bytes, 1);
  Expect("x", x, n / kBlock, kQ80Bytes, 1);
  Buffer y = Output(1, 1, 4);
  if (n / kBlock > kMaxOutputBytes / 4) Fail("n is too large");
  if (!problem_.empty()) return;
  std::vector<std::int32_t> isum(n / kBlock + 1);
  implementation_.q8_0_dot(variant_, w.As<std::uint8_t>(), x.As<std::uint8_t>(),
                           n, y.As<float>(), isum.data(), &answer_);
  isum.resize(n / kBlock);
  if (answer_.row != -1) isum_ = std::move(isum);
  y_ = std::move(y);
}

void NumericCall::Matvec() {
  const std::uint64_t n = Number("n", 0), rows = Number("rows", 1),
                      cols = Number("cols", 1), threads = Number("threads", 1);
  const Json x_type = request_.value("x_type", Json("q8_0"));
  const bool floats = x_type == Json("f32");
  if (!floats && x_type != Json("q8_0")) Fail("\"x_type\" is not q8_0 or f32");
  if (threads == 0 || threads > 1024) Fail("\"threads\" is not 1 to 1024");
  Buffer w = Read("w"), x = Read("x");
  Expect("w", w, n / kBlock, rows, kQ80Bytes);
  Expect("x", x, floats ? n : n / kBlock, cols, floats ? 4 : kQ80Bytes);
  Buffer y = Output(rows, cols, 4);
  if (!problem_.empty()) return;
  implementation_.q8_0_matvec(
      variant_, w.As<std::uint8_t>(), floats ? nullptr : x.As<std::uint8_t>(),
      floats ? x.As<float>() : nullptr, n, rows, cols,
      static_cast<std::uint32_t>(threads), y.As<float>(), &answer_);
  y_ = std::move(y);
}

void NumericCall::Validate(bool q8_1) {
  const std::uint64_t n = Number("n", 0), rows = Number("rows", 1);
  Buffer x = Read("x");
  if (!problem_.empty()) return;
  const auto validate =
      q8_1 ? implementation_.q8_1_validate : implementation_.q8_0_validate;
  validate({x.As<std::uint8_t>(), x.size}, n, rows, &answer_);
}

void NumericCall::Convert(bool to_f32) {
  Buffer x = Read("x");
  const std::uint64_t width = to_f32 ? 2 : 4;
  if (x.size % width != 0) {
    Fail(fmt::format("\"x\" is not a multiple of {} bytes", width));
  }
  const std::uint64_t count = x.size / width;
  Buffer y = Output(count, to_f32 ? 4 : 2, 1);
  if (!problem_.empty()) return;
  if (to_f32) {
    implementation_.f16_to_f32(variant_, x.As<std::uint16_t>(), count,
                               y.As<float>(), &answer_);
  } else {
    implementation_.f16_from_f32(variant_, x.As<float>(), count,
                                 y.As<std::uint16_t>(), &answer_);
  }
  y_ = std::move(y);
}

Json NumericCall::Answer(Buffer* y) {
  Json json = FromAbi(answer_);
  const bool accepted =
      answer_.status == WP_STATUS_OK && answer_.verdict == WP_ACCEPT;
  if (!accepted || y == nullptr) return json;
  if (isum_) json["isum"] = *isum_;
  const std::string_view bytes(y->As<char>(), y->size);
  const Json out = request_.value("out", Json());
  if (!out.is_string()) {
    json["y"] = {{"hex", BytesToHex(bytes)}};
    return json;
  }
  std::FILE* file = std::fopen(out.get<std::string>().c_str(), "wbe");
  if (file == nullptr) return ErrorAnswer("\"out\" cannot be written");
  const bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !written) {
    return ErrorAnswer("\"out\" cannot be written");
  }
  json["y"] = {{"file", out}, {"offset", 0}, {"bytes", y->size}};
  return json;
}

Json NumericCall::Run(std::string_view operation) {
  if (!SelectVariant()) return ErrorAnswer(problem_);
  if (variant_ != nullptr && implementation_.variant_runs != nullptr &&
      implementation_.variant_runs(variant_) == 0) {
    return NotRunAnswer(
        fmt::format("this machine cannot run {}", variant_name_));
  }
  if (operation == "q8_0.quantize") Quantize(false);
  if (operation == "q8_1.quantize") Quantize(true);
  if (operation == "q8_0.dequantize") Dequantize();
  if (operation == "q8_0.dot") Dot();
  if (operation == "q8_0.matvec") Matvec();
  if (operation == "q8_0.validate") Validate(false);
  if (operation == "q8_1.validate") Validate(true);
  if (operation == "f16.from_f32") Convert(false);
  if (operation == "f16.to_f32") Convert(true);
  if (!problem_.empty()) return ErrorAnswer(problem_);
  return Answer(y_ ? &*y_ : nullptr);
}

}  // namespace

Json HostNumeric(const wp_implementation& implementation,
                 std::string_view operation, const Json& request) {
  return NumericCall(implementation, request).Run(operation);
}

}  // namespace weightproof::conformance
