// A complete Weightproof driver in C++: converts f16 and dequantizes Q8_0, with
// one planted bug. Build it with any JSON library; this one is nlohmann's.
#include <bit>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using Json = nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

namespace {

Bytes FromHex(const std::string& hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

void AppendF32(float value, std::string& hex) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[bits >> (shift + 4) & 15];
    hex += kDigits[bits >> shift & 15];
  }
}

float FromHalf(std::uint8_t low, std::uint8_t high) {
  const int exponent = high >> 2 & 31;
  const int mantissa = (high & 3) << 8 | low;
  float value = 0;
  if (exponent == 31) {
    value = mantissa == 0 ? INFINITY : NAN;
  } else if (exponent > 0) {
    value = std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  }  // The planted bug: subnormal halves become zero.
  return high >> 7 != 0 ? -value : value;
}

Json Answer(const Json& request) {
  const std::string op = request.at("op");
  if (op == "hello") {
    return {{"protocol", 1},
            {"name", "toy_q8_0"},
            {"version", "1"},
            {"language", "C++"},
            {"operations", {"f16.to_f32", "q8_0.dequantize"}}};
  }
  if (!request.at("x").contains("hex")) {
    return {{"status", "not-run"}, {"why", "reads no files"}};
  }
  const Bytes x = FromHex(request.at("x").at("hex"));
  std::string y;
  if (op == "f16.to_f32") {
    for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
      AppendF32(FromHalf(x[i], x[i + 1]), y);
    }
  } else {
    if (request.at("n").get<std::uint64_t>() % 32 != 0) {
      return {{"status", "ok"}, {"verdict", "reject"}};
    }
    for (std::size_t block = 0; block + 34 <= x.size(); block += 34) {
      const float d = FromHalf(x[block], x[block + 1]);
      for (std::size_t i = 2; i < 34; ++i) {
        AppendF32(static_cast<std::int8_t>(x[block + i]) * d, y);
      }
    }
  }
  return {{"status", "ok"}, {"verdict", "accept"}, {"y", {{"hex", y}}}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = Json::parse(line);
    Json answer = Answer(request);
    answer["id"] = request.at("id");
    std::cout << answer.dump() << std::endl;
  }
}
