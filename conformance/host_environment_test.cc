// A foreign library that changes the floating-point environment when it is
// loaded: seen, undone and reported by the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "build_paths.h"

namespace weightproof::conformance {
namespace {

using Json = nlohmann::json;

TEST(HostEnvironment, WhatLoadingALibraryLeavesIsReportedAndUndone) {
  const std::string bytes(68, '0');
  const Json request = {
      {"id", 1}, {"op", "q8_0.dequantize"}, {"n", 32}, {"x", {{"hex", bytes}}}};
  const std::string command = fmt::format(
      "echo '{}' | '{}/bin/weightproof-host' '{}/lib/leaky_plugin.so'",
      request.dump(), WEIGHTPROOF_BINARY_DIR, WEIGHTPROOF_BINARY_DIR);
  std::FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::array<char, 4096> line{};
  ASSERT_NE(std::fgets(line.data(), line.size(), pipe), nullptr);
  EXPECT_EQ(pclose(pipe), 0);
  const Json answer = Json::parse(line.data());
  EXPECT_EQ(answer.value("fp_leak", "").substr(0, 9), "at load: ") << answer;
  // Undone: half of 2^-126 is there, 00400000.
  ASSERT_TRUE(answer.contains("y")) << answer;
  EXPECT_EQ(answer["y"]["hex"].get<std::string>().substr(0, 8), "00004000");
}

}  // namespace
}  // namespace weightproof::conformance
