#include "corpus/bytes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <limits>

namespace weightproof::corpus {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

class BytesFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "bytesXXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<std::uint8_t> Read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    EXPECT_TRUE(in.is_open());
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder_;
};

const Bytes kMixed{{Literal{{1, 2, 3}}, Zero{2}, Repeat{{7, 8}, 3},
                    Repeat{{}, 9}, Repeat{{5}, 0}, Literal{{}}, Zero{0}}};
const std::vector<std::uint8_t> kMixedBytes = {1, 2, 3, 0, 0, 7, 8, 7, 8, 7, 8};

TEST(Bytes, SizeIsTheSumOfTheChunks) {
  EXPECT_EQ(Bytes{}.Size(), 0u);
  EXPECT_EQ(kMixed.Size(), 11u);
  EXPECT_EQ((Bytes{{Zero{std::uint64_t{1} << 40}, Literal{{1}}}}.Size()),
            (std::uint64_t{1} << 40) + 1);
}

TEST(Bytes, SizeSaturates) {
  EXPECT_EQ((Bytes{{Zero{kMax}, Literal{{1}}}}.Size()), kMax);
  EXPECT_EQ((Bytes{{Repeat{{1, 2}, std::uint64_t{1} << 63}}}.Size()), kMax);
  EXPECT_EQ((Bytes{{Repeat{{1, 2}, (std::uint64_t{1} << 63) + 5}}}.Size()),
            kMax);
}

TEST(Bytes, MaterializesInOrder) {
  const auto got = kMixed.Materialize(11);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*got, kMixedBytes);
}

TEST(Bytes, RefusesToMaterializeMoreThanAllowed) {
  const auto got = kMixed.Materialize(10);
  ASSERT_FALSE(got.has_value());
  EXPECT_NE(got.error().find("11 bytes"), std::string::npos);
  EXPECT_FALSE((Bytes{{Zero{kMax}}}.Materialize(1 << 20)).has_value());
}

TEST_F(BytesFile, WritesWhatMaterializeGives) {
  const auto path = folder_ / "mixed";
  ASSERT_TRUE(kMixed.WriteFile(path).has_value());
  EXPECT_EQ(Read(path), kMixedBytes);
  ASSERT_TRUE(Bytes{}.WriteFile(path).has_value()) << "replaces what was there";
  EXPECT_TRUE(Read(path).empty());
}

TEST_F(BytesFile, WritesLongRepeatsWhole) {
  for (const std::uint64_t n : {21845u, 21846u, 65537u}) {
    const Bytes bytes{{Literal{{9}}, Repeat{{1, 2, 3}, n}, Literal{{9}}}};
    ASSERT_TRUE(bytes.WriteFile(folder_ / "long").has_value());
    EXPECT_EQ(Read(folder_ / "long"), *bytes.Materialize(1 << 20)) << n;
  }
}

TEST_F(BytesFile, HolesTakeNoSpace) {
  const auto path = folder_ / "sparse";
  const std::uint64_t tera = std::uint64_t{1} << 40;
  const Bytes bytes{{Literal{{1}}, Zero{tera}, Literal{{2}}, Zero{tera}}};
  const auto written = bytes.WriteFile(path);
  ASSERT_TRUE(written.has_value()) << written.error();
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(info.st_size), 2 * tera + 2);
  EXPECT_LT(info.st_blocks * 512, 1 << 20);
}

TEST_F(BytesFile, ErrorsNameThePath) {
  const auto missing = folder_ / "no" / "such" / "folder";
  const auto a = kMixed.WriteFile(missing);
  ASSERT_FALSE(a.has_value());
  EXPECT_NE(a.error().find(missing.string()), std::string::npos);

  const auto b = Bytes{{Zero{kMax}}}.WriteFile(folder_ / "huge");
  ASSERT_FALSE(b.has_value());
  EXPECT_NE(b.error().find("huge"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "huge"));
}

TEST_F(BytesFile, AFullDeviceIsAnError) {
  const auto got = kMixed.WriteFile("/dev/full");
  ASSERT_FALSE(got.has_value());
  EXPECT_NE(got.error().find("/dev/full"), std::string::npos);
}

}  // namespace
}  // namespace weightproof::corpus
