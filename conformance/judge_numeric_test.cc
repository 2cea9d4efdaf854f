// The judge on numbers: bits, variants, bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/testing/judge_testing.h"

namespace weightproof::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Vector Numeric(std::string operation, std::string rule, Json request,
               Json answer, std::string_view foreign_cell) {
  Vector vector;
  vector.id = "q-1";
  vector.format = "q8_0";
  vector.operation = std::move(operation);
  vector.rule = std::move(rule);
  vector.request = std::move(request);
  vector.expect["spec"] = Cell("accept");
  vector.expect["spec"].answer = std::move(answer);
  vector.expect["ggml"] = Cell(std::string(foreign_cell));
  vector.expect["candle"] = Cell(std::string(foreign_cell));
  return vector;
}

CaseRecord Output(std::string_view hex) {
  return Answered(
      {{"status", "ok"}, {"verdict", "accept"}, {"y", {{"hex", hex}}}});
}

TEST(JudgeNumeric, RequiredOutputsAreEqualToTheBit) {
  const Vector vector =
      Numeric("f16.to_f32", "f16.convert.exact", {{"x", {{{"hex", "0100"}}}}},
              {{"y", {{"hex", "00008033"}}}}, "accept");
  EXPECT_EQ(JudgeCase(Foreign(), vector, Output("00008033"), {}).outcome,
            Outcome::kPass);
  const Row row = JudgeCase(Foreign(), vector, Output("00000000"), {});
  EXPECT_EQ(row.outcome, Outcome::kFail);
  EXPECT_EQ(row.difference,
            "y byte 2: expected 00008033 from byte 0, got 00000000");
  EXPECT_THAT(JudgeCase(Foreign(), vector, Output("0000"), {}).difference,
              HasSubstr("expected 4 bytes, got 2"));
  EXPECT_EQ(JudgeCase(Foreign(), vector, Says("accept"), {}).reason,
            "accepted without \"y\"");
  EXPECT_EQ(JudgeCase(Foreign(), vector, Says("reject"), {}).outcome,
            Outcome::kFail);
}

TEST(JudgeNumeric, NanIsAClass) {
  const Vector vector =
      Numeric("f16.to_f32", "f16.convert.nan", {{"x", {{{"hex", "017e"}}}}},
              {{"y", {{"hex", "0000c07f"}}}}, "accept");
  EXPECT_EQ(JudgeCase(Foreign(), vector, Output("0020c0ff"), {}).outcome,
            Outcome::kPass);
  EXPECT_EQ(JudgeCase(Foreign(), vector, Output("0000807f"), {}).outcome,
            Outcome::kFail);
}

// q8v-02: three blocks of -1 against -128.
Vector DotVector() {
  const std::string minus_one = "003c" + std::string(64, 'f');
  std::string minus_128 = "003c";
  for (int i = 0; i < 32; ++i) minus_128 += "80";
  return Numeric("q8_0.dot", "q8_0.dot.order",
                 {{"n", 96},
                  {"w", {{{"repeat", minus_one}, {"n", 3}}}},
                  {"x", {{{"repeat", minus_128}, {"n", 3}}}}},
                 {{"y", {{"hex", "00004046"}}},
                  {"isum", {4096, 4096, 4096}},
                  {"exact_times_2p48", "3458764513820540928"}},
                 "bound");
}

TEST(JudgeNumeric, ForeignDotsAreHeldToTheBound) {
  const Vector vector = DotVector();
  Row row = JudgeCase(Foreign(), vector, Output("01004046"), {});
  EXPECT_EQ(row.outcome, Outcome::kPolicy) << row.reason;
  EXPECT_THAT(row.profiles, ElementsAre("ggml", "candle"));
  row = JudgeCase(Foreign(), vector, Output("000040c6"), {});
  EXPECT_EQ(row.outcome, Outcome::kFail);
  EXPECT_THAT(row.reason, HasSubstr("of the error bound"));
  Subject built_in = Foreign();
  built_in.built_in = true;
  built_in.hello.profile = "spec";
  EXPECT_EQ(JudgeCase(built_in, vector, Output("01004046"), {}).outcome,
            Outcome::kFail);
  EXPECT_EQ(JudgeCase(built_in, vector, Output("00004046"), {}).outcome,
            Outcome::kPass);
}

TEST(JudgeNumeric, AWrongIntegerSumIsNamedAsSuch) {
  CaseRecord record = Output("00004046");
  record.reply.answer["isum"] = {4096, 4095, 4096};
  const Row row = JudgeCase(Foreign(), DotVector(), record, {});
  EXPECT_EQ(row.outcome, Outcome::kFail);
  EXPECT_EQ(row.difference, "isum[1]: expected 4096, got 4095");
}

// q8r-01 to its first two codes: ties away, or to even.
TEST(JudgeNumeric, AQuantizerFollowsAVariantOrFails) {
  Vector vector =
      Numeric("q8_0.quantize", "q8_0.quantize.tie",
              {{"n", 32},
               {"rows", 1},
               {"x",
                {{{"hex",
                   "0000fe420000003f0000c03f00002040000000bf0000c0bf"
                   "000020c06666663f"}},
                 {{"zero", 96}}}}},
              {{"y", {{"hex", "003c7f010203fffefd01" + std::string(48, '0')}}}},
              "policy");
  const auto judge = [&](const std::string& y) {
    const CaseRecord record = Output(y + std::string(48, '0'));
    Implementation about;
    return JudgeAll(Foreign(), {&vector}, {&record}, about).front();
  };
  EXPECT_EQ(judge("003c7f010203fffefd01").outcome, Outcome::kPolicy);
  Row row = judge("003c7f00020200fefe01");
  EXPECT_EQ(row.outcome, Outcome::kPolicy) << row.reason;
  EXPECT_THAT(row.profiles, ElementsAre("ggml", "candle"));
  row = judge("003c7f0102030000fd01");
  EXPECT_EQ(row.outcome, Outcome::kFail);
  EXPECT_THAT(row.reason, HasSubstr("y byte"));
}

TEST(JudgeNumeric, ProfilesWithoutAClaimDoNotCount) {
  Vector vector = Numeric("q8_1.validate", "q8_1.validate.size",
                          {{"n", 32}, {"x", Json::array()}}, nullptr, "n/a");
  const Row row = JudgeCase(Foreign(), vector, Says("accept"), {});
  EXPECT_EQ(row.outcome, Outcome::kPass);
  EXPECT_EQ(row.expected, "accept");
  vector.expect.erase("spec");
  EXPECT_EQ(JudgeCase(Foreign(), vector, Says("accept"), {}).outcome,
            Outcome::kNotCompared);
}

}  // namespace
}  // namespace weightproof::conformance
