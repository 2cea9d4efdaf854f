// The built program, run as its users run it: what the tests of its commands
// share.
#ifndef WEIGHTPROOF_REPORTS_CLI_CLI_TESTING_H_
#define WEIGHTPROOF_REPORTS_CLI_CLI_TESTING_H_

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "build_paths.h"

namespace weightproof::cli {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

struct Result {
  int exit_code = -1;
  std::string out;
  std::string err;
};

inline std::string Slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Little-endian pieces of a GGUF file.
inline std::string U32(std::uint32_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
inline std::string U64(std::uint64_t value) {
  return U32(static_cast<std::uint32_t>(value)) +
         U32(static_cast<std::uint32_t>(value >> 32));
}
inline std::string Header(std::uint64_t tensors, std::uint64_t kvs) {
  return "GGUF" + U32(3) + U64(tensors) + U64(kvs);
}
inline std::string Kv(const std::string& key, std::uint32_t type,
                      const std::string& value) {
  return U64(key.size()) + key + U32(type) + value;
}
inline std::string Alignment(std::uint32_t value) {
  return Header(0, 1) + Kv("general.alignment", 4, U32(value));
}

class CliTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "weightproof_cli.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& contents) {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
    return (folder_ / name).string();
  }

  // Runs the program through a shell; arguments are shell text.
  Result Run(const std::string& arguments) {
    const std::string command = fmt::format(
        "cd {0} && {1}/bin/weightproof {2} >{0}/.out 2>{0}/.err </dev/null",
        folder_.string(), WEIGHTPROOF_BINARY_DIR, arguments);
    Result result;
    const int status = std::system(command.c_str());
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -status;
    result.out = Slurp(folder_ / ".out");
    result.err = Slurp(folder_ / ".err");
    return result;
  }

  Json CheckJson(const std::string& file, const std::string& options = "") {
    const Result result = Run("check --json " + options + " " + file);
    EXPECT_EQ(result.out.find('\n') + 1, result.out.size()) << result.out;
    return Json::parse(result.out, nullptr, false);
  }

  fs::path folder_;
};

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_CLI_TESTING_H_
