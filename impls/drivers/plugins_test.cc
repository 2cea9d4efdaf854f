// The plug-ins against the real software. What is not installed is reported
// as NOT RUN; what a plug-in says about missing software is always tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "impls/drivers/modelvet/violations.h"
#include "impls/drivers/testing.h"
#include "reference/rule.h"

namespace weightproof::drivers {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Opens an instance or leaves the test as NOT RUN.
#define WP_OPEN(implementation, plugin, folder, arguments) \
  std::string why;                                         \
  const auto installed = Installed(folder, why);           \
  if (!installed) GTEST_SKIP() << why;                     \
  const wp_implementation* const implementation =          \
      OpenPlugin(plugin, std::string(arguments), why);     \
  ASSERT_NE(implementation, nullptr) << why

const std::string kGgmlDir =
    "/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64";

TEST(Plugins, SayWhichLibraryIsMissing) {
  std::string error;
  EXPECT_EQ(OpenPlugin("plugin_ggml", "full /nowhere", error), nullptr);
  EXPECT_THAT(error, HasSubstr("/nowhere/libggml-base.so"));
  EXPECT_EQ(OpenPlugin("plugin_modelvet", "/nowhere.so", error), nullptr);
  EXPECT_THAT(error, HasSubstr("/nowhere.so"));
}

TEST(GgmlMetadata, ReadsWhatIsThereAndRefusesAWrongMagic) {
  WP_OPEN(ggml, "plugin_ggml", "ggml", "metadata " + *installed + kGgmlDir);
  EXPECT_EQ(Parse(*ggml, EmptyGguf()), "accept v3 data@24");
  EXPECT_EQ(Parse(*ggml, OneTensorGguf()),
            "accept v3 data@96 general.name:8=x; t[8]0@0+32");
  EXPECT_THAT(Parse(*ggml, BadMagicGguf()), StartsWith("reject: ggml returns"));
  EXPECT_EQ(ggml->gguf_tensor, nullptr);
}

TEST(GgmlMetadata, ReadsABufferWithoutAPath) {
  WP_OPEN(ggml, "plugin_ggml", "ggml", "metadata " + *installed + kGgmlDir);
  const std::string bytes = BadMagicGguf();
  wp_gguf_input input{};
  input.data = {reinterpret_cast<const std::uint8_t*>(bytes.data()),
                bytes.size()};
  input.file_size = bytes.size();
  wp_answer answer{};
  ggml->gguf_parse(&input, nullptr, &answer);
  EXPECT_THAT(Describe(answer), StartsWith("reject"));
  input.file_size += 1;
  answer = {};
  ggml->gguf_parse(&input, nullptr, &answer);
  EXPECT_EQ(Describe(answer), "not-run: needs the whole file");
}

TEST(GgmlMetadata, KeepsEveryScalarAndArray) {
  WP_OPEN(ggml, "plugin_ggml", "ggml", "metadata " + *installed + kGgmlDir);
  const std::string bytes = GgufHeader(0, 4) + GgufString("a") + U32(10) +
                            U64(~0ull) + GgufString("b") + U32(9) + U32(8) +
                            U64(2) + GgufString("") + GgufString("q") +
                            GgufString("c") + U32(9) + U32(2) + U64(0) +
                            GgufString("d") + U32(7) + std::string(1, '\1');
  EXPECT_THAT(Parse(*ggml, bytes),
              HasSubstr(" a:10=ffffffffffffffff b:9=8x2(;q;) c:9=2x0() "
                        "d:7=01"));
}

TEST(GgmlMetadata, TypedAccess) {
  WP_OPEN(ggml, "plugin_ggml", "ggml", "metadata " + *installed + kGgmlDir);
  EXPECT_EQ(Get(*ggml, OneTensorGguf(), "general.name", 8),
            "accept general.name:8=x;");
  EXPECT_THAT(Get(*ggml, OneTensorGguf(), "nothing", 8), StartsWith("reject"));
}

// The library's typed getter asserts; the plug-in must not hide that.
TEST(GgmlMetadataDeathTest, TypedAccessOfAnotherTypeEndsTheProcess) {
  WP_OPEN(ggml, "plugin_ggml", "ggml", "metadata " + *installed + kGgmlDir);
  EXPECT_DEATH(Get(*ggml, OneTensorGguf(), "general.name", 4), "GGML_ASSERT");
}

TEST(GgmlFull, HandsOutTheBytesThatGgmlLoaded) {
  WP_OPEN(ggml, "plugin_ggml", "ggml", "full " + *installed + kGgmlDir);
  EXPECT_EQ(Parse(*ggml, OneTensorGguf()),
            "accept v3 data@96 general.name:8=x; t[8]0@0+32");
  EXPECT_EQ(ReadTensor(*ggml, OneTensorGguf(), 0),
            "accept 000000000000803f00000040000040400000804000"
            "00a0400000c0400000e040");
  EXPECT_EQ(ReadTensor(*ggml, OneTensorGguf(), 1),
            "reject: no tensor of this number");
  std::string cut = OneTensorGguf();
  cut.pop_back();
  EXPECT_THAT(Parse(*ggml, cut), StartsWith("reject"));
}

TEST(GgmlFull, DoesNotLoadMoreThanOneGibibyte) {
  WP_OPEN(ggml, "plugin_ggml", "ggml", "full " + *installed + kGgmlDir);
  std::string bytes = GgufHeader(1, 0) + GgufString("t") + U32(1) +
                      U64((1ull << 30) + 1) + U32(24) + U64(0);
  bytes.resize(128);
  EXPECT_THAT(Parse(*ggml, bytes), StartsWith("not-run: ggml would load"));
}

std::vector<float> TieRow() {
  std::vector<float> x(32, 0);
  const float values[] = {127, .5f, 1.5f, 2.5f, -.5f, -1.5f, -2.5f, .9f};
  std::copy(std::begin(values), std::end(values), x.begin());
  return x;
}

// First bytes of the Q8_0 block of TieRow, or why there is none.
std::string QuantizeTies(const wp_implementation& ggml) {
  std::string block(34, '\x55');
  wp_answer answer{};
  ggml.q8_0_quantize(nullptr, TieRow().data(), 32, 1,
                     reinterpret_cast<std::uint8_t*>(block.data()), &answer);
  return Describe(answer) + " " + Hex(block.substr(0, 10));
}

TEST(GgmlRef, RoundsHalfAwayFromZero) {
  WP_OPEN(ggml, "plugin_ggml", "ggml", "ref " + *installed + kGgmlDir);
  EXPECT_EQ(QuantizeTies(*ggml), "accept 003c7f010203fffefd01");
  std::vector<float> y(32);
  const std::string block =
      std::string("\x00\x3c\x7f\xff", 4) + std::string(30, '\2');
  wp_answer answer{};
  ggml->q8_0_dequantize(nullptr,
                        reinterpret_cast<const std::uint8_t*>(block.data()), 32,
                        1, y.data(), &answer);
  EXPECT_EQ(y[0], 127);
  EXPECT_EQ(y[1], -1);
  EXPECT_EQ(y[31], 2);
}

TEST(GgmlRef, ValidatesScales) {
  WP_OPEN(ggml, "plugin_ggml", "ggml", "ref " + *installed + kGgmlDir);
  std::string block(34, '\0');
  const wp_slice slice{reinterpret_cast<const std::uint8_t*>(block.data()), 34};
  wp_answer answer{};
  ggml->q8_0_validate(slice, 32, 1, &answer);
  EXPECT_EQ(answer.verdict, WP_ACCEPT);
  block[1] = '\x7c';
  ggml->q8_0_validate(slice, 32, 1, &answer);
  EXPECT_EQ(answer.verdict, WP_REJECT);
}

class GgmlCpu : public ::testing::TestWithParam<const char*> {};

// The SSE builds use the reference's rounding, AVX and later half to even.
TEST_P(GgmlCpu, QuantizesAndMultipliesOrSaysThatThisMachineCannot) {
  const std::string name = GetParam();
  WP_OPEN(ggml, "plugin_ggml", "ggml",
          "cpu " + name + " " + *installed + kGgmlDir);
  const std::string block = QuantizeTies(*ggml);
  if (block.starts_with("not-run")) {
    EXPECT_THAT(block, HasSubstr("ggml_backend_score() is 0"));
    GTEST_SKIP() << "NOT RUN: " << block;
  }
  const bool sse = name == "x64" || name == "sse42";
  EXPECT_EQ(block, sse ? "accept 003c7f010203fffefd01"
                       : "accept 003c7f00020200fefe01");
  const std::string w = std::string("\x00\x3c", 2) + std::string(32, '\3');
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(w.data());
  float y = 0;
  wp_answer answer{};
  ggml->q8_0_dot(nullptr, bytes, bytes, 32, &y, nullptr, &answer);
  EXPECT_EQ(Describe(answer), "accept");
  EXPECT_EQ(y, 288);
}

INSTANTIATE_TEST_SUITE_P(
    , GgmlCpu,
    ::testing::Values("x64", "sse42", "sandybridge", "ivybridge", "piledriver",
                      "haswell", "skylakex", "cannonlake", "cascadelake",
                      "icelake", "cooperlake", "zen4", "alderlake",
                      "sapphirerapids"),
    [](const auto& param) { return std::string(param.param); });

TEST(Modelvet, GivesVerdictsRulesAndOffsets) {
  WP_OPEN(modelvet, "plugin_modelvet", "modelvet",
          *installed + "/libmodelvet.so");
  EXPECT_THAT(Parse(*modelvet, EmptyGguf()), StartsWith("accept"));
  EXPECT_THAT(Parse(*modelvet, OneTensorGguf()), StartsWith("accept"));
  EXPECT_THAT(Parse(*modelvet, BadMagicGguf()),
              StartsWith("reject: magic (100)"));
  const std::string bytes = GgufHeader(0, 1) + GgufString("") + U32(7) + "\1";
  wp_gguf_input input{};
  input.data = {reinterpret_cast<const std::uint8_t*>(bytes.data()),
                bytes.size()};
  input.file_size = bytes.size();
  wp_answer answer{};
  modelvet->gguf_parse(&input, nullptr, &answer);
  EXPECT_STREQ(answer.rule, "gguf.kv.key.empty");
  EXPECT_EQ(answer.offset, 24u);
}

TEST(Modelvet, NamesRulesOfTheRegistry) {
  for (const auto& violation : modelvet::kViolations) {
    if (violation.rule == nullptr) continue;
    EXPECT_TRUE(FindRule(violation.rule)) << violation.rule;
  }
  EXPECT_EQ(modelvet::FindViolation(2), nullptr);
}

}  // namespace
}  // namespace weightproof::drivers
