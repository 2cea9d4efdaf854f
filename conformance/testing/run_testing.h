// What tests of the runner share.
#ifndef WEIGHTPROOF_CONFORMANCE_TESTING_RUN_TESTING_H_
#define WEIGHTPROOF_CONFORMANCE_TESTING_RUN_TESTING_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "build_paths.h"
#include "conformance/runner.h"

namespace weightproof::conformance {

// A run in a folder of its own, with the programs of this build.
class RunTest : public testing::Test {
 protected:
  RunTest() {
    char pattern[] = "/tmp/weightproof_run_XXXXXX";
    root_ = mkdtemp(pattern);
    options_.source_dir = WEIGHTPROOF_SOURCE_DIR;
    options_.build_dir = root_ / "build";
    options_.drivers_dir = root_ / "drivers";
    std::filesystem::create_directories(options_.build_dir);
    std::filesystem::create_directories(options_.drivers_dir);
    std::filesystem::create_directory_symlink(
        std::filesystem::path(WEIGHTPROOF_BINARY_DIR) / "bin",
        options_.build_dir / "bin");
  }
  ~RunTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  RunResult RunIt() {
    RunObserver observer;
    auto result = conformance::Run(options_, observer);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : RunResult{};
  }
  RunError ErrorOf() {
    RunObserver observer;
    auto result = conformance::Run(options_, observer);
    EXPECT_FALSE(result);
    return result ? RunError{0, ""} : result.error();
  }
  static const Row* Find(const RunResult& result,
                         const std::string& implementation,
                         const std::string& vector) {
    for (const Row& row : result.rows) {
      if (row.implementation == implementation && row.vector == vector) {
        return &row;
      }
    }
    return nullptr;
  }
  static std::vector<std::string> Lines(const RunResult& result) {
    std::vector<std::string> lines;
    for (const Row& row : result.rows) {
      lines.push_back(row.implementation + " " + row.vector + " " +
                      row.variant + " " +
                      std::to_string(static_cast<int>(row.outcome)) + " " +
                      row.verdict + " " + row.reason);
    }
    return lines;
  }

  std::filesystem::path root_;
  RunOptions options_;
};

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_TESTING_RUN_TESTING_H_
