// The table of `weightproof bench`, from programs that only pretend.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "build_paths.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;

class BenchTest : public testing::Test {
 protected:
  BenchTest() {
    build_ = fs::temp_directory_path() /
             fmt::format("weightproof.bench.{}", ::getpid());
    fs::create_directories(build_ / "bin");
    Program("q8_0_bench", "");
    Program("gguf_view_bench", "");
    Program("gguf_values_bench", "");
  }
  ~BenchTest() override { fs::remove_all(build_); }

  // A program that leaves results and ends with extra shell commands.
  void Program(const std::string& name, const std::string& results,
               const std::string& extra = "") {
    const fs::path path = build_ / "bin" / name;
    std::ofstream(path)
        << "#!/bin/sh\nfor word; do case $word in --benchmark_out=*) "
           "out=${word#*=};; esac; done\ncat >\"$out\" <<'END'\n"
        << "{\"benchmarks\": [" << results << "]}\nEND\n"
        << extra << "\n";
    fs::permissions(path, fs::perms::owner_all);
  }

  std::string Run(const std::string& arguments, int exit_code = 0) {
    const std::string command =
        fmt::format("WEIGHTPROOF_BUILD='{}' '{}/bin/weightproof' bench {} 2>&1",
                    build_.string(), WEIGHTPROOF_BINARY_DIR, arguments);
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    std::array<char, 4096> part;
    for (std::size_t got = 1; got > 0;) {
      got = std::fread(part.data(), 1, part.size(), pipe);
      text.append(part.data(), got);
    }
    const int status = pclose(pipe);
    EXPECT_EQ(WEXITSTATUS(status), exit_code) << text;
    return text;
  }

  fs::path build_;
};

constexpr char kDot[] =
    R"({"name":"dot","label":"dot, in L2|q8_0_avx2|ggml 0.23.0, haswell",
        "iterations":9,"ratio":1.5,"ratio_low":1.4,"ratio_high":1.6,
        "target":1.0})";
constexpr char kSlow[] =
    R"({"name":"slow","label":"dequantize|q8_0_avx2|fill loop",
        "iterations":3,"ratio":0.5,"ratio_low":0.4,"ratio_high":0.6,
        "target":0.9},
       {"name":"plain","label":"","iterations":3})";

TEST_F(BenchTest, SaysWhichTargetsAreMet) {
  Program("q8_0_bench", kDot);
  Program("gguf_view_bench", kSlow, "echo 'peer: NOT RUN: not here' >&2");
  const std::string text = Run("");
  EXPECT_THAT(text, HasSubstr("1.50 [1.40, 1.60]"));
  EXPECT_THAT(text, HasSubstr("MISSED"));
  EXPECT_THAT(text, HasSubstr("NOT RUN: peer: not here"));
  // q8_0_bench runs once for each of two instruction sets.
  EXPECT_THAT(text, HasSubstr("2 of 3 targets met"));
}

TEST_F(BenchTest, LeavesTheTableBesideTheReports) {
  Program("q8_0_bench", kDot);
  const Json said = Json::parse(Run("--json"));
  std::ifstream file(build_ / "report" / "bench.json");
  EXPECT_EQ(Json::parse(file), said);
  ASSERT_EQ(said["rows"].size(), 2u);
  EXPECT_EQ(said["rows"][0]["work"], "dot, in L2");
  EXPECT_EQ(said["rows"][0]["own"], "q8_0_avx2");
  EXPECT_EQ(said["rows"][0]["peer"], "ggml 0.23.0, haswell");
  EXPECT_EQ(said["rows"][0]["met"], true);
  EXPECT_TRUE(said["machine"]["flags"].is_array());
  EXPECT_EQ(said["not_run"], Json::array());
}

TEST_F(BenchTest, AProgramThatFailsIsAnError) {
  Program("q8_0_bench", kDot, "echo 'out of luck' >&2; exit 3");
  EXPECT_THAT(Run("", 5), HasSubstr("out of luck"));
  Program("q8_0_bench",
          R"({"name":"x","label":"a|b|c","error_occurred":true,
              "error_message":"not accepted"})");
  EXPECT_THAT(Run("", 5), HasSubstr("not accepted"));
  fs::remove(build_ / "bin" / "q8_0_bench");
  EXPECT_THAT(Run("", 5), HasSubstr("q8_0_bench"));
}

}  // namespace
}  // namespace weightproof::cli
