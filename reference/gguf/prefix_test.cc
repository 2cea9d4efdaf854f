// Files that end early, prefixes that end early, bytes that are not there.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "reference/gguf/rich_file.h"
#include "reference/gguf/test_case.h"

namespace weightproof::gguf::test {
namespace {

using Bytes = std::span<const std::uint8_t>;

std::string IdOf(RuleIndex rule) { return std::string(Rules()[rule].id); }

Input Cut(const TestFile& f, std::uint64_t size) {
  return Input{.prefix = Bytes(f.bytes).first(size), .file_size = size};
}

// Where a file cut at size may be refused: at its end, or at a length, count or
// offset that promises more than is left.
const std::set<std::string> kAtTheEnd = {
    "gguf.header.magic.truncated",  "gguf.header.version.truncated",
    "gguf.header.counts.truncated", "gguf.kv.entry.truncated",
    "gguf.tensor.entry.truncated",  "gguf.geometry.data_start.past_eof"};
const std::set<std::string> kBeforeTheEnd = {
    "gguf.header.tensor_count.exceeds_file",
    "gguf.header.kv_count.exceeds_file",
    "gguf.header.counts.exceed_file",
    "gguf.kv.key.past_eof",
    "gguf.kv.string.past_eof",
    "gguf.array.length.past_eof",
    "gguf.tensor.name.past_eof",
    "gguf.data.tensor.past_eof"};

TEST(Truncation, IsRefusedAtEveryByteBeforeTheDataIsComplete) {
  for (const std::uint32_t version : {1u, 2u, 3u}) {
    const TestFile rich = RichFile(version);
    const std::uint64_t data_end = rich.At("data") + 128 + 12;
    std::set<std::string> seen;
    for (std::uint64_t size = 0; size < rich.size(); ++size) {
      const auto file = Parse(Cut(rich, size), SpecProfile());
      if (size >= data_end) {
        EXPECT_TRUE(file.has_value()) << size;
        continue;
      }
      ASSERT_FALSE(file.has_value()) << size;
      const Stop& stop = file.error();
      ASSERT_NE(stop.rule, kNoRule) << size;
      EXPECT_EQ(stop.verdict, Cell::kReject);
      const std::string id = IdOf(stop.rule);
      seen.insert(id);
      if (kAtTheEnd.contains(id)) {
        EXPECT_EQ(stop.offset, size) << id;
      } else {
        EXPECT_TRUE(kBeforeTheEnd.contains(id)) << id << " at " << size;
        EXPECT_LT(stop.offset, size) << id;
      }
    }
    EXPECT_GE(seen.size(), 12u) << "version " << version;
  }
}

TEST(Truncation, SaysTheSameOfALongFileWithAShortPrefix) {
  const TestFile rich = RichFile();
  const auto whole = Parse(rich.input(), SpecProfile());
  ASSERT_TRUE(whole.has_value());
  const std::uint64_t header = whole->data_start;
  for (std::uint64_t start = 0; start <= rich.size(); ++start) {
    std::uint64_t size = start;
    for (int reads = 0;; ++reads) {
      ASSERT_LE(reads, 200);
      Input input{.prefix = Bytes(rich.bytes).first(size),
                  .file_size = rich.size()};
      const auto file = Parse(input, SpecProfile());
      if (file) {
        EXPECT_GE(size, header);
        EXPECT_EQ(Describe(*file), Describe(*whole));
        EXPECT_EQ(file->data_start, whole->data_start);
        break;
      }
      ASSERT_EQ(file.error().rule, kNoRule) << file.error().detail;
      ASSERT_GT(file.error().need_bytes, 0u);
      ASSERT_LT(size, header);
      size += file.error().need_bytes;
      ASSERT_LE(size, header) << "more was asked for than the header holds";
    }
  }
}

// The padding of the header belongs to the header; that between tensors may
// lie gigabytes away.
TEST(Prefix, ReachesToTheDataStart) {
  const TestFile f = OneTensor();
  const std::uint64_t entries_end = f.At("pad");
  Input input{.prefix = Bytes(f.bytes).first(entries_end),
              .file_size = f.size()};
  const auto file = Parse(input, SpecProfile());
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().rule, kNoRule);
  EXPECT_EQ(file.error().need_bytes, f.At("data") - entries_end);
}

TEST(Prefix, SaysWhichPaddingItDidNotSee) {
  TestFile f = TestFile().Header(3, 1, 0).Tensor("t", {4}, 0, 0).Pad();
  f.Fill(16).Fill(16, 0xaa);
  Input input{.prefix = Bytes(f.bytes).first(f.At("data")),
              .file_size = f.size()};
  const auto unseen = Parse(input, SpecProfile());
  ASSERT_TRUE(unseen.has_value());
  EXPECT_FALSE(unseen->padding_checked);
  EXPECT_TRUE(unseen->policies.empty());
  const auto seen = Parse(f.input(), SpecProfile());
  ASSERT_TRUE(seen.has_value());
  EXPECT_TRUE(seen->padding_checked);
  ASSERT_EQ(seen->policies.size(), 1u);
  EXPECT_EQ(IdOf(seen->policies[0]), "gguf.data.padding.between_nonzero");
}

TEST(Prefix, OfFortyGigabytesIsTheHeader) {
  TestFile f = TestFile().Header(3, 1, 0);
  f.Tensor("t", {Pow2(32), 10}, 8, 0).Pad();
  Input input{.prefix = f.bytes, .file_size = Pow2(40)};
  const auto file = Parse(input, SpecProfile());
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->tensors[0].size, (Pow2(32) * 10 / 32) * 34);
  EXPECT_EQ(file->data_start, 96u);
}

TEST(Prefix, LongerThanTheFileIsCut) {
  const TestFile f = OneTensor();
  Input input{.prefix = f.bytes, .file_size = 57};
  const auto file = Parse(input, SpecProfile());
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(IdOf(file.error().rule), "gguf.geometry.data_start.past_eof");
  EXPECT_EQ(file.error().offset, 57u);
}

// A GGUF inside another file, at a place that is no multiple of 32.
TEST(Base, IsCountedFromTheFilesStartOrFromTheGgufs) {
  TestFile f = TestFile().Fill(8, 0xee);
  f.Header(3, 1, 0).Tensor("t", {8}, 0, 0).Mark("end").Fill(64);
  Input input = f.input();
  input.base = 8;
  const auto spec = Parse(input, SpecProfile());
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->data_start, 8u + 64u);
  ASSERT_FALSE(spec->policies.empty());
  EXPECT_EQ(IdOf(spec->policies[0]), "gguf.geometry.data_start.base");
  const auto ggml = Parse(input, GgmlProfile());
  ASSERT_TRUE(ggml.has_value());
  EXPECT_EQ(ggml->data_start, 96u);
  EXPECT_TRUE(ggml->policies.empty());
}

TEST(Base, ShiftsEveryOffset) {
  TestFile f = TestFile().Fill(8, 0xee).Header(3, 0, 1);
  f.Key("k", 13).Fill(8);
  Input input = f.input();
  input.base = 8;
  const auto file = Parse(input, SpecProfile());
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(IdOf(file.error().rule), "gguf.kv.type.unknown");
  EXPECT_EQ(file.error().offset, f.At("vt"));
}

TEST(Base, PastTheEndIsAnEmptyFile) {
  const TestFile f = OneTensor();
  for (const std::uint64_t base : {f.size() - 2, f.size(), ~std::uint64_t{0}}) {
    Input input = f.input();
    input.base = base;
    const auto file = Parse(input, SpecProfile());
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(IdOf(file.error().rule), "gguf.header.magic.truncated");
    EXPECT_EQ(file.error().offset, f.size());
  }
}

}  // namespace
}  // namespace weightproof::gguf::test
