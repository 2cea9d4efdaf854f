#include "reference/q8_0/validate.h"

#include <gtest/gtest.h>

#include <vector>

#include "reference/q8_0/rules.h"

namespace weightproof::q8_0 {
namespace {

using Bytes = std::vector<std::uint8_t>;

// count sound blocks: a normal scale and codes 127, 0, ..
Bytes Sound(std::size_t block_bytes, std::size_t count) {
  Bytes bytes(block_bytes * count);
  for (std::size_t b = 0; b < count; ++b) {
    bytes[b * block_bytes + 1] = 0x2c;
    bytes[b * block_bytes + block_bytes - 32] = 0x7f;
  }
  return bytes;
}

Validation Check80(const Bytes& bytes, std::uint64_t n,
                   Reader reader = Reader::kSpec) {
  return Validate(BlockFormat::kQ80, reader, bytes, n);
}

TEST(Validate, AcceptsSoundBlocksWithoutAFinding) {
  for (const Reader reader :
       {Reader::kContainer, Reader::kSpec, Reader::kGgml, Reader::kCandle}) {
    const Validation result = Check80(Sound(34, 3), 96, reader);
    EXPECT_EQ(result.verdict, Cell::kAccept);
    EXPECT_FALSE(result.finding.has_value());
  }
  EXPECT_FALSE(Check80({}, 0).finding.has_value());
}

TEST(Validate, AWrongSizeIsRefusedByEveryReader) {
  for (const std::size_t size : {33u, 35u, 0u, 68u}) {
    const Validation result = Check80(Bytes(size), 32, Reader::kContainer);
    EXPECT_EQ(result.verdict, Cell::kReject);
    EXPECT_EQ(result.finding->rule, rules::kValidateSize);
    EXPECT_FALSE(result.finding->has_place);
  }
  // Sizes beyond 64 bits equal no buffer.
  EXPECT_EQ(Validate(BlockFormat::kQ80, Reader::kSpec, {},
                     std::uint64_t{1} << 63, 1u << 20)
                .verdict,
            Cell::kReject);
  EXPECT_EQ(Check80(Bytes(34), 33).finding->rule, rules::kShapeNotMultiple);
}

TEST(Validate, RefusesInfiniteAndNanScalesByProfile) {
  for (const auto& [high, low, rule] :
       {std::tuple{0x7c, 0x00, rules::kValidateScaleInf},
        std::tuple{0xfc, 0x00, rules::kValidateScaleInf},
        std::tuple{0x7c, 0x01, rules::kValidateScaleNan},
        std::tuple{0xfe, 0x00, rules::kValidateScaleNan}}) {
    Bytes bytes = Sound(34, 3);
    bytes[68] = static_cast<std::uint8_t>(low);
    bytes[69] = static_cast<std::uint8_t>(high);
    for (const Reader reader : {Reader::kSpec, Reader::kGgml}) {
      const Validation result = Check80(bytes, 96, reader);
      EXPECT_EQ(result.verdict, Cell::kReject);
      ASSERT_TRUE(result.finding.has_value());
      EXPECT_EQ(result.finding->rule, rule);
      EXPECT_EQ(result.finding->block, 2u);
      EXPECT_EQ(result.finding->offset, 68u);
    }
    EXPECT_EQ(Check80(bytes, 96, Reader::kCandle).verdict, Cell::kAccept);
    EXPECT_EQ(Check80(bytes, 96, Reader::kContainer).verdict, Cell::kAccept);
  }
}

TEST(Validate, ARejectingFindingComesBeforeEarlierOnes) {
  Bytes bytes = Sound(34, 2);
  bytes[5] = 0x80;   // block 0 holds -128
  bytes[35] = 0x7c;  // block 1 has an infinite scale
  EXPECT_EQ(Check80(bytes, 64).finding->rule, rules::kValidateScaleInf);
  EXPECT_EQ(Check80(bytes, 64, Reader::kCandle).finding->rule,
            rules::kValidateCodeNeg128);
}

TEST(Validate, ReportsWhatIsNotCanonical) {
  Bytes bytes = Sound(34, 2);
  bytes[34 + 7] = 0x80;
  Validation result = Check80(bytes, 64);
  EXPECT_EQ(result.verdict, Cell::kAccept);
  EXPECT_EQ(result.finding->rule, rules::kValidateCodeNeg128);
  EXPECT_EQ(result.finding->offset, 41u);
  EXPECT_EQ(result.finding->value, 0x80);

  bytes = Sound(34, 1);
  bytes[1] = 0x80;  // -0
  EXPECT_EQ(Check80(bytes, 32).finding->rule, rules::kValidateScaleNegative);

  bytes = Sound(34, 1);
  bytes[2] = 126;
  EXPECT_EQ(Check80(bytes, 32).finding->rule, rules::kValidateMaxCode);
  bytes[1] = 0x03;  // a subnormal scale need not have it
  EXPECT_FALSE(Check80(bytes, 32).finding.has_value());
}

TEST(Validate, LooksAtTheSumOfQ81UnlessItIsAnInteger) {
  Bytes bytes = Sound(36, 2);
  bytes[38] = 0x00;
  bytes[39] = 0x7c;
  const Validation result =
      Validate(BlockFormat::kQ81, Reader::kSpec, bytes, 64);
  EXPECT_EQ(result.verdict, Cell::kReject);
  EXPECT_EQ(result.finding->rule, rules::kQ81ValidateSumInf);
  EXPECT_EQ(result.finding->offset, 38u);
  bytes[38] = 1;
  EXPECT_EQ(Validate(BlockFormat::kQ81, Reader::kSpec, bytes, 64).finding->rule,
            rules::kQ81ValidateSumNan);
  EXPECT_EQ(Validate(BlockFormat::kQ81Pt, Reader::kSpec, bytes, 64).verdict,
            Cell::kAccept);
  EXPECT_EQ(Validate(BlockFormat::kQ81, Reader::kGgml, bytes, 64).verdict,
            Cell::kNotApplicable);
  EXPECT_EQ(Validate(BlockFormat::kQ81, Reader::kCandle, bytes, 64).verdict,
            Cell::kAccept);
}

}  // namespace
}  // namespace weightproof::q8_0
