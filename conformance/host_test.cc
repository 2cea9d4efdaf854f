#include "conformance/host.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace weightproof::conformance {
namespace {

const char* const kVerdicts[] = {"accept", "reject", nullptr};
const char* const kFields[] = {"version", "kv", nullptr};
const char* const kVariants[] = {"plain", "other", nullptr};

void Detail(wp_answer* answer, const char* text) {
  std::snprintf(answer->detail, sizeof answer->detail, "%s", text);
}

// Accepts files that start with 'G' and shows their first byte; 'S' calls the
// sink wrongly; the rest is rejected at byte 0.
void FakeParse(const wp_gguf_input* input, const wp_gguf_sink* sink,
               wp_answer* answer) {
  const uint8_t first = input->data.size > 0 ? input->data.data[0] : 0;
  if (first == 'S') {
    sink->string(sink->context, {nullptr, 0});
    return;
  }
  if (first != 'G') {
    answer->verdict = WP_REJECT;
    answer->rule = "gguf.header.magic.wrong";
    answer->offset = 0;
    Detail(answer, "bad \xff magic");
    return;
  }
  const wp_gguf_header header = {3, 0, 32, 32, 1, 0};
  sink->header(sink->context, &header);
  sink->key(sink->context, {input->data.data, 1}, 0);
  sink->scalars(sink->context, 0, &first, 1);
}

void FakeTensor(const wp_gguf_input* input, uint64_t index,
                const wp_bytes_sink* out, wp_answer* answer) {
  if (index > 0) {
    answer->status = WP_STATUS_NOT_RUN;
    Detail(answer, "only the first");
    return;
  }
  out->write(out->context, input->data.data, input->data.size);
}

void FakeGet(const wp_gguf_input*, wp_slice key, uint32_t type,
             const wp_gguf_sink* sink, wp_answer* answer) {
  if (type != 4) {
    answer->verdict = WP_REJECT;
    return;
  }
  const auto value = static_cast<uint32_t>(key.size);
  sink->key(sink->context, key, type);
  sink->scalars(sink->context, 4, &value, 1);
}

// y = n bytes of 01, and the rounding mode left changed.
void FakeQuantize(const char* variant, const float*, uint64_t n, uint64_t rows,
                  uint8_t* y, wp_answer* answer) {
  if (n % 32 != 0) {
    answer->verdict = WP_REJECT;
    answer->rule = "q8_0.shape.not_multiple";
    return;
  }
  std::memset(y, variant == nullptr ? 1 : variant[0], n / 32 * 34 * rows);
  std::fesetround(FE_UPWARD);
}

void FakeDot(const char*, const uint8_t*, const uint8_t*, uint64_t, float* y,
             int32_t* isum, wp_answer*) {
  *y = 1.5f;
  isum[0] = -7;
}

int32_t VariantRuns(const char* variant) {
  return std::strcmp(variant, "other") == 0 ? 0 : 1;
}

const wp_implementation* Fake() {
  static const wp_implementation kTable = [] {
    wp_implementation table = {};
    table.abi_version = WP_ABI_VERSION;
    table.name = "fake";
    table.version = "7";
    table.language = "C";
    table.verdicts = kVerdicts;
    table.dump_fields = kFields;
    table.variants = kVariants;
    table.variant_runs = VariantRuns;
    table.gguf_parse = FakeParse;
    table.gguf_tensor = FakeTensor;
    table.gguf_get = FakeGet;
    table.q8_0_quantize = FakeQuantize;
    table.q8_0_dot = FakeDot;
    return table;
  }();
  return &kTable;
}

class HostTest : public testing::Test {
 protected:
  HostTest() : host_(Fake()) {
    char pattern[] = "/tmp/weightproof_host_XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  ~HostTest() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& content) {
    const auto path = directory_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  Json Ask(const Json& request) {
    return Json::parse(host_.Handle(request.dump()));
  }

  std::filesystem::path directory_;
  Host host_;
};

TEST_F(HostTest, HelloSaysWhatTheTableOffers) {
  EXPECT_EQ(Ask({{"id", 0}, {"op", "hello"}, {"protocol", 1}}),
            Json::parse(R"({"id":0,"protocol":1,"name":"fake","version":"7",
      "language":"C","operations":["gguf.parse","gguf.tensor","gguf.get",
      "q8_0.quantize","q8_0.dot"],"verdicts":["accept","reject"],
      "dump":["version","kv"],"variants":["plain","other"],
      "profile":null})"));
}

TEST_F(HostTest, ParsesAFileIntoARestrictedDump) {
  const Json answer =
      Ask({{"id", 5}, {"op", "gguf.parse"}, {"file", Write("a", "GGUF")}});
  EXPECT_EQ(answer, Json::parse(R"({"id":5,"status":"ok","verdict":"accept",
      "dump":{"version":3,"endian":null,"alignment":null,"data_offset":null,
      "file_size":null,"kv":[{"key":"G","type":"u8","value":71}],
      "tensors":null,"policies":null,"ordered":false}})"));
}

TEST_F(HostTest, RejectionsCarryRuleOffsetAndDetail) {
  const Json answer =
      Ask({{"id", 5}, {"op", "gguf.parse"}, {"file", Write("b", "XX")}});
  EXPECT_EQ(answer["verdict"], "reject");
  EXPECT_EQ(answer["rule"], "gguf.header.magic.wrong");
  EXPECT_EQ(answer["offset"], 0);
  EXPECT_EQ(answer["detail"], "62616420ff206d61676963");  // not UTF-8
}

TEST_F(HostTest, AWrongSinkCallIsAnErrorAndNoVerdict) {
  const Json answer =
      Ask({{"id", 1}, {"op", "gguf.parse"}, {"file", Write("c", "S")}});
  EXPECT_EQ(answer["status"], "error");
  EXPECT_EQ(answer["detail"],
            "the sink was called wrongly: a value without a key");
}

TEST_F(HostTest, LargeFilesAreMapped) {
  std::string content(1 << 20, 'G');
  const Json answer = Ask({{"id", 1},
                           {"op", "gguf.tensor"},
                           {"file", Write("l", content)},
                           {"index", 0}});
  EXPECT_EQ(answer["size"], "1048576");
}

TEST_F(HostTest, TensorsAreMeasuredOrWritten) {
  const std::string file = Write("t", "123456789");
  const std::string out = directory_ / "out";
  const Json answer = Ask({{"id", 1},
                           {"op", "gguf.tensor"},
                           {"file", file},
                           {"index", 0},
                           {"out", out}});
  EXPECT_EQ(answer["size"], "9");
  EXPECT_EQ(answer["crc32"], 0xcbf43926u);
  std::ifstream in(out, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "123456789");
  const Json second =
      Ask({{"id", 1}, {"op", "gguf.tensor"}, {"file", file}, {"index", 1}});
  EXPECT_EQ(second["status"], "not-run");
  EXPECT_EQ(second["why"], "only the first");
}

TEST_F(HostTest, GetReadsOneValue) {
  Json request = {{"id", 1},
                  {"op", "gguf.get"},
                  {"file", Write("g", "G")},
                  {"key", "abc"},
                  {"type", "u32"}};
  EXPECT_EQ(Ask(request)["value"], 3);
  request["type"] = "f32";
  EXPECT_EQ(Ask(request)["verdict"], "reject");
  request["type"] = "x32";
  EXPECT_EQ(Ask(request)["status"], "error");
}

TEST_F(HostTest, BadRequestsAreErrorsThatNameTheReason) {
  EXPECT_EQ(Json::parse(host_.Handle("nonsense"))["status"], "error");
  EXPECT_TRUE(Json::parse(host_.Handle("nonsense"))["id"].is_null());
  EXPECT_EQ(Json::parse(host_.Handle("\xff\xfe"))["status"], "error");
  EXPECT_EQ(Json::parse(host_.Handle(std::string(9999, '[')))["status"],
            "error");
  EXPECT_EQ(Ask("text")["detail"], "a request is an object");
  EXPECT_EQ(Ask({{"id", 3}})["detail"], "\"op\" is missing or not a string");
  EXPECT_EQ(Ask({{"id", 3}, {"op", "gguf.write"}})["status"],
            "not-implemented");
  EXPECT_EQ(Ask({{"id", 3}, {"op", "q8_0.matvec"}})["status"],
            "not-implemented");
  EXPECT_EQ(Ask({{"id", 3}, {"op", "gguf.parse"}})["detail"],
            "\"file\" is missing or not a string");
  EXPECT_EQ(
      Ask({{"id", 3}, {"op", "gguf.parse"}, {"file", "/no/such"}})["detail"],
      "not-found: No such file or directory");
  const std::string fifo = directory_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(Ask({{"id", 3}, {"op", "gguf.parse"}, {"file", fifo}})["status"],
            "error");
}

std::string Floats(int n) {
  std::string hex;
  for (int i = 0; i < n; ++i) hex += "0000803f";
  return hex;
}

TEST_F(HostTest, NumericOperationsTakeHexAndFiles) {
  Json request = {{"id", 1},
                  {"op", "q8_0.quantize"},
                  {"n", 32},
                  {"x", {{"hex", Floats(32)}}}};
  std::string ones;
  for (int i = 0; i < 34; ++i) ones += "01";
  EXPECT_EQ(Ask(request)["y"]["hex"], ones);
  const std::string file = Write("x", std::string(200, '\0'));
  request["x"] = {{"file", file}, {"offset", 72}, {"bytes", 128}};
  EXPECT_EQ(Ask(request)["y"]["hex"], ones);
  request["x"]["offset"] = 73;
  EXPECT_EQ(Ask(request)["detail"], "\"x\" reaches past the end of its file");
  request["x"] = {{"hex", "zz"}};
  EXPECT_EQ(Ask(request)["detail"], "\"x\" has a malformed \"hex\"");
  request["x"] = {{"hex", Floats(31)}};
  EXPECT_EQ(Ask(request)["status"], "error");
  request["n"] = 31;
  EXPECT_EQ(Ask(request)["rule"], "q8_0.shape.not_multiple");
  request["n"] = -1;
  EXPECT_EQ(Ask(request)["detail"], "\"n\" is not an unsigned integer");
}

TEST_F(HostTest, HugeShapesAreErrorsAndAllocateNothing) {
  const Json answer = Ask({{"id", 1},
                           {"op", "q8_0.quantize"},
                           {"n", 1ull << 62},
                           {"rows", 1ull << 62},
                           {"x", {{"hex", ""}}}});
  EXPECT_EQ(answer["status"], "error");
}

TEST_F(HostTest, OutPathsReceiveTheBytes) {
  const std::string out = directory_ / "y";
  const Json answer = Ask({{"id", 1},
                           {"op", "q8_0.quantize"},
                           {"n", 32},
                           {"x", {{"hex", Floats(32)}}},
                           {"out", out}});
  EXPECT_EQ(answer["y"]["bytes"], 34);
  EXPECT_EQ(std::filesystem::file_size(out), 34u);
}

TEST_F(HostTest, VariantsAreForcedOrNotRun) {
  Json request = {{"id", 1},
                  {"op", "q8_0.quantize"},
                  {"n", 32},
                  {"x", {{"hex", Floats(32)}}},
                  {"variant", "plain"}};
  EXPECT_EQ(Ask(request)["y"]["hex"].get<std::string>().substr(0, 2), "70");
  request["variant"] = "other";
  EXPECT_EQ(Ask(request)["status"], "not-run");
  EXPECT_EQ(Ask(request)["why"], "this machine cannot run other");
  request["variant"] = "third";
  EXPECT_EQ(Ask(request)["detail"], "no variant third");
}

TEST_F(HostTest, DotShowsItsIntegerSums) {
  const std::string block(68, '0');
  const Json answer = Ask({{"id", 1},
                           {"op", "q8_0.dot"},
                           {"n", 32},
                           {"w", {{"hex", block}}},
                           {"x", {{"hex", block}}}});
  EXPECT_EQ(answer["y"]["hex"], "0000c03f");
  EXPECT_EQ(answer["isum"], Json::array({-7}));
}

TEST_F(HostTest, AChangedEnvironmentIsReportedAndUndone) {
  const Json answer = Ask({{"id", 1},
                           {"op", "q8_0.quantize"},
                           {"n", 32},
                           {"x", {{"hex", Floats(32)}}}});
  EXPECT_TRUE(answer.contains("fp_leak")) << answer;
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

}  // namespace
}  // namespace weightproof::conformance
