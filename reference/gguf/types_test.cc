#include "reference/gguf/types.h"

#include <gtest/gtest.h>

#include <string>

#include "reference/gguf/profile.h"
#include "reference/gguf/text.h"

namespace weightproof::gguf {
namespace {

using namespace std::string_view_literals;

Text Bytes(const std::string& text, std::vector<std::uint8_t>& storage) {
  storage.assign(text.begin(), text.end());
  return storage;
}

TEST(ValueTypes, HaveNamesAndWidths) {
  const std::uint64_t widths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  const std::string_view names[] = {"u8",  "i8",  "u16",  "i16",    "u32",
                                    "i32", "f32", "bool", "string", "array",
                                    "u64", "i64", "f64"};
  for (std::uint32_t i = 0; i < kValueTypes; ++i) {
    EXPECT_EQ(ValueWidth(i), widths[i]);
    EXPECT_EQ(ValueTypeName(i), names[i]);
  }
  EXPECT_EQ(ValueWidth(13), 0u);
  EXPECT_EQ(ValueTypeName(13), "unknown");
}

TEST(TensorTypes, AreKnownWithdrawnOrNeither) {
  EXPECT_EQ(TensorTypes().size(), 36u);
  for (std::uint32_t id = 0; id < 200; ++id) {
    EXPECT_FALSE(FindTensorType(id) && IsWithdrawnTensorType(id)) << id;
  }
  EXPECT_EQ(FindTensorType(8)->name, "Q8_0");
  EXPECT_EQ(FindTensorType(8)->block_bytes, 34u);
  EXPECT_EQ(FindTensorType(143)->tier, TypeTier::kFork);
  EXPECT_EQ(FindTensorType(43), nullptr);
  EXPECT_TRUE(IsWithdrawnTensorType(4));
  EXPECT_FALSE(IsWithdrawnTensorType(6));
}

TEST(Utf8, FindsTheFirstByteOfTheFirstBadSequence) {
  std::vector<std::uint8_t> s;
  EXPECT_FALSE(FirstInvalidUtf8(Bytes("", s)));
  EXPECT_FALSE(FirstInvalidUtf8(Bytes("a\xc3\xa9\xe2\x96\x81", s)));
  EXPECT_FALSE(FirstInvalidUtf8(Bytes("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", s)));
  EXPECT_FALSE(FirstInvalidUtf8(Bytes("\xed\x9f\xbf\xee\x80\x80", s)));
  EXPECT_EQ(FirstInvalidUtf8(Bytes("a\x80", s)), 1u);
  EXPECT_EQ(FirstInvalidUtf8(Bytes("\xc0\xaf", s)), 0u);       // overlong
  EXPECT_EQ(FirstInvalidUtf8(Bytes("\xc1\xbf", s)), 0u);       // overlong
  EXPECT_EQ(FirstInvalidUtf8(Bytes("x\xe0\x9f\xbf", s)), 1u);  // overlong
  EXPECT_EQ(FirstInvalidUtf8(Bytes("\xf0\x8f\xbf\xbf", s)), 0u);
  EXPECT_EQ(FirstInvalidUtf8(Bytes("\xed\xa0\x80", s)), 0u);  // surrogate
  EXPECT_EQ(FirstInvalidUtf8(Bytes("\xf4\x90\x80\x80", s)), 0u);
  EXPECT_EQ(FirstInvalidUtf8(Bytes("\xf5\x80\x80\x80", s)), 0u);
  EXPECT_EQ(FirstInvalidUtf8(Bytes("ab\xe2\x96", s)), 2u);  // cut
  EXPECT_EQ(FirstInvalidUtf8(Bytes("ab\xe2\x96z", s)), 2u);
}

TEST(KeyText, FindsSpacesAndControls) {
  std::vector<std::uint8_t> s;
  EXPECT_EQ(FirstSpaceOrControl(Bytes("ab c", s)), 2u);
  EXPECT_EQ(FirstSpaceOrControl(Bytes("\x1f", s)), 0u);
  EXPECT_EQ(FirstSpaceOrControl(Bytes("a\x7f", s)), 1u);
  EXPECT_FALSE(FirstSpaceOrControl(Bytes("a.b_9-Z\xc2\xa0", s)));
  EXPECT_FALSE(FirstSpaceOrControl(Bytes(std::string("a\0", 2), s)));
  EXPECT_EQ(FirstNul(Bytes(std::string("a\0b", 3), s)), 1u);
}

TEST(Profiles, AreTheRegistrysColumns) {
  ASSERT_EQ(Profiles().size(), 3u);
  EXPECT_EQ(FindProfile("spec"), &SpecProfile());
  EXPECT_EQ(FindProfile("ggml"), &GgmlProfile());
  EXPECT_EQ(FindProfile("candle"), &CandleProfile());
  EXPECT_EQ(FindProfile("Spec"), nullptr);
  for (RuleIndex i = rules::kFirst; i < rules::kEnd; ++i) {
    EXPECT_EQ(SpecProfile().Of(i), Rules()[i].spec);
    EXPECT_EQ(GgmlProfile().Of(i), Rules()[i].ggml);
    EXPECT_EQ(CandleProfile().Of(i), Rules()[i].candle);
  }
}

}  // namespace
}  // namespace weightproof::gguf
