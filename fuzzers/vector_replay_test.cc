// The bytes of every committed vector, through every oracle of its format; and
// what must be refused as a corpus.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "build_paths.h"
#include "conformance/vector.h"
#include "fuzzers/corpus_folder.h"
#include "fuzzers/q8_0/case.h"
#include "fuzzers/q8_0/oracle.h"
#include "fuzzers/target.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;

TEST(VectorReplay, EveryOracleHoldsOnEveryFile) {
  const auto set = conformance::LoadVectors(fs::path(WEIGHTPROOF_SOURCE_DIR) /
                                            "conformance" / "vectors");
  ASSERT_TRUE(set.has_value());
  const Target* target = FindTarget("gguf_diff");
  ASSERT_NE(target, nullptr);
  const Subjects subjects = target->subjects();
  int replayed = 0;
  for (const conformance::Vector& vector : set->vectors) {
    if (vector.format != "gguf" || vector.bytes.Size() > (1 << 18)) continue;
    const auto bytes = vector.bytes.Materialize(1 << 18);
    ASSERT_TRUE(bytes.has_value());
    // Large ones are asked a share of the questions.
    const Depth depth = bytes->size() <= 8192 ? Depth::kAll : Depth::kSampled;
    const Execution execution = target->run(subjects, *bytes, depth);
    ++replayed;
    if (execution.finding) {
      ADD_FAILURE() << vector.id << ": " << BucketOf(*execution.finding) << "\n"
                    << execution.finding->description;
    }
  }
  EXPECT_GT(replayed, 700);
}

TEST(VectorReplay, TheOracleHoldsOnEveryNumericRequest) {
  const auto set = conformance::LoadVectors(fs::path(WEIGHTPROOF_SOURCE_DIR) /
                                            "conformance" / "vectors");
  ASSERT_TRUE(set.has_value());
  const Target* target = FindTarget("q8_0_diff");
  ASSERT_NE(target, nullptr);
  const Subjects subjects = target->subjects();
  int replayed = 0;
  for (const conformance::Vector& vector : set->vectors) {
    if (vector.format != "q8_0") continue;
    const auto input = Q80CaseOf(vector);
    ASSERT_TRUE(input.has_value()) << input.error();
    if (input->w.size() + input->x.size() > (1 << 16)) continue;
    const Execution execution = CheckQ80Case(subjects, *input, Depth::kAll);
    ++replayed;
    EXPECT_FALSE(execution.finding.has_value())
        << vector.id << ": " << BucketOf(*execution.finding) << "\n"
        << execution.finding->description;
  }
  EXPECT_GT(replayed, 150);
}

TEST(VectorReplay, NamesAVectorThatIsNoNumericRequest) {
  conformance::Vector vector;
  vector.id = "v";
  vector.format = "q8_0";
  vector.operation = "q8_0.forget";
  vector.request = conformance::Json::object();
  EXPECT_FALSE(Q80CaseOf(vector).has_value());
}

class CorpusFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("corpus_folder_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void Put(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string Error() {
    const auto loaded = LoadCorpus(folder_);
    return loaded ? "" : loaded.error();
  }
  fs::path folder_;
};

TEST_F(CorpusFolder, IsRefusedIfMissingOrEmpty) {
  EXPECT_NE(Error().find("holds no input"), std::string::npos);
  fs::remove_all(folder_);
  EXPECT_NE(Error().find("No such file"), std::string::npos);
}

TEST_F(CorpusFolder, NamesTheEntryThatIsNoFile) {
  Put("a", "x");
  fs::create_directory(folder_ / "b");
  EXPECT_NE(Error().find("/b: is not a regular file"), std::string::npos);
  fs::remove(folder_ / "b");
  ASSERT_EQ(mkfifo((folder_ / "c").c_str(), 0600), 0);
  EXPECT_NE(Error().find("/c: is not a regular file"), std::string::npos);
  fs::remove(folder_ / "c");
  fs::create_symlink("nowhere", folder_ / "d");
  EXPECT_NE(Error().find("/d: No such file"), std::string::npos);
  fs::remove(folder_ / "d");
  fs::create_symlink("e", folder_ / "e");
  EXPECT_NE(Error().find("/e: Too many levels of symbolic links"),
            std::string::npos);
}

TEST_F(CorpusFolder, NamesTheEntryThatIsEnormous) {
  Put("a", "x");
  Put("z", "");
  fs::resize_file(folder_ / "z", std::uint64_t{1} << 40);
  EXPECT_NE(Error().find("/z: has 1099511627776 bytes"), std::string::npos);
}

TEST_F(CorpusFolder, LoadsInNameOrder) {
  Put("b", "second");
  Put("a", "");
  const auto loaded = LoadCorpus(folder_);
  ASSERT_TRUE(loaded.has_value());
  ASSERT_EQ(loaded->size(), 2u);
  EXPECT_EQ((*loaded)[0].name, "a");
  EXPECT_EQ((*loaded)[1].bytes.size(), 6u);
}

TEST_F(CorpusFolder, SaysThatTheDiskIsFull) {
  if (!fs::exists("/dev/full")) FAIL() << "no /dev/full on this system";
  fs::create_symlink("/dev/full",
                     folder_ / ("x." + std::to_string(getpid()) + ".part"));
  const Bytes bytes = {1, 2, 3};
  const auto stored = StoreFile(folder_ / "x", bytes);
  ASSERT_FALSE(stored.has_value());
  EXPECT_NE(stored.error().find("No space left on device"), std::string::npos);
}

}  // namespace
}  // namespace weightproof::fuzzers
