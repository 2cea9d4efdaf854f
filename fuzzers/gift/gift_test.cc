// The gift can be unpacked by the tools that it is for.
#include "fuzzers/gift/gift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "build_paths.h"
#include "fuzzers/gift/zip.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Gift : public ::testing::Test {
 protected:
  Gift()
      : dir_(fs::path(::testing::TempDir()) /
             ("gift" + std::to_string(getpid()))) {
    fs::remove_all(dir_);
  }
  ~Gift() override { fs::remove_all(dir_); }

  static std::string Read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path dir_;
};

const std::vector<CorpusInput> kSeeds = {{"one", {'G', 'G', 0}}, {"two", {}}};

TEST_F(Gift, HasBothLayouts) {
  const std::string dict = "# tokens\nmagic=\"GGUF\"\nlong=\"\\xff\\xff\"\n";
  const auto done = WriteGift(dir_, "reader", kSeeds, dict);
  ASSERT_TRUE(done.has_value()) << done.error();
  EXPECT_EQ(Read(dir_ / "oss-fuzz/reader.dict"), dict);
  EXPECT_EQ(Read(dir_ / "cargo-fuzz/fuzz/reader.dict"), dict);
  EXPECT_EQ(Read(dir_ / "cargo-fuzz/fuzz/corpus/reader/one"),
            std::string("GG\0", 3));
  EXPECT_THAT(Read(dir_ / "README.md"), HasSubstr("2 small files"));
  // Another reader of archives.
  const std::string command = "cd '" + dir_.string() +
                              "' && python3 -m zipfile -t oss-fuzz/"
                              "reader_seed_corpus.zip >/dev/null && "
                              "python3 -m zipfile -e oss-fuzz/"
                              "reader_seed_corpus.zip out";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(Read(dir_ / "out/one"), std::string("GG\0", 3));
  EXPECT_TRUE(fs::exists(dir_ / "out/two"));
}

TEST_F(Gift, IsTheSameEveryTime) {
  EXPECT_EQ(*ZipStored(kSeeds), *ZipStored(kSeeds));
}

TEST_F(Gift, NamesWhatIsWrong) {
  EXPECT_THAT(WriteGift(dir_, "t", kSeeds, "x=\"\\q\"\n").error(),
              HasSubstr("dictionary"));
  EXPECT_THAT(WriteGift(dir_, "../t", kSeeds, "").error(),
              HasSubstr("not a name"));
  EXPECT_THAT(WriteGift(dir_, "t", {}, "").error(), HasSubstr("no seeds"));
  std::ofstream(dir_.string()) << "a file where the folder should be";
  EXPECT_FALSE(WriteGift(dir_, "t", kSeeds, "").has_value());
}

TEST_F(Gift, TakesEachSeedOnce) {
  const auto set =
      conformance::LoadVectors(WEIGHTPROOF_SOURCE_DIR "/conformance/vectors");
  ASSERT_TRUE(set.has_value());
  const auto seeds = GiftSeeds(kSeeds, *set);
  EXPECT_GT(seeds.size(), 500u);
  for (std::size_t i = 1; i < seeds.size(); ++i) {
    EXPECT_LT(seeds[i - 1].name, seeds[i].name);
    EXPECT_LE(seeds[i].bytes.size(), 16384u);
  }
}

}  // namespace
}  // namespace weightproof::fuzzers
