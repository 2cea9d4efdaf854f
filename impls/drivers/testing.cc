#include "impls/drivers/testing.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "build_paths.h"

namespace weightproof::drivers {
namespace {

std::string Text(wp_slice slice) {
  return {reinterpret_cast<const char*>(slice.data), slice.size};
}

std::string& Out(void* context) { return *static_cast<std::string*>(context); }

// Writes what it receives after a space each; arrays in parentheses.
wp_gguf_sink TextSink(std::string& out) {
  wp_gguf_sink sink{};
  sink.context = &out;
  sink.header = [](void* c, const wp_gguf_header* header) {
    Out(c) += " v" + std::to_string(header->version);
    if (header->data_offset != WP_UNKNOWN) {
      Out(c) += " data@" + std::to_string(header->data_offset);
    }
  };
  sink.key = [](void* c, wp_slice key, std::uint32_t type) {
    Out(c) += " " + Text(key) + ":" + std::to_string(type) + "=";
  };
  sink.scalars = [](void* c, std::uint32_t type, const void* values,
                    std::uint64_t count) {
    constexpr int kWidth[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    Out(c) += Hex({static_cast<const char*>(values), kWidth[type] * count});
  };
  sink.string = [](void* c, wp_slice value) { Out(c) += Text(value) + ";"; };
  sink.array_begin = [](void* c, std::uint32_t type, std::uint64_t count) {
    Out(c) += std::to_string(type) + "x" + std::to_string(count) + "(";
  };
  sink.array_end = [](void* c) { Out(c) += ")"; };
  sink.tensor = [](void* c, const wp_gguf_tensor* tensor) {
    std::string& out = Out(c);
    out += " " + Text(tensor->name) + "[";
    for (std::uint32_t i = 0; i < tensor->n_dims; ++i) {
      out += (i == 0 ? "" : ",") + std::to_string(tensor->dims[i]);
    }
    out += "]" + std::to_string(tensor->type) + "@" +
           std::to_string(tensor->offset) + "+" + std::to_string(tensor->size);
  };
  sink.policy = [](void* c, const char* rule) {
    Out(c) += " policy " + std::string(rule);
  };
  return sink;
}

wp_answer NoAnswer() {
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  return answer;
}

wp_gguf_input Input(const std::string& bytes, const TempFile& file) {
  wp_gguf_input input{};
  input.data = {reinterpret_cast<const std::uint8_t*>(bytes.data()),
                bytes.size()};
  input.file_size = bytes.size();
  input.path = file.path().c_str();
  return input;
}

}  // namespace

std::optional<std::string> Installed(std::string_view folder,
                                     std::string& why) {
  const std::filesystem::path build = WEIGHTPROOF_BINARY_DIR;
  std::vector<std::filesystem::path> places = {build / "drivers",
                                               build / "../drivers"};
  if (const char* const set = std::getenv("WEIGHTPROOF_DRIVERS")) {
    places = {set};
  }
  for (const auto& place : places) {
    if (std::filesystem::exists(place / folder / "stamp")) {
      return (place / folder).string();
    }
  }
  why = "NOT RUN: " + std::string(folder) + " is not installed in " +
        places.front().string();
  return std::nullopt;
}

const wp_implementation* OpenPlugin(const std::string& name,
                                    const std::string& arguments,
                                    std::string& error) {
  const std::string path =
      std::string(WEIGHTPROOF_BINARY_DIR) + "/lib/" + name + ".so";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    error = dlerror();
    return nullptr;
  }
  const auto open = reinterpret_cast<wp_open_function>(
      dlsym(library, "wp_implementation_open"));
  char text[512] = "";
  const wp_implementation* const opened =
      open(arguments.c_str(), text, sizeof text);
  error = text;
  return opened;
}

TempFile::TempFile(const std::string& bytes) {
  std::string name =
      (std::filesystem::temp_directory_path() / "wp_driver_XXXXXX").string();
  const int fd = mkstemp(name.data());
  if (fd >= 0) close(fd);
  path_ = name;
  std::ofstream(path_, std::ios::binary) << bytes;
}

TempFile::~TempFile() { std::remove(path_.c_str()); }

std::string U32(std::uint32_t value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

std::string U64(std::uint64_t value) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &value, 8);
  return bytes;
}

std::string GgufString(std::string_view text) {
  return U64(text.size()) + std::string(text);
}

std::string GgufHeader(std::uint64_t tensors, std::uint64_t kvs) {
  return "GGUF" + U32(3) + U64(tensors) + U64(kvs);
}

std::string EmptyGguf() { return GgufHeader(0, 0); }

std::string OneTensorGguf() {
  std::string bytes = GgufHeader(1, 1) + GgufString("general.name") + U32(8) +
                      GgufString("x") + GgufString("t") + U32(1) + U64(8) +
                      U32(0) + U64(0);
  bytes.resize((bytes.size() + 31) / 32 * 32);
  for (int i = 0; i < 8; ++i) {
    const auto value = static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

std::string BadMagicGguf() { return "GGUX" + OneTensorGguf().substr(4); }

std::string Describe(const wp_answer& answer) {
  constexpr const char* kStatus[] = {"", "not-implemented", "not-run"};
  constexpr const char* kVerdict[] = {"accept", "reject", "unsupported",
                                      "limit"};
  std::string text = answer.status == WP_STATUS_OK ? kVerdict[answer.verdict]
                                                   : kStatus[answer.status];
  if (answer.detail[0] != '\0') text += ": " + std::string(answer.detail);
  return text;
}

std::string Parse(const wp_implementation& implementation,
                  const std::string& bytes) {
  const TempFile file(bytes);
  std::string out;
  const wp_gguf_sink sink = TextSink(out);
  const wp_gguf_input input = Input(bytes, file);
  wp_answer answer = NoAnswer();
  implementation.gguf_parse(&input, &sink, &answer);
  return Describe(answer) + out;
}

std::string ReadTensor(const wp_implementation& implementation,
                       const std::string& bytes, std::uint64_t index) {
  const TempFile file(bytes);
  std::string out;
  const wp_bytes_sink sink{
      &out, [](void* context, const void* data, std::uint64_t size) {
        Out(context).append(static_cast<const char*>(data), size);
      }};
  const wp_gguf_input input = Input(bytes, file);
  wp_answer answer = NoAnswer();
  implementation.gguf_tensor(&input, index, &sink, &answer);
  return Describe(answer) + (out.empty() ? "" : " " + Hex(out));
}

std::string Get(const wp_implementation& implementation,
                const std::string& bytes, std::string_view key,
                std::uint32_t type) {
  const TempFile file(bytes);
  std::string out;
  const wp_gguf_sink sink = TextSink(out);
  const wp_gguf_input input = Input(bytes, file);
  const wp_slice slice{reinterpret_cast<const std::uint8_t*>(key.data()),
                       key.size()};
  wp_answer answer = NoAnswer();
  implementation.gguf_get(&input, slice, type, &sink, &answer);
  return Describe(answer) + out;
}

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace weightproof::drivers
