#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance/dump.h"
#include "conformance/dump_value.h"

namespace weightproof::conformance {
namespace {

const Json& Example() {
  static const Json kDump = Json::parse(R"({"version":3,"endian":"little",
    "alignment":32,"data_offset":"64","file_size":"96",
    "kv":[{"key":"a","type":"u32","value":7},
          {"key":"b","type":"array","value":
             {"elem":"f32","len":"2","items":["0x3fc00000","nan"]}}],
    "tensors":[{"name":"t","dims":["8","1"],"type":0,"offset":"0",
                "size":"32"}],
    "policies":[]})");
  return kDump;
}

std::string DifferenceAfter(const std::string& pointer, const Json& value) {
  Json got = Example();
  got[Json::json_pointer(pointer)] = value;
  const auto difference = CompareDumps(Example(), got, AllDumpFields());
  return difference ? difference->path + " " + difference->expected + " " +
                          difference->got
                    : "";
}

TEST(CompareDumps, EqualDumpsAgree) {
  EXPECT_FALSE(CompareDumps(Example(), Example(), AllDumpFields()));
}

TEST(CompareDumps, NamesTheFirstDifferingPath) {
  EXPECT_EQ(DifferenceAfter("/version", 2), "version 3 2");
  EXPECT_EQ(DifferenceAfter("/endian", "big"), R"(endian "little" "big")");
  EXPECT_EQ(DifferenceAfter("/data_offset", "96"), R"(data_offset "64" "96")");
  EXPECT_EQ(DifferenceAfter("/kv/0/value", 8), "kv[0].value 7 8");
  EXPECT_EQ(DifferenceAfter("/kv/0/type", "i32"), R"(kv[0].type "u32" "i32")");
  EXPECT_EQ(DifferenceAfter("/kv/1/value/items/0", "0x3fc00001"),
            R"(kv[1].value.items[0] "0x3fc00000" "0x3fc00001")");
  EXPECT_EQ(DifferenceAfter("/kv/1/value/items/1", "0x00000000"),
            R"(kv[1].value.items[1] "nan" "0x00000000")");
  // Its length as stated, but not all of it there, or more.
  EXPECT_EQ(DifferenceAfter("/kv/1/value/items", {"0x3fc00000"}),
            R"(kv[1].value.items ["0x3fc00000","nan"] ["0x3fc00000"])");
  EXPECT_NE(DifferenceAfter("/kv/1/value/items", {"0x3fc00000", "nan", "nan"}),
            "");
  EXPECT_EQ(DifferenceAfter("/tensors/0/dims/1", "2"),
            R"(tensors[0].dims[1] "1" "2")");
  EXPECT_EQ(DifferenceAfter("/tensors/0/size", "64"),
            R"(tensors[0].size "32" "64")");
  EXPECT_EQ(DifferenceAfter("/policies", Json::array({"gguf.x"})),
            R"(policies [] ["gguf.x"])");
}

TEST(CompareDumps, MissingAndExtraEntriesDiffer) {
  Json got = Example();
  got["kv"].erase(1);
  auto difference = CompareDumps(Example(), got, AllDumpFields());
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->path, "kv.length");
  EXPECT_EQ(difference->expected, "2");
  EXPECT_EQ(difference->got, "1");
  got = Example();
  got["tensors"].push_back(got["tensors"][0]);
  difference = CompareDumps(Example(), got, AllDumpFields());
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->path, "tensors.length");
}

TEST(CompareDumps, NanIsAClassAndIntegersEqualTheirText) {
  EXPECT_EQ(DifferenceAfter("/kv/1/value/items/1", "0xffc00123"), "");
  EXPECT_EQ(DifferenceAfter("/kv/1/value/items/1", "0x7f800000"),
            R"(kv[1].value.items[1] "nan" "0x7f800000")");
  EXPECT_EQ(DifferenceAfter("/tensors/0/size", 32), "");
  EXPECT_EQ(DifferenceAfter("/data_offset", 64), "");
  EXPECT_EQ(DifferenceAfter("/kv/0/value", "7"), "");
}

TEST(CompareDumps, ANumberOfAReaderThatLostTheTypeEqualsTheFloat) {
  EXPECT_EQ(DifferenceAfter("/kv/1/value/items/0", 1.5), "");
  EXPECT_EQ(DifferenceAfter("/kv/1/value/items/0", 1.25),
            R"(kv[1].value.items[0] "0x3fc00000" "0x3fa00000")");
  EXPECT_NE(DifferenceAfter("/kv/1/value/items/0", 1.5000000001), "");
  EXPECT_NE(DifferenceAfter("/kv/1/value/items/0", 1e300), "");
  EXPECT_NE(DifferenceAfter("/kv/1/value/items/1", 0), "");
}

TEST(CompareDumps, NullIsNotComparedAndListed) {
  Json got = Example();
  got["alignment"] = nullptr;
  got["kv"][1]["value"]["elem"] = nullptr;
  std::vector<std::string> skipped;
  EXPECT_FALSE(CompareDumps(Example(), got, AllDumpFields(), &skipped));
  EXPECT_EQ(skipped,
            (std::vector<std::string>{"alignment", "kv[1].value.elem"}));
}

TEST(CompareDumps, ANullInsteadOfAValueNeverHidesTheNextDifference) {
  Json got = Example();
  got["kv"][0]["value"] = nullptr;
  got["kv"][1]["key"] = "c";
  const auto difference = CompareDumps(Example(), got, AllDumpFields());
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->path, "kv[1].key");
}

TEST(CompareDumps, ComparesOnlyReportedFields) {
  Json got = Example();
  got["alignment"] = 64;
  got["tensors"][0]["size"] = "1";
  got["policies"] = Json::array({"x"});
  const std::vector<std::string> fields = {"version", "kv", "tensors"};
  EXPECT_FALSE(CompareDumps(Example(), got, fields));
  got["kv"][0]["value"] = 8;
  EXPECT_TRUE(CompareDumps(Example(), got, fields));
}

TEST(CompareDumps, DataOffsetCountsOnlyWithTensors) {
  Json expected = Example(), got = Example();
  got["data_offset"] = "60";
  EXPECT_TRUE(CompareDumps(expected, got, AllDumpFields()));
  expected["tensors"] = got["tensors"] = Json::array();
  EXPECT_FALSE(CompareDumps(expected, got, AllDumpFields()));
}

TEST(CompareDumps, LostOrderIsComparedSortedByName) {
  Json got = Example();
  std::swap(got["kv"][0], got["kv"][1]);
  EXPECT_TRUE(CompareDumps(Example(), got, AllDumpFields()));
  got["ordered"] = false;
  EXPECT_FALSE(CompareDumps(Example(), got, AllDumpFields()));
  got["kv"][1]["value"] = 9;
  const auto difference = CompareDumps(Example(), got, AllDumpFields());
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->path, "kv[0].value");
}

Json WithArray(const Json& value) {
  Json dump = Example();
  dump["kv"] =
      Json::array({{{"key", "k"}, {"type", "array"}, {"value", value}}});
  return dump;
}

TEST(CompareDumps, AbbreviatesFullArraysOfADriver) {
  Json full = {{"elem", "i16"}, {"len", "300"}, {"items", Json::array()}};
  std::string encoded;
  for (int i = 0; i < 300; ++i) {
    full["items"].push_back(-i);
    encoded.push_back(static_cast<char>(-i));
    encoded.push_back(static_cast<char>(-i >> 8));
  }
  const Json expected = WithArray({{"elem", "i16"},
                                   {"len", "300"},
                                   {"items", {0, -1, -2, -299}},
                                   {"crc32", Crc32(0, encoded)}});
  EXPECT_FALSE(CompareDumps(expected, WithArray(full), AllDumpFields()));
  full["elem"] = nullptr;
  EXPECT_FALSE(CompareDumps(expected, WithArray(full), AllDumpFields()));
  full["elem"] = "i16";
  full["items"][150] = 1;
  const auto difference =
      CompareDumps(expected, WithArray(full), AllDumpFields());
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->path, "kv[0].value.crc32");
}

TEST(CompareDumps, AbbreviatesFullStringsOfADriver) {
  const std::string text(5000, 'q');
  Json expected = Example(), got = Example();
  expected["kv"][0] = {
      {"key", "s"}, {"type", "string"}, {"value", StringToJson(text)}};
  got["kv"][0] = {{"key", "s"}, {"type", "string"}, {"value", text}};
  EXPECT_FALSE(CompareDumps(expected, got, AllDumpFields()));
  got["kv"][0]["value"] = text + "q";
  EXPECT_TRUE(CompareDumps(expected, got, AllDumpFields()));
}

TEST(CompareDumps, MalformedAnswersDifferAndNeverThrow) {
  for (const char* text :
       {"null", "3", "[]", R"({"kv":7})", R"({"kv":[3]})",
        R"({"kv":[{"key":"a","type":"u32","value":{"x":1}}]})",
        R"({"kv":[{"key":"a","type":[],"value":7},{"key":"b","type":"array",
            "value":{"elem":7,"len":{},"items":{}}}]})",
        R"({"tensors":[{"name":{"hex":"f"},"dims":7}]})"}) {
    EXPECT_TRUE(CompareDumps(Example(), Json::parse(text), AllDumpFields()))
        << text;
  }
}

TEST(CompareValues, ComparesOneValueByType) {
  EXPECT_FALSE(CompareValues("u32", 7, 7));
  EXPECT_TRUE(CompareValues("u32", 7, 8));
  EXPECT_TRUE(CompareValues("u32", 7, nullptr));
  EXPECT_FALSE(CompareValues("f32", "nan", "0x7fc00001"));
  EXPECT_TRUE(CompareValues("string", "a", "b"));
}

TEST(ReportsFields, ReadsTheExpressionsOfTheRegistry) {
  const std::vector<std::string> fields = {"kv", "alignment", "version"};
  EXPECT_TRUE(ReportsFields("", fields));
  EXPECT_TRUE(ReportsFields("kv", fields));
  EXPECT_FALSE(ReportsFields("tensors", fields));
  EXPECT_TRUE(ReportsFields("kv,version", fields));
  EXPECT_FALSE(ReportsFields("kv,tensors", fields));
  EXPECT_TRUE(ReportsFields("alignment|data_offset", fields));
  EXPECT_TRUE(ReportsFields("data_offset|alignment", fields));
  EXPECT_FALSE(ReportsFields("data_offset|tensors", fields));
  EXPECT_FALSE(ReportsFields("kv,order", fields));
}

TEST(RestrictDump, NullsWhatIsNotReported) {
  Json dump = Example();
  const std::vector<std::string> fields = {"version", "tensors"};
  RestrictDump(fields, dump);
  EXPECT_EQ(dump["version"], 3);
  EXPECT_TRUE(dump["kv"].is_null());
  EXPECT_TRUE(dump["alignment"].is_null());
  EXPECT_TRUE(dump["tensors"][0]["size"].is_null());
  EXPECT_EQ(dump["ordered"], false);
}

TEST(Utf8, AcceptsExactlyTheWellFormed) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("\xf4\x8f\xbf\xbf"));
  EXPECT_FALSE(IsValidUtf8("\xf4\x90\x80\x80"));
  EXPECT_TRUE(IsValidUtf8("\xee\x80\x80"));
  EXPECT_FALSE(IsValidUtf8("\xe0\x9f\xbf"));
  EXPECT_FALSE(IsValidUtf8("\xf0\x8f\xbf\xbf"));
  EXPECT_FALSE(IsValidUtf8("a\x80"));
  EXPECT_FALSE(IsValidUtf8("\xe2\x96"));
  EXPECT_TRUE(IsValidUtf8("\xc2\x80"));
}

}  // namespace
}  // namespace weightproof::conformance
