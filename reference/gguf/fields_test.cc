#include "reference/gguf/fields.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reference/gguf/rich_file.h"
#include "reference/gguf/test_case.h"

namespace weightproof::gguf::test {
namespace {

using namespace std::string_view_literals;

struct Walked {
  FieldWalk walk;
  std::vector<Field> fields;

  const Field* Find(const std::string& path) const {
    for (const Field& field : fields) {
      if (field.path == path) return &field;
    }
    return nullptr;
  }
};

Walked WalkInput(const Input& input) {
  Walked walked;
  walked.walk = VisitFields(
      input, [&walked](const Field& field) { walked.fields.push_back(field); });
  return walked;
}

Walked WalkFile(const TestFile& f) { return WalkInput(f.input()); }

// Each byte of the file belongs to exactly one field.
void ExpectCovered(const Walked& walked, std::uint64_t size,
                   const std::string& what) {
  std::uint64_t next = 0;
  for (const Field& field : walked.fields) {
    ASSERT_EQ(field.offset, next) << what << " at " << field.path;
    ASSERT_FALSE(field.path.empty());
    if (field.size == 0) {
      ASSERT_TRUE(field.kind == FieldKind::kText ||
                  field.kind == FieldKind::kItems)
          << what << ": " << field.path;
    }
    next += field.size;
  }
  ASSERT_EQ(next, size) << what;
  const bool unparsed = !walked.fields.empty() &&
                        walked.fields.back().kind == FieldKind::kUnparsed;
  if (walked.walk.complete) {
    EXPECT_FALSE(unparsed) << what;
    EXPECT_TRUE(walked.walk.problem.empty()) << what;
  } else {
    EXPECT_FALSE(walked.walk.problem.empty()) << what;
    EXPECT_EQ(unparsed, walked.walk.stop < size) << what;
  }
}

TEST(Fields, NameEverythingOnce) {
  TestFile f = TestFile().Header(3, 2, 3);
  f.Key("a.s", 8).String("hi\n").Key("a.t", 9).Array(8, 2).String("").String(
      "\xff");
  f.Key("a.n", 9).Array(9, 1).Array(3, 2).U16(1).U16(0xffff);
  f.Tensor("w", {4}, 0, 0).Tensor("v", {4}, 1, 64).Pad();
  f.Fill(16, 1).Fill(16).Fill(32).Fill(8, 2).Fill(24).Fill(5, 9);
  const Walked walked = WalkFile(f);
  ExpectCovered(walked, f.size(), "file");
  std::vector<std::string> lines;
  for (const Field& field : walked.fields) {
    lines.push_back(field.path + " " + std::string(ToString(field.kind)) + " " +
                    std::to_string(field.size) + " " + field.value);
  }
  const std::vector<std::string> expected = {
      "header.magic magic 4 \"GGUF\"",
      "header.version version 4 3",
      "header.tensor_count count 8 2",
      "header.kv_count count 8 3",
      "kv[0].key.len length 8 3",
      "kv[0].key text 3 \"a.s\"",
      "kv[0].type type 4 string",
      "kv[0].value.len length 8 3",
      "kv[0].value text 3 \"hi\\x0a\"",
      "kv[1].key.len length 8 3",
      "kv[1].key text 3 \"a.t\"",
      "kv[1].type type 4 array",
      "kv[1].value.elem type 4 string",
      "kv[1].value.len length 8 2",
      "kv[1].value[0].len length 8 0",
      "kv[1].value[0] text 0 \"\"",
      "kv[1].value[1].len length 8 1",
      "kv[1].value[1] text 1 \"\\xff\"",
      "kv[2].key.len length 8 3",
      "kv[2].key text 3 \"a.n\"",
      "kv[2].type type 4 array",
      "kv[2].value.elem type 4 array",
      "kv[2].value.len length 8 1",
      "kv[2].value[0].elem type 4 i16",
      "kv[2].value[0].len length 8 2",
      "kv[2].value[0].items items 4 1, -1",
      "tensor[0].name.len length 8 1",
      "tensor[0].name text 1 \"w\"",
      "tensor[0].n_dims count 4 1",
      "tensor[0].dims[0] dim 8 4",
      "tensor[0].type type 4 F32",
      "tensor[0].offset offset 8 0",
      "tensor[1].name.len length 8 1",
      "tensor[1].name text 1 \"v\"",
      "tensor[1].n_dims count 4 1",
      "tensor[1].dims[0] dim 8 4",
      "tensor[1].type type 4 F16",
      "tensor[1].offset offset 8 64",
      "padding padding 21 zero",
      "data.tensor[0] data 16 ",
      "data.padding[0] padding 16 zero",
      "data.gap gap 32 ",
      "data.tensor[1] data 8 ",
      "data.padding[1] padding 24 zero",
      "trailing trailing 5 ",
  };
  ASSERT_EQ(lines.size(), expected.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i], expected[i]);
  }
  EXPECT_TRUE(walked.walk.complete);
  EXPECT_EQ(walked.walk.data_start, f.At("data"));
}

TEST(Fields, TellNumbersAndTypes) {
  TestFile f = TestFile().Header(3, 0, 3).Key("a", 5).U32(0xfffffffe);
  f.Key("b", 6).U32(0x3fc00000).Key("c", 7).U8(2);
  const Walked walked = WalkFile(f);
  EXPECT_EQ(walked.Find("header.kv_count")->number, 3u);
  EXPECT_EQ(walked.Find("kv[0].value")->value, "-2");
  EXPECT_EQ(walked.Find("kv[0].value")->number, ~std::uint64_t{1});
  EXPECT_EQ(walked.Find("kv[0].value")->type, 5u);
  EXPECT_EQ(walked.Find("kv[1].value")->value, "0x3fc00000 (1.5)");
  EXPECT_EQ(walked.Find("kv[2].value")->value, "2 (neither 0 nor 1)");
}

TEST(Fields, CoverEveryCase) {
  for (const auto& cases :
       {HeaderCases(), KeyCases(), ValueCases(), AlignmentCases(),
        TensorCases(), GeometryCases(), DataCases()}) {
    for (const Case& c : cases) {
      if (c.file.size() > 100000) continue;
      Input input = c.file.input();
      input.file_size = c.file_size.value_or(c.file.size());
      input.base = c.base;
      ExpectCovered(WalkInput(input), input.file_size, c.rule);
    }
  }
}

// Whatever the reader accepts is walked to its end, and the walk agrees with
// the reader on where things are.
TEST(Fields, AgreeWithTheReaderOnWhatItAccepts) {
  int accepted = 0;
  for (const auto& cases :
       {HeaderCases(), KeyCases(), ValueCases(), AlignmentCases(),
        TensorCases(), GeometryCases(), DataCases()}) {
    for (const Case& c : cases) {
      if (c.file.size() > 100000 || c.file_size) continue;
      Input input = c.file.input();
      input.base = c.base;
      const auto file = Parse(input, SpecProfile());
      if (!file) continue;
      ++accepted;
      const Walked walked = WalkInput(input);
      EXPECT_TRUE(walked.walk.complete) << c.rule;
      EXPECT_EQ(walked.walk.data_start, file->data_start) << c.rule;
      EXPECT_EQ(walked.walk.alignment, file->alignment) << c.rule;
      EXPECT_EQ(walked.walk.version, file->version) << c.rule;
      EXPECT_EQ(walked.walk.big_endian, file->big_endian) << c.rule;
      for (std::size_t i = 0; i < file->kv.size(); ++i) {
        const auto* key = walked.Find("kv[" + std::to_string(i) + "].key");
        ASSERT_NE(key, nullptr);
        EXPECT_EQ(key->offset, file->kv[i].key.begin);
      }
      for (std::size_t i = 0; i < file->tensors.size(); ++i) {
        const auto* offset =
            walked.Find("tensor[" + std::to_string(i) + "].offset");
        ASSERT_NE(offset, nullptr);
        EXPECT_EQ(offset->offset, file->tensors[i].offset_field);
        EXPECT_EQ(offset->number, file->tensors[i].offset);
      }
    }
  }
  EXPECT_GT(accepted, 60);
}

TEST(Fields, CoverAFileCutAnywhere) {
  for (const std::uint32_t version : {1u, 3u}) {
    const TestFile rich = RichFile(version);
    for (std::uint64_t size = 0; size <= rich.size(); ++size) {
      const auto bytes = std::span(rich.bytes).first(size);
      const Input input{.prefix = bytes, .file_size = size};
      ExpectCovered(WalkInput(input), size, "cut at " + std::to_string(size));
    }
  }
}

// Any byte may hold anything: neither reader nor walk trips over it.
TEST(Fields, CoverAFileWithAnyByteChanged) {
  for (const bool big_endian : {false, true}) {
    const TestFile rich = RichFile(3, big_endian);
    for (std::uint64_t i = 0; i < rich.size(); ++i) {
      for (const std::uint8_t value : {0x00, 0x01, 0x09, 0x7f, 0x80, 0xff}) {
        TestFile changed = rich;
        changed.bytes[i] = value;
        const std::string what =
            std::to_string(value) + " at " + std::to_string(i);
        ExpectCovered(WalkFile(changed), changed.size(), what);
        for (const Profile& profile : Profiles()) {
          const auto file = Parse(changed.input(), profile);
          if (file) {
            EXPECT_FALSE(Describe(*file).empty());
          } else {
            EXPECT_NE(file.error().rule, kNoRule) << what;
            EXPECT_LE(file.error().offset, changed.size()) << what;
          }
        }
      }
    }
  }
}

TEST(Fields, GoOnPastWhatOnlyBreaksRules) {
  TestFile f = TestFile().Header(3, 1, 3).Key("A b", 0).U8(1).Key("A b", 7);
  f.U8(9).Key("general.alignment", 4).U32(0);
  f.Tensor("t", {33}, 99, 3).Pad().Fill(7);
  const Walked walked = WalkFile(f);
  EXPECT_TRUE(walked.walk.complete) << walked.walk.problem;
  EXPECT_EQ(walked.walk.alignment, 32u);
  ASSERT_NE(walked.Find("tensor[0].type"), nullptr);
  EXPECT_EQ(walked.Find("tensor[0].type")->value, "99 (unknown)");
  EXPECT_TRUE(walked.Find("tensor[0].type")->tensor_type);
  EXPECT_EQ(walked.fields.back().kind, FieldKind::kGap);
}

TEST(Fields, StopWhereTheNextOneCannotBeTold) {
  const TestFile f = TestFile().Header(3, 0, 2).Key("k", 13).Fill(8).Fill(9);
  const Walked walked = WalkFile(f);
  EXPECT_FALSE(walked.walk.complete);
  EXPECT_EQ(walked.walk.stop, f.At("vv"));
  EXPECT_EQ(walked.fields.back().path, "unparsed");
  EXPECT_EQ(walked.fields.back().offset, f.At("vv"));
  EXPECT_EQ(walked.Find("kv[0].type")->value, "13 (unknown)");
}

TEST(Fields, GiveSharedBytesToTheFirstTensor) {
  TestFile f = TestFile().Header(3, 2, 0).Tensor("a", {16}, 0, 0);
  f.Tensor("b", {16}, 0, 32).Pad().Fill(96);
  const Walked walked = WalkFile(f);
  ExpectCovered(walked, f.size(), "overlap");
  EXPECT_EQ(walked.Find("data.tensor[0]")->size, 64u);
  EXPECT_EQ(walked.Find("data.tensor[1]")->size, 32u);
  EXPECT_EQ(walked.Find("data.tensor[1]")->value,
            "from byte 32 of the tensor on");
}

TEST(Fields, AbbreviateLongTexts) {
  const TestFile f =
      TestFile().Header(3, 0, 1).Key("k", 8).String(std::string(100, 'x'));
  EXPECT_EQ(WalkFile(f).Find("kv[0].value")->value,
            "\"" + std::string(64, 'x') + "\"... (100 bytes)");
}

}  // namespace
}  // namespace weightproof::gguf::test
