#include "conformance/dump.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <string>

#include "conformance/dump_value.h"

namespace weightproof::conformance {
namespace {

wp_slice Slice(const std::string& s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

void SendHeader(const wp_gguf_sink* sink) {
  const wp_gguf_header header = {3, 0, 32, 64, 1, 1};
  sink->header(sink->context, &header);
}

template <typename T>
void SendScalar(const wp_gguf_sink* sink, const std::string& key, uint32_t type,
                T value) {
  sink->key(sink->context, Slice(key), type);
  sink->scalars(sink->context, type, &value, 1);
}

TEST(DumpBuilder, WritesTheExampleOfTheSpecification) {
  DumpBuilder builder;
  const wp_gguf_sink* sink = builder.sink();
  SendHeader(sink);
  SendScalar<uint32_t>(sink, "K", 4, 7);
  const uint64_t dims[] = {8};
  const std::string name = "t";
  const wp_gguf_tensor tensor = {Slice(name), 1, dims, 0, 0, 32};
  sink->tensor(sink->context, &tensor);
  sink->policy(sink->context, "gguf.kv.key.grammar");
  EXPECT_EQ(builder.violation(), "");
  EXPECT_EQ(builder.Take(96), Json::parse(R"({"version":3,"endian":"little",
    "alignment":32,"data_offset":"64","file_size":"96",
    "kv":[{"key":"K","type":"u32","value":7}],
    "tensors":[{"name":"t","dims":["8"],"type":0,"offset":"0","size":"32"}],
    "policies":["gguf.kv.key.grammar"]})"));
}

TEST(DumpBuilder, UnknownFieldsAreNull) {
  DumpBuilder builder;
  const wp_gguf_sink* sink = builder.sink();
  const wp_gguf_header header = {2, -1, WP_UNKNOWN, WP_UNKNOWN, 0, 1};
  sink->header(sink->context, &header);
  const wp_gguf_tensor tensor = {{nullptr, 0}, 0, nullptr, 0, 0, WP_UNKNOWN};
  sink->tensor(sink->context, &tensor);
  const Json dump = builder.Take(24);
  EXPECT_EQ(dump["version"], 2);
  EXPECT_TRUE(dump["endian"].is_null());
  EXPECT_TRUE(dump["alignment"].is_null());
  EXPECT_TRUE(dump["data_offset"].is_null());
  EXPECT_TRUE(dump["tensors"][0]["size"].is_null());
  EXPECT_EQ(dump["tensors"][0]["dims"], Json::array());
}

TEST(DumpBuilder, ScalarsKeepTypeWidthAndBits) {
  DumpBuilder builder;
  const wp_gguf_sink* sink = builder.sink();
  SendScalar<uint8_t>(sink, "a", 0, 255);
  SendScalar<int8_t>(sink, "b", 1, -1);
  SendScalar<int16_t>(sink, "c", 3, -32768);
  SendScalar<int32_t>(sink, "d", 5, -7);
  SendScalar<uint32_t>(sink, "e", 6, 0x3fc00000);
  SendScalar<uint32_t>(sink, "f", 6, 0xff800001);
  SendScalar<uint8_t>(sink, "g", 7, 2);
  SendScalar<uint64_t>(sink, "h", 10, UINT64_MAX);
  SendScalar<int64_t>(sink, "i", 11, INT64_MIN);
  SendScalar<uint64_t>(sink, "j", 12, 0x8000000000000000);
  SendScalar<uint64_t>(sink, "k", 12, 0x7ff0000000000001);
  SendScalar<uint32_t>(sink, "l", 6, 0x7f800000);
  const Json kv = builder.Take(0)["kv"];
  const auto value = [&](int i) { return kv[i]["value"]; };
  EXPECT_EQ(value(0), 255);
  EXPECT_EQ(value(1), -1);
  EXPECT_EQ(value(2), -32768);
  EXPECT_EQ(value(3), -7);
  EXPECT_EQ(value(4), "0x3fc00000");
  EXPECT_EQ(value(5), "nan");
  EXPECT_EQ(value(6), true);
  EXPECT_EQ(value(7), "18446744073709551615");
  EXPECT_EQ(value(8), "-9223372036854775808");
  EXPECT_EQ(value(9), "0x8000000000000000");
  EXPECT_EQ(value(10), "nan");
  EXPECT_EQ(value(11), "0x7f800000");
  EXPECT_EQ(kv[9]["type"], "f64");
}

TEST(DumpBuilder, StringsThatAreNotUtf8AreHex) {
  DumpBuilder builder;
  const wp_gguf_sink* sink = builder.sink();
  const auto send = [&](const std::string& s) {
    sink->key(sink->context, Slice("k"), 8);
    sink->string(sink->context, Slice(s));
  };
  send("\xff\xfe");
  send("\xe2\x96\x81");
  send(std::string("abc\0", 4));
  send("\xed\xa0\x80");  // a surrogate
  send("\xc0\x80");      // overlong NUL
  const Json kv = builder.Take(0)["kv"];
  EXPECT_EQ(kv[0]["value"], Json({{"hex", "fffe"}}));
  EXPECT_EQ(kv[1]["value"], "\u2581");
  EXPECT_EQ(kv[2]["value"], std::string("abc\0", 4));
  EXPECT_EQ(kv[3]["value"], Json({{"hex", "eda080"}}));
  EXPECT_EQ(kv[4]["value"], Json({{"hex", "c080"}}));
}

TEST(DumpBuilder, AbbreviatesStringsOver4096Bytes) {
  const std::string just_fits(4096, 'x');
  EXPECT_EQ(StringToJson(just_fits), just_fits);
  const std::string longer = "\xff" + std::string(4096, 'y');
  const Json value = StringToJson(longer);
  EXPECT_EQ(value["len"], "4097");
  EXPECT_EQ(value["crc32"], Crc32(0, longer));
  EXPECT_EQ(value["head"]["hex"].get<std::string>().substr(0, 6), "ff7979");
  EXPECT_EQ(value["tail"], std::string(64, 'y'));
}

TEST(DumpBuilder, NestedArraysNest) {
  DumpBuilder builder;
  const wp_gguf_sink* sink = builder.sink();
  const uint8_t values[] = {1, 2, 3};
  sink->key(sink->context, Slice("n"), 9);
  sink->array_begin(sink->context, 9, 2);
  sink->array_begin(sink->context, 0, 2);
  sink->scalars(sink->context, 0, values, 2);
  sink->array_end(sink->context);
  sink->array_begin(sink->context, 0, 1);
  sink->scalars(sink->context, 0, values + 2, 1);
  sink->array_end(sink->context);
  sink->array_end(sink->context);
  SendScalar<uint8_t>(sink, "z", 0, 1);
  EXPECT_EQ(builder.violation(), "");
  const Json kv = builder.Take(0)["kv"];
  EXPECT_EQ(kv[0]["value"], Json::parse(R"({"elem":"array","len":"2","items":[
    {"elem":"u8","len":"2","items":[1,2]},
    {"elem":"u8","len":"1","items":[3]}]})"));
  EXPECT_EQ(kv[1]["value"], 1);
}

// zlib's crc of "123456789" is the published check value.
TEST(DumpBuilder, ChecksumIsTheIeeeCrc) {
  EXPECT_EQ(Crc32(0, "123456789"), 0xcbf43926u);
  EXPECT_EQ(Crc32(Crc32(0, "1234"), "56789"), 0xcbf43926u);
}

TEST(DumpBuilder, AbbreviatesArraysOver256Elements) {
  DumpBuilder builder;
  const wp_gguf_sink* sink = builder.sink();
  std::vector<uint16_t> values(300);
  for (uint16_t i = 0; i < 300; ++i) values[i] = i;
  sink->key(sink->context, Slice("a"), 9);
  sink->array_begin(sink->context, 2, 300);
  sink->scalars(sink->context, 2, values.data(), 100);
  sink->scalars(sink->context, 2, values.data() + 100, 200);
  sink->array_end(sink->context);
  EXPECT_EQ(builder.violation(), "");
  const Json value = builder.Take(0)["kv"][0]["value"];
  EXPECT_EQ(value["len"], "300");
  EXPECT_EQ(value["items"], Json::array({0, 1, 2, 299}));
  const std::string encoded(reinterpret_cast<const char*>(values.data()), 600);
  EXPECT_EQ(value["crc32"], Crc32(0, encoded));
}

TEST(DumpBuilder, ChecksumOfStringsAndNansIsCanonical) {
  DumpBuilder builder;
  const wp_gguf_sink* sink = builder.sink();
  sink->key(sink->context, Slice("s"), 9);
  sink->array_begin(sink->context, 8, 257);
  std::string encoded;
  for (int i = 0; i < 257; ++i) {
    sink->string(sink->context, Slice("ab"));
    encoded += std::string("\2\0\0\0\0\0\0\0ab", 10);
  }
  sink->array_end(sink->context);
  std::vector<uint32_t> nans(257, 0xffc12345);
  sink->key(sink->context, Slice("f"), 9);
  sink->array_begin(sink->context, 6, 257);
  sink->scalars(sink->context, 6, nans.data(), 257);
  sink->array_end(sink->context);
  const Json kv = builder.Take(0)["kv"];
  EXPECT_EQ(kv[0]["value"]["crc32"], Crc32(0, encoded));
  std::string canonical;
  for (int i = 0; i < 257; ++i) canonical += std::string("\0\0\xc0\x7f", 4);
  EXPECT_EQ(kv[1]["value"]["crc32"], Crc32(0, canonical));
  EXPECT_EQ(kv[1]["value"]["items"][3], "nan");
}

TEST(DumpBuilder, ChecksumCoversNestedArrays) {
  DumpBuilder builder;
  const wp_gguf_sink* sink = builder.sink();
  sink->key(sink->context, Slice("n"), 9);
  sink->array_begin(sink->context, 9, 257);
  std::string encoded;
  const uint8_t seven = 7;
  for (int i = 0; i < 257; ++i) {
    sink->array_begin(sink->context, 0, 1);
    sink->scalars(sink->context, 0, &seven, 1);
    sink->array_end(sink->context);
    encoded += std::string("\0\0\0\0\1\0\0\0\0\0\0\0\7", 13);
  }
  sink->array_end(sink->context);
  const Json value = builder.Take(0)["kv"][0]["value"];
  EXPECT_EQ(value["crc32"], Crc32(0, encoded));
  EXPECT_EQ(value["items"].size(), 4u);
}

TEST(DumpBuilder, NamesBrokenCalls) {
  DumpBuilder builder;
  const wp_gguf_sink* sink = builder.sink();
  const uint8_t one = 1;
  sink->scalars(sink->context, 0, &one, 1);
  EXPECT_EQ(builder.violation(), "a value without a key");
  builder.Take(0);
  EXPECT_EQ(builder.violation(), "");
  sink->array_end(sink->context);
  EXPECT_EQ(builder.violation(), "the end of an array that was not begun");
  builder.Take(0);
  sink->key(sink->context, Slice("k"), 9);
  sink->array_begin(sink->context, 0, 2);
  sink->scalars(sink->context, 0, &one, 1);
  sink->array_end(sink->context);
  EXPECT_EQ(builder.violation(), "fewer elements than the array announced");
  builder.Take(0);
  sink->key(sink->context, Slice("k"), 9);
  sink->array_begin(sink->context, 0, 1);
  const uint8_t two[] = {1, 2};
  sink->scalars(sink->context, 0, two, 2);
  EXPECT_EQ(builder.violation(), "more elements than the array announced");
  builder.Take(0);
  sink->key(sink->context, Slice("k"), 0);
  sink->key(sink->context, Slice("l"), 0);
  EXPECT_EQ(builder.violation(), "a key before the last value");
}

TEST(DumpBuilder, LostTypesAreNull) {
  DumpBuilder builder;
  const wp_gguf_sink* sink = builder.sink();
  sink->key(sink->context, Slice("k"), 9);
  sink->array_begin(sink->context, 0xffffffff, 0);
  sink->array_end(sink->context);
  const Json kv = builder.Take(0)["kv"];
  EXPECT_TRUE(kv[0]["value"]["elem"].is_null());
  EXPECT_EQ(kv[0]["value"]["len"], "0");
}

}  // namespace
}  // namespace weightproof::conformance
