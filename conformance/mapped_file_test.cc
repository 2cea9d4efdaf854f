#include "conformance/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace weightproof::conformance {
namespace {

class MappedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "mapped_file.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path Write(const std::string& contents) {
    const auto path = folder_ / "file";
    std::ofstream(path, std::ios::binary) << contents;
    return path;
  }
  std::string CodeOf(const std::filesystem::path& path) {
    const auto file = MappedFile::Open(path);
    return file ? "" : file.error().code;
  }

  std::filesystem::path folder_;
};

TEST_F(MappedFileTest, ReadsWhatIsThere) {
  const auto file = MappedFile::Open(Write("GGUF!"));
  ASSERT_TRUE(file);
  ASSERT_EQ(file->bytes().size(), 5u);
  EXPECT_EQ(file->bytes()[4], '!');
  EXPECT_FALSE(file->Changed());
}

TEST_F(MappedFileTest, AnEmptyFileIsAnEmptySpan) {
  const auto file = MappedFile::Open(Write(""));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->bytes().empty());
  EXPECT_FALSE(file->Changed());
}

TEST_F(MappedFileTest, RefusesWhatIsNotARegularFile) {
  EXPECT_EQ(CodeOf(folder_ / "missing"), "not-found");
  EXPECT_EQ(CodeOf(Write("x") / "below"), "not-found");
  EXPECT_EQ(CodeOf(folder_), "directory");
  EXPECT_EQ(CodeOf("/dev/null"), "not-a-file");
  const auto fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(CodeOf(fifo), "not-a-file");
}

TEST_F(MappedFileTest, AShrinkingFileReadsAsZerosAndIsReported) {
  const auto path = Write(std::string(1 << 20, 'x'));
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file);
  ASSERT_EQ(truncate(path.c_str(), 5000), 0);
  std::uint64_t sum = 0;
  for (const std::uint8_t byte : file->bytes()) sum += byte;
  EXPECT_EQ(sum, 5000u * 'x');
  EXPECT_TRUE(file->Changed());
}

TEST_F(MappedFileTest, AFileCutToNothingIsReported) {
  const auto path = Write(std::string(10000, 'x'));
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(file->bytes()[9999], 0);
  EXPECT_TRUE(file->Changed());
}

TEST_F(MappedFileTest, AGrowingFileIsReported) {
  const auto path = Write("GGUF");
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file);
  std::ofstream(path, std::ios::binary | std::ios::app) << "more";
  EXPECT_EQ(file->bytes().size(), 4u);
  EXPECT_TRUE(file->Changed());
}

TEST_F(MappedFileTest, MovesKeepTheGuard) {
  const auto path = Write(std::string(20000, 'x'));
  auto opened = MappedFile::Open(path);
  ASSERT_TRUE(opened);
  const MappedFile moved = std::move(*opened);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(moved.bytes()[19999], 0);
  EXPECT_TRUE(moved.Changed());
}

TEST_F(MappedFileTest, ForeignBusErrorsStillKill) {
  ASSERT_TRUE(MappedFile::Open(Write("x")));
  EXPECT_DEATH(raise(SIGBUS), "");
}

}  // namespace
}  // namespace weightproof::conformance
