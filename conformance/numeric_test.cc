#include "conformance/numeric.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "build_paths.h"
#include "conformance/numeric_reference.h"
#include "conformance/vector.h"
#include "reference/q8_0/generator.h"
#include "reference/q8_0/quantize.h"
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
  EXPECT_EQ(count["q81"], 16);
  EXPECT_EQ(count["q8d"], 19);
  EXPECT_EQ(count["q8v"], 29);
  // 8, one of them with four thread counts; 11 lengths of row; all -128
  EXPECT_EQ(count["q8m"], 23);
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

// Digests computed by programs that share no code with this one: the inputs
// of the bulk corpora, and the outputs of two unnamed points.
TEST(BulkCorpora, HaveTheirPublishedDigests) {
  const struct {
    char draw;
    std::uint64_t seed;
    const char *input, *inv_amax_away, *scale_rtz;
  } corpora[] = {
      {'U', 1,
       "ac4cd34c08ff9b07ed1b5edf628f9c22f3f0a7739c9d61534b25d04d6534148e",
       "bcd8f68e3e1d42e9f929f6b8ee7dfefe2454dd057b481e6a66fafc9926002798",
       "ef407b9f0edaa75afa5f5a0b535a4b6ae1a521a22fed04990ad4cce5774f5cde"},
      {'B', 2,
       "b138f124d5760166f775a0247b3dc22b3d6bb7826a8b92a731d3e87fcf4373d5",
       "a937c924951afef4a8ecc55565d042490ee50d19741b3cdf8f31203c4a251152",
       "c7f8aefa44337031c39d324b7d6a9427317066e73dca6d4d99f1d63297939265"},
      {'H', 3,
       "f7d509e5438678b6b21b3dfd3120db7f3c549b4cd9c8e4a5e738992ef43ccc91",
       "5acb3046b5f7c6ac88567d072bc434174179e156e7bcf635e3b4b50294a63326",
       "5acb3046b5f7c6ac88567d072bc434174179e156e7bcf635e3b4b50294a63326"},
      {'W', 4,
       "8b5f7ab3013b0feb1412fc5a028ad6e37c0d9a5b774c803eca2bc265def5a281",
       "e2cfd349d74785b2ba84e803152d3e52a4ea8b83a2528a62c7a72eb39b734f48",
       "6f09e706764e53cd3ea4b26717e6851e94603e863265aaf45c7c12646bc7151b"},
  };
  q8_0::Quantizer inv_amax = q8_0::FindQuantizer("candle")->quantizer;
  inv_amax.reciprocal = q8_0::Reciprocal::kInvAmax;
  q8_0::Quantizer rtz = q8_0::FindQuantizer("candle")->quantizer;
  rtz.scale = q8_0::ScaleRounding::kRtz;
  for (const auto& corpus : corpora) {
    const auto x =
        *q8_0::ExpandGenerator({corpus.seed, corpus.draw, 4096, 0, 0});
    EXPECT_EQ(Sha256Hex(x), corpus.input);
    EXPECT_EQ(Sha256Hex(*q8_0::Quantize(x, 4096, 32, inv_amax)),
              corpus.inv_amax_away);
    EXPECT_EQ(Sha256Hex(*q8_0::Quantize(x, 4096, 32, rtz)), corpus.scale_rtz);
  }
}

TEST(MatvecVectors, DrawTheirPublishedOperands) {
  const struct {
    const char *id, *w, *x_blocks;
  } digests[] = {
      {"q8m-01",
       "d6a0832461615397a91c9cd16605c7e44625fff8c02044dfdbdfbfaa20ea5d50",
       "14d15d80dc1284f815f32dd5997c35c28ae120359cb497f19869f567af2855ca"},
      {"q8m-02",
       "d6a0832461615397a91c9cd16605c7e44625fff8c02044dfdbdfbfaa20ea5d50",
       "3fbd2e093785280a00efa3f92cd618f13c2e6383a9348e86b9b20db140790e8e"},
      {"q8m-03",
       "5528366713809b2c745c5bb7ceeab20623f9543336aeee127e17f693dc7ccc45",
       "1a93bd2b50d38e0869e5d34f418c0dabd86fb35ed170a000418564f31e7258f1"},
      {"q8m-04",
       "5528366713809b2c745c5bb7ceeab20623f9543336aeee127e17f693dc7ccc45",
       "b3db5db3371fa2d26a374f2d4b765f92f9543f0fe233a9b686253e8dd95cd822"},
      {"q8m-05",
       "ce84f05ba50556df61dc30eed109b08d96cdcbfa75f261ad6a0ab590bd7311f5",
       "cb308e13d841a317ee5c232e1fa69d46d3521b31b76548786c7dd79bb87182fb"},
      {"q8m-06",
       "982b22daa8dddab185b40de158ed5fe5d905f4afb8b4c72c662599691768f53f",
       "b8c15dd36b3d8f61126f2f08b2234511ee24a56c0386420661f7c27cf5c678e1"},
      {"q8m-07",
       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
       "582e99c550a92966477e8c9d259e6c6ec74ed6ed8812131c372f18f8071cb4ed"},
      {"q8m-08",
       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
  };
  const auto vectors = NumericVectors();
  for (const auto& digest : digests) {
    const auto request = ReadRequest(vectors.at(digest.id));
    ASSERT_TRUE(request.has_value());
    EXPECT_EQ(Sha256Hex(request->w), digest.w) << digest.id;
    auto x = request->x;
    if (request->x_is_f32) x = *q8_0::Quantize(x, request->n, request->cols);
    EXPECT_EQ(Sha256Hex(x), digest.x_blocks) << digest.id;
  }
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
