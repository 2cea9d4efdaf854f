#include "reports/excerpt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weightproof::reports {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

corpus::Bytes Chunks() {
  return {{corpus::Literal{{0x47, 0x47}}, corpus::Repeat{{1, 2, 3}, 100},
           corpus::Zero{std::uint64_t{1} << 40}, corpus::Literal{{9}}}};
}

TEST(Slice, CrossesChunks) {
  EXPECT_THAT(Slice(Chunks(), 0, 4), ElementsAre(0x47, 0x47, 1, 2));
  EXPECT_THAT(Slice(Chunks(), 300, 4), ElementsAre(2, 3, 0, 0));
  EXPECT_THAT(Slice(Chunks(), (std::uint64_t{1} << 40) + 301, 9),
              ElementsAre(0, 9));
  EXPECT_THAT(Slice(Chunks(), std::uint64_t{1} << 41, 9), ElementsAre());
}

TEST(MakeExcerpt, ShowsTheOffsetInTheMiddle) {
  const Json excerpt = MakeExcerpt("gguf", Chunks(), 200);
  EXPECT_EQ(excerpt["start"], 160);
  EXPECT_EQ(excerpt["at"], 200);
  EXPECT_EQ(excerpt["hex"].get<std::string>().size(), 128u);
}

TEST(MakeExcerpt, HandlesOffsetsAtAndPastTheEnd) {
  const corpus::Bytes five = {{corpus::Literal{{1, 2, 3, 4, 5}}}};
  for (const std::uint64_t at : {std::uint64_t{5}, UINT64_MAX}) {
    const Json excerpt = MakeExcerpt("gguf", five, at);
    EXPECT_EQ(excerpt["start"], 0);
    EXPECT_EQ(excerpt["hex"], "0102030405");
  }
  const Json empty = MakeExcerpt("gguf", {}, 0);
  EXPECT_EQ(empty["hex"], "");
  EXPECT_EQ(empty["file_size"], 0);
}

TEST(ExcerptLines, BracketsTheByteAtTheOffset) {
  const corpus::Bytes file = {{corpus::Repeat{{0x41}, 20}}};
  const auto lines = ExcerptLines(MakeExcerpt("", file, 17));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].substr(0, 8), "00000000");
  EXPECT_THAT(lines[0], HasSubstr("41 41 41 41  41"));
  EXPECT_THAT(lines[1], HasSubstr("41[41]41 41"));
  EXPECT_THAT(lines[1], HasSubstr("AAAA"));
}

TEST(ExcerptLines, NamesTheEndOfTheFile) {
  const corpus::Bytes file = {{corpus::Repeat{{0x41}, 4}}};
  const auto lines = ExcerptLines(MakeExcerpt("", file, 4));
  EXPECT_THAT(lines.back(), HasSubstr("[end of file]"));
}

TEST(MakeExcerpt, NamesTheFieldsThatMeetIt) {
  std::vector<std::uint8_t> file = {'G', 'G', 'U', 'F', 3};
  file.resize(24);
  const Json excerpt =
      MakeExcerpt("gguf", {{corpus::Literal{file}}}, std::uint64_t{16});
  ASSERT_EQ(excerpt["fields"].size(), 4u);
  EXPECT_EQ(excerpt["fields"][3]["path"], "header.kv_count");
  EXPECT_EQ(excerpt["fields"][3]["offset"], 16);
  EXPECT_EQ(excerpt["fields"][3]["size"], 8);
  EXPECT_THAT(ExcerptLines(excerpt).back(), HasSubstr("header.kv_count"));
}

TEST(Hex, ReadsBackAndRefusesMalformedText) {
  EXPECT_EQ(ToHex(std::vector<std::uint8_t>{0, 0xab}), "00ab");
  EXPECT_THAT(FromHex("00aB"), ElementsAre(0, 0xab));
  EXPECT_THAT(FromHex("0"), ElementsAre());
  EXPECT_THAT(FromHex("zz"), ElementsAre());
}

}  // namespace
}  // namespace weightproof::reports
