#include "conformance/numeric.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "conformance/numeric_reference.h"
#include "conformance/vector.h"
#include "reference/rule.h"

namespace weightproof::conformance {
namespace {

std::map<std::string, Vector> NumericVectors() {
  const auto set = LoadVectors(WEIGHTPROOF_SOURCE_DIR "/conformance/vectors");
  EXPECT_TRUE(set.has_value())
      << set.error().file << set.error().pointer << set.error().message;
  std::map<std::string, Vector> out;
  if (!set) return out;
  for (const Vector& vector : set->vectors) {
    if (vector.format == "q8_0") out.emplace(vector.id, vector);
  }
  return out;
}

std::string SpecHex(const Vector& vector) {
  return vector.expect.at("spec").answer.at("y").at("hex");
}

TEST(NumericVectors, AreAllThere) {
  const auto vectors = NumericVectors();
  std::map<std::string, int> count;
  for (const auto& [id, vector] : vectors) ++count[id.substr(0, 3)];
  EXPECT_EQ(count["q8r"] + count["q8s"] + count["q8z"] + count["q8t"], 56);
  EXPECT_EQ(count["q8n"], 13);  // 12 and their finite twin
  EXPECT_EQ(count["q8b"], 4);
  EXPECT_EQ(count["q81"], 15);
  EXPECT_EQ(count["q8d"], 19);
  EXPECT_EQ(count["q8v"], 28);
  EXPECT_EQ(count["q8m"], 11);  // 8, one of them with four thread counts
  EXPECT_EQ(count["q8x"], 8);
  EXPECT_EQ(count["q8c"], 34);
  EXPECT_EQ(count["f16"], 42);
}

// Every rule that an operation can show has a vector.
TEST(NumericVectors, ExerciseEveryRuleOfAnOperation) {
  std::set<std::string> exercised;
  for (const auto& [id, vector] : NumericVectors()) {
    exercised.insert(vector.rule);
  }
  for (const Rule& rule : Rules()) {
    if (rule.format != "q8_0" || rule.stage == "environment") continue;
    EXPECT_TRUE(exercised.contains(std::string(rule.id))) << rule.id;
  }
}

// Right values by hand, so that the files cannot drift with the reference.
TEST(NumericVectors, HoldTheHandWrittenAnswers) {
  const auto v = NumericVectors();
  const std::string zeros(48, '0');
  EXPECT_EQ(SpecHex(v.at("q8r-01")), "003c7f010203fffefd01" + zeros);
  EXPECT_EQ(v.at("q8r-01").variants.at("ggml-avx2").at("y").at("hex"),
            "003c7f00020200fefe01" + zeros);
  EXPECT_EQ(SpecHex(v.at("q8v-02")), "00004046");  // 12288
  EXPECT_EQ(v.at("q8v-02").variants.at("avx2-fma8+sign").at("y").at("hex"),
            "000040c6");
  EXPECT_EQ(SpecHex(v.at("q8v-06")), "00000000");
  EXPECT_EQ(v.at("q8v-06").variants.at("generic").at("y").at("hex"),
            "0000803f");
  EXPECT_EQ(v.at("q8v-27").expect.at("spec").answer.at("exact_times_2p48"),
            "55947884093110222848");
  EXPECT_EQ(v.at("q8n-01").expect.at("spec").verdict, "reject");
  EXPECT_EQ(v.at("q8n-01").expect.at("ggml").verdict, "policy");
  EXPECT_EQ(v.at("q8c-11").expect.at("spec").offset, 68u);
  EXPECT_EQ(v.at("q8c-11").expect.at("candle").verdict, "accept");
  EXPECT_EQ(v.at("f16-32").expect.at("spec").answer.at("y_sha256"),
            "385ff5fe69182797cda5f1827e20cf423f4416bc9246f27d0eec27cac9039259");
}

TEST(ExpandBuffer, TakesChunksHexAndGenerators) {
  EXPECT_EQ(ToHex(*ExpandBuffer(Json::parse(
                R"([{"hex":"01"},{"repeat":"0a0b","n":2},{"zero":2}])"))),
            "010a0b0a0b0000");
  EXPECT_EQ(ToHex(*ExpandBuffer(Json::parse(R"({"hex":"00ff"})"))), "00ff");
  EXPECT_EQ(
      ExpandBuffer(Json::parse(R"({"gen":{"seed":1,"draw":"U","blocks":2}})"))
          ->size(),
      256u);
  EXPECT_TRUE(ExpandBuffer(Json::array())->empty());
}

TEST(ExpandBuffer, SaysWhatIsMalformed) {
  for (const char* text :
       {R"({"gen":{"seed":1,"draw":"Q","blocks":2}})",
        R"({"gen":{"seed":1,"draw":"U"}})", R"({"gen":3})",
        R"({"gen":{"seed":-1,"draw":"U","blocks":2}})",
        R"({"gen":{"seed":1,"draw":"U","blocks":99999999999}})",
        R"({"gen":{"seed":1,"draw":"U","blocks":1,"after":"m"}})",
        R"([{"hex":"0"}])", R"([{"zero":99999999999999}])", R"("00")",
        R"(null)"}) {
    const auto bytes = ExpandBuffer(Json::parse(text));
    ASSERT_FALSE(bytes.has_value()) << text;
    EXPECT_FALSE(bytes.error().empty()) << text;
  }
}

TEST(CanonicalOutput, ReplacesNanOnlyWhereAFloatIs) {
  const auto canonical = [](std::string_view operation, std::string hex) {
    return ToHex(CanonicalOutput(operation, *FromHex(hex)));
  };
  EXPECT_EQ(canonical("f16.from_f32", "01fe007c017c"), "007e007c007e");
  EXPECT_EQ(canonical("q8_0.dot", "010080ff"), "0000c07f");
  EXPECT_EQ(canonical("q8_0.dot", "000080ff"), "000080ff");
  const std::string codes(64, 'f');
  EXPECT_EQ(canonical("q8_0.quantize", "ff7f" + codes), "007e" + codes);
  EXPECT_EQ(canonical("q8_1.quantize", "003cffff" + codes), "003c007e" + codes);
}

TEST(Sha256Hex, KnowsTheEmptyString) {
  EXPECT_EQ(Sha256Hex({}),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(ReadRequest, RefusesABrokenRequest) {
  Vector vector;
  vector.operation = "q8_0.dot";
  EXPECT_FALSE(ReadRequest(vector).has_value());
  vector.request = {{"n", 32}, {"x", Json::array()}};
  EXPECT_FALSE(ReadRequest(vector).has_value());  // no w
  vector.request["w"] = Json::array();
  EXPECT_TRUE(ReadRequest(vector).has_value());
  vector.request["n"] = -1;
  EXPECT_FALSE(ReadRequest(vector).has_value());
}

}  // namespace
}  // namespace weightproof::conformance
