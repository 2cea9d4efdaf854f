// gguf.write: contents as a dump into a file.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "conformance/dump_value.h"
#include "conformance/host.h"

namespace weightproof::conformance {
namespace {

// Little-endian bytes of a file of version 3.
class Encoder {
 public:
  bool Fail(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
    return false;
  }
  const std::string& problem() const { return problem_; }
  std::string& out() { return out_; }

  void Int(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) {
      out_ += static_cast<char>(value >> (8 * i));
    }
  }
  void Text(std::string_view text) {
    Int(text.size(), 8);
    out_ += text;
  }
  void Pad(std::uint64_t alignment) {
    while (out_.size() % alignment != 0) out_ += '\0';
  }

  bool Value(std::uint32_t type, const Json& value) {
    constexpr std::array<int, 13> kWidths = {1, 1, 2, 2, 4, 4, 4,
                                             1, 0, 0, 8, 8, 8};
    if (type == 8) {
      const auto text = StringFromJson(value);
      if (!text) return Fail("a string is neither text nor hex");
      Text(*text);
      return true;
    }
    if (type == 9) return Array(value);
    const auto bits = Bits(value);
    if (!bits) return Fail("not a number: " + value.dump());
    Int(*bits, kWidths[type]);
    return true;
  }

 private:
  // Integers, booleans, and floats given by their bits.
  static std::optional<std::uint64_t> Bits(const Json& value) {
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    if (value.is_number_integer()) {
      return static_cast<std::uint64_t>(value.get<std::int64_t>());
    }
    if (!value.is_string()) return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    char* end = nullptr;
    const std::uint64_t bits =
        text.starts_with('-')
            ? static_cast<std::uint64_t>(std::strtoll(text.c_str(), &end, 0))
            : std::strtoull(text.c_str(), &end, 0);
    if (text.empty() || *end != '\0') return std::nullopt;
    return bits;
  }

  bool Array(const Json& value) {
    const Json elem = value.is_object() ? value.value("elem", Json()) : Json();
    const Json items =
        value.is_object() ? value.value("items", Json()) : Json();
    const auto type =
        elem.is_string() ? TypeFromName(elem.get<std::string>()) : std::nullopt;
    if (!type || !items.is_array()) return Fail("an array is not complete");
    Int(*type, 4);
    Int(items.size(), 8);
    for (const Json& item : items) {
      if (!Value(*type, item)) return false;
    }
    return true;
  }

  std::string out_;
  std::string problem_;
};

std::uint64_t Number(const Json& json) {
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (!json.is_string()) return 0;
  return std::strtoull(json.get_ref<const std::string&>().c_str(), nullptr, 10);
}

std::string FromHex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out +=
        static_cast<char>(std::strtoul(hex.substr(i, 2).c_str(), nullptr, 16));
  }
  return out;
}

}  // namespace

std::expected<std::string, std::string> EncodeContents(const Json& request) {
  const Json dump = request.value("dump", Json());
  const Json data = request.value("data", Json::array());
  if (!dump.is_object() || !dump.contains("kv") || !dump.contains("tensors") ||
      data.size() != dump["tensors"].size()) {
    return std::unexpected("\"dump\" has no kv and tensors with their data");
  }
  const std::uint64_t alignment =
      dump.contains("alignment") ? Number(dump["alignment"]) : 32;
  if (alignment == 0) return std::unexpected("\"alignment\" is 0");
  Encoder file;
  file.out() = "GGUF";
  file.Int(3, 4);
  file.Int(dump["tensors"].size(), 8);
  file.Int(dump["kv"].size(), 8);
  for (const Json& kv : dump["kv"]) {
    const auto key = StringFromJson(kv.value("key", Json()));
    const auto type = TypeFromName(kv.value("type", ""));
    if (!key || !type) return std::unexpected("a kv has no key or type");
    file.Text(*key);
    file.Int(*type, 4);
    if (!file.Value(*type, kv.value("value", Json()))) {
      return std::unexpected(file.problem());
    }
  }
  Encoder bytes;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const Json& tensor = dump["tensors"][i];
    file.Text(tensor.value("name", ""));
    const Json dims = tensor.value("dims", Json::array());
    file.Int(dims.size(), 4);
    for (const Json& dim : dims) file.Int(Number(dim), 8);
    file.Int(Number(tensor.value("type", Json())), 4);
    file.Int(bytes.out().size(), 8);
    bytes.out() += FromHex(data[i].value("hex", ""));
    bytes.Pad(alignment);
  }
  if (!data.empty()) file.Pad(alignment);
  return file.out() + bytes.out();
}

Json HostGgufWrite(const wp_implementation& implementation,
                   const Json& request) {
  const Json out = request.value("out", Json());
  if (!out.is_string()) return ErrorAnswer("\"out\" is missing");
  const auto contents = EncodeContents(request);
  if (!contents) return ErrorAnswer(contents.error());
  wp_gguf_input input = {};
  input.data = {reinterpret_cast<const std::uint8_t*>(contents->data()),
                contents->size()};
  input.file_size = contents->size();
  wp_answer answer = EmptyAnswer();
  implementation.gguf_write(&input, out.get<std::string>().c_str(), &answer);
  return FromAbi(answer);
}

}  // namespace weightproof::conformance
