// ggml's libraries for AArch64: a driver of its own, cross-compiled and run by
// qemu-aarch64 where the machine is another one.
//
//   driver_ggml_arm64 DIR NAME      libggml-base.so, libggml-cpu-NAME.so of DIR
#include <dlfcn.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/abi.h"
#include "impls/drivers/ggml/api.h"
#include "impls/drivers/ggml/q8_0.h"

namespace weightproof::drivers::ggml {
namespace {

using Json = nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

// Room behind what is handed out: kernels take lengths as they come.
constexpr std::size_t kSlack = 64;

int Digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

Bytes Read(const Json& buffer) {
  Bytes bytes;
  if (buffer.contains("hex")) {
    const auto& hex = buffer["hex"].get_ref<const std::string&>();
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      bytes.push_back(
          static_cast<std::uint8_t>(Digit(hex[i]) << 4 | Digit(hex[i + 1])));
    }
  } else {
    std::ifstream in(buffer.at("file").get<std::string>(), std::ios::binary);
    in.seekg(buffer.at("offset").get<std::int64_t>());
    bytes.resize(buffer.at("bytes").get<std::size_t>());
    in.read(reinterpret_cast<char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  }
  return bytes;
}

Json Result(const Json& request, const wp_answer& answer, const Bytes& y,
            std::size_t size) {
  if (answer.status == WP_STATUS_NOT_RUN) {
    return {{"status", "not-run"}, {"why", answer.detail}};
  }
  Json result = {{"status", "ok"}, {"verdict", "accept"}};
  if (request.contains("out")) {
    const std::string path = request["out"];
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(y.data()),
               static_cast<std::streamsize>(size));
    result["y"] = {{"file", path}, {"offset", 0}, {"bytes", size}};
    return result;
  }
  std::string hex;
  for (std::size_t i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[y[i] >> 4];
    hex += "0123456789abcdef"[y[i] & 15];
  }
  result["y"] = {{"hex", hex}};
  return result;
}

Json Answer(const wp_implementation& ggml, const Json& request) {
  const std::string op = request.at("op");
  const std::uint64_t n = request.value("n", std::uint64_t{0});
  const std::uint64_t rows = request.value("rows", std::uint64_t{1});
  Bytes x = Read(request.at("x"));
  const std::uint64_t given = x.size();
  x.resize(given + kSlack);
  const auto* floats = reinterpret_cast<const float*>(x.data());
  const bool q8_1 = op == "q8_1.quantize";
  const std::size_t size = op == "q8_0.dot"       ? 4
                           : op == "f16.from_f32" ? given / 2
                           : op == "f16.to_f32"
                               ? given * 2
                               : n / 32 * rows * (q8_1 ? 36 : 34);
  Bytes y(size + kSlack);
  auto* out = reinterpret_cast<float*>(y.data());
  wp_answer answer{};
  if (op == "q8_0.dot") {
    Bytes w = Read(request.at("w"));
    w.resize(w.size() + kSlack);
    ggml.q8_0_dot(nullptr, w.data(), x.data(), n, out, nullptr, &answer);
  } else if (op == "f16.from_f32") {
    ggml.f16_from_f32(nullptr, floats, given / 4,
                      reinterpret_cast<std::uint16_t*>(y.data()), &answer);
  } else if (op == "f16.to_f32") {
    ggml.f16_to_f32(nullptr, reinterpret_cast<const std::uint16_t*>(x.data()),
                    given / 2, out, &answer);
  } else {
    (q8_1 ? ggml.q8_1_quantize : ggml.q8_0_quantize)(nullptr, floats, n, rows,
                                                     y.data(), &answer);
  }
  return Result(request, answer, y, size);
}

int Serve(const wp_implementation& ggml, const char* version) {
  const Json hello = {{"protocol", 1},
                      {"name", "ggml-arm64"},
                      {"version", version},
                      {"language", "C++"},
                      {"operations",
                       {"q8_0.quantize", "q8_1.quantize", "q8_0.dot",
                        "f16.from_f32", "f16.to_f32"}},
                      {"verdicts", {"accept"}},
                      {"dump", Json::array()},
                      {"variants", Json::array()},
                      {"profile", nullptr}};
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = Json::parse(line);
    Json answer = {{"status", "not-implemented"}};
    if (request.at("op") == "hello") {
      answer = hello;
    } else if (std::ranges::find(hello["operations"], request["op"]) !=
               hello["operations"].end()) {
      answer = Answer(ggml, request);
    }
    answer["id"] = request.at("id");
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

int Main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: driver_ggml_arm64 DIR NAME\n";
    return 2;
  }
  const std::string dir = argv[1];
  void* const base =
      dlopen((dir + "/libggml-base.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (base == nullptr) {
    std::cerr << dlerror() << '\n';
    return 2;
  }
  const auto version =
      reinterpret_cast<const char* (*)()>(dlsym(base, "ggml_version"));
  const auto cpu = LoadCpu(dir, argv[2]);
  if (!cpu || version == nullptr) {
    std::cerr << (cpu ? "no ggml_version" : cpu.error()) << '\n';
    return 2;
  }
  return Serve(*CpuImplementation({}, *cpu, argv[2]), version());
}

}  // namespace
}  // namespace weightproof::drivers::ggml

int main(int argc, char** argv) {
  return weightproof::drivers::ggml::Main(argc, argv);
}
