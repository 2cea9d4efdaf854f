#include "reference/gguf/data_values.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "reference/gguf/rules.h"
#include "reference/gguf/scales.h"
#include "reference/gguf/test_file.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf::test {
namespace {

// "RULE tensor T block B at OFFSET of the data, COUNT in FIELD".
std::vector<std::string> Found(const TestFile& f) {
  const auto file = Parse(f.input(), SpecProfile());
  EXPECT_TRUE(file.has_value());
  std::vector<std::string> out;
  if (!file) return out;
  for (const ValueFinding& v : CheckValues(*file)) {
    out.push_back(std::string(Rules()[v.rule].id.substr(12)) + " tensor " +
                  std::to_string(v.tensor) + " block " +
                  std::to_string(v.block) + " at " +
                  std::to_string(v.offset - file->data_start) + ", " +
                  std::to_string(v.count) + " in " + std::string(v.field));
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(GgufValues, FindTheScaleTheBlockAndTheNumber) {
  TestFile f = TestFile().Header(3, 1, 0).Tensor("t", {32, 4}, 8, 0).Pad();
  for (const int d : {0x3c00, 0x7c00, 0xfe00, 0x7e01}) {
    f.U16(static_cast<std::uint64_t>(d)).Fill(31, 1).Fill(1, 2);
  }
  EXPECT_EQ(Found(f), (Lines{"scale_inf tensor 0 block 1 at 34, 1 in d",
                             "scale_nan tensor 0 block 2 at 68, 2 in d"}));
}

TEST(GgufValues, ReadBigEndianScales) {
  TestFile f = TestFile(true).Header(3, 2, 0);
  f.Tensor("a", {32}, 8, 0).Tensor("b", {256}, 29, 64).Pad();
  f.U16(0x7c00).Fill(32, 1).Fill(30);
  // Nibbles 0, 0, C, 7 in the high bytes of four words.
  f.Fill(48, 1).U16(0x0001).U16(0x0001).U16(0xc001).U16(0x7001);
  EXPECT_EQ(Found(f), (Lines{"scale_inf tensor 0 block 0 at 0, 1 in d",
                             "scale_inf tensor 1 block 0 at 112, 1 in d"}));
}

TEST(GgufValues, WarnOfTensorsThatHoldNothing) {
  TestFile f = TestFile().Header(3, 5, 0);
  f.Tensor("zero", {8}, 0, 0).Tensor("ones", {8}, 0, 32);
  f.Tensor("one block", {32}, 8, 64).Tensor("empty", {0}, 0, 128);
  f.Tensor("mixed", {8}, 0, 128).Pad();
  f.Fill(32);
  for (int i = 0; i < 8; ++i) f.U32(0x3f800000);
  f.U16(0x3c00).Fill(32, 7).Fill(30);
  f.Fill(28).U32(1);
  EXPECT_EQ(Found(f), (Lines{"tensor_zero tensor 0 block 0 at 0, 1 in ",
                             "tensor_constant tensor 1 block 0 at 32, 1 in "}));
}

TEST(GgufValues, NeverLookTwiceAtSharedBytes) {
  TestFile f = TestFile().Header(3, 3, 0);
  for (const char* name : {"a", "b"}) f.Tensor(name, {64}, 2, 0);
  f.Tensor("c", {32}, 2, 64).Pad();
  f.U16(0x7e00).Fill(34, 1).Fill(28).U16(0x7e00).Fill(16, 1);
  EXPECT_EQ(Found(f), (Lines{"scale_nan tensor 0 block 0 at 0, 1 in d",
                             "scale_nan tensor 1 block 0 at 0, 1 in d",
                             "scale_nan tensor 2 block 0 at 64, 1 in d"}));
}

TEST(GgufScales, AreThoseOfTheQuantizedTypes) {
  std::map<std::uint32_t, std::uint64_t> last;
  std::set<std::uint32_t> with;
  for (const ScaleField& field : ScaleFields()) {
    const TensorType* type = FindTensorType(field.type);
    ASSERT_NE(type, nullptr) << field.type;
    EXPECT_LT(field.offset, type->block_bytes) << type->name;
    EXPECT_GT(type->block_elements, 1u) << type->name;
    if (with.contains(field.type)) {
      EXPECT_GT(field.offset, last[field.type]) << type->name;
    }
    last[field.type] = field.offset;
    with.insert(field.type);
  }
  for (const TensorType& type : TensorTypes()) {
    EXPECT_EQ(with.contains(type.id), type.block_elements > 1) << type.name;
  }
}

TEST(GgufScales, TellEveryClass) {
  const auto classes = [](const ScaleField& field,
                          std::vector<std::uint8_t> bytes) {
    return Classify(field, bytes, false);
  };
  const ScaleField e8m0{39, "e", 0, ScaleEncoding::kE8M0};
  EXPECT_EQ(classes(e8m0, {0xfe}), ScaleClass::kFinite);
  EXPECT_EQ(classes(e8m0, {0xff}), ScaleClass::kNan);
  const ScaleField ue4m3{40, "d", 1, ScaleEncoding::kUe4m3};
  EXPECT_EQ(classes(ue4m3, {0x7f, 0x7e}), ScaleClass::kFinite);
  EXPECT_EQ(classes(ue4m3, {0, 0xff}), ScaleClass::kNan);
  const ScaleField f16{8, "d", 0, ScaleEncoding::kF16};
  EXPECT_EQ(classes(f16, {0xff, 0x7b}), ScaleClass::kFinite);
  EXPECT_EQ(classes(f16, {0x00, 0xfc}), ScaleClass::kInfinite);
  EXPECT_EQ(classes(f16, {0x01, 0xfc}), ScaleClass::kNan);
  const ScaleField f32{15, "d", 0, ScaleEncoding::kF32};
  EXPECT_EQ(classes(f32, {0xff, 0xff, 0x7f, 0x7f}), ScaleClass::kFinite);
  EXPECT_EQ(classes(f32, {0, 0, 0x80, 0xff}), ScaleClass::kInfinite);
  EXPECT_EQ(classes(f32, {1, 0, 0x80, 0xff}), ScaleClass::kNan);
}

}  // namespace
}  // namespace weightproof::gguf::test
