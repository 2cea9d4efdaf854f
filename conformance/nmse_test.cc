// The page about error thresholds says what the program finds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "build_paths.h"

namespace weightproof::conformance {
namespace {

// The rows of the table by planted bug.
std::map<std::string, std::string> Rows(std::istream& text) {
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("| `q8_0_")) continue;
    rows[line.substr(3, line.find('`', 3) - 3)] = line;
  }
  return rows;
}

TEST(NmsePage, HoldsTheFiguresOfTheProgram) {
  std::ifstream page(WEIGHTPROOF_SOURCE_DIR "/reference/q8_0/NMSE.md");
  const auto written = Rows(page);
  ASSERT_GE(written.size(), 5u);
  std::string command = fmt::format(
      "'{0}/bin/q8_0_nmse' '{0}/lib/mutants' "
      "'{1}/conformance/vectors'",
      WEIGHTPROOF_BINARY_DIR, WEIGHTPROOF_SOURCE_DIR);
  for (const auto& [name, line] : written) command += " " + name;
  std::FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  std::array<char, 4096> part;
  for (std::size_t got = 1; got > 0;) {
    got = std::fread(part.data(), 1, part.size(), pipe);
    text.append(part.data(), got);
  }
  ASSERT_EQ(pclose(pipe), 0);
  std::istringstream output(text);
  const auto found = Rows(output);
  EXPECT_GE(found.size(), 4u) << text;
  int passed = 0;
  for (const auto& [name, line] : found) {
    EXPECT_EQ(written.at(name), line);
    passed += line.find("| passes |") != std::string::npos ? 1 : 0;
    EXPECT_EQ(line.find("| `` |"), std::string::npos) << line;
  }
  EXPECT_GE(passed, 4);
}

}  // namespace
}  // namespace weightproof::conformance
