#include "conformance/vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "conformance/vector_json.h"

namespace weightproof::conformance {
namespace {

using testing::HasSubstr;

// A rejecting vector and its twin, both sound.
Json GoodFile() {
  return Json::parse(R"({
    "format": "weightproof.vectors.v1", "set_version": "1.0.0", "vectors": [
    {"id": "gguf.header.magic.wrong-1", "format": "gguf",
     "operation": "gguf.parse", "rule": "gguf.header.magic.wrong",
     "twin": "gguf.header.file.minimal-1",
     "bytes": [{"hex": "67677566"}, {"repeat": "03", "n": 1}, {"zero": 19}],
     "expect": {
       "spec": {"verdict": "reject", "rule": "gguf.header.magic.wrong",
                "offset": 0},
       "ggml": {"verdict": "reject", "rule": "gguf.header.magic.wrong",
                "offset": 0},
       "candle": {"verdict": "reject", "rule": "gguf.header.magic.wrong",
                  "offset": 0}},
     "also": ["gguf.header.version.zero"], "notes": "lower case"},
    {"id": "gguf.header.file.minimal-1", "format": "gguf",
     "operation": "gguf.parse", "rule": "gguf.header.file.minimal",
     "bytes": [{"hex": "47475546"}, {"hex": "03"}, {"zero": 19}],
     "expect": {"spec": {"verdict": "accept"}, "ggml": {"verdict": "accept"},
                "candle": {"verdict": "accept"}},
     "dump": {"version": 3}}]})");
}

class LoadVectorsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "vectorsXXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }

  // Loads the folder with one file and expects this error.
  void ExpectError(const std::string& text, const std::string& pointer,
                   const std::string& message) {
    Write("bad.json", text);
    const auto set = LoadVectors(folder_);
    ASSERT_FALSE(set.has_value()) << "accepted; expected: " << message;
    EXPECT_EQ(set.error().file, folder_ / "bad.json");
    EXPECT_EQ(set.error().pointer, pointer) << set.error().message;
    EXPECT_THAT(set.error().message, HasSubstr(message));
  }

  // The good file with one place changed.
  void ExpectErrorAt(const std::string& place, const Json& value,
                     const std::string& pointer, const std::string& message) {
    SCOPED_TRACE(place);
    Json file = GoodFile();
    file[Json::json_pointer(place)] = value;
    ExpectError(file.dump(), pointer, message);
  }

  void ExpectErrorWithout(const std::string& parent, const std::string& member,
                          const std::string& pointer,
                          const std::string& message) {
    SCOPED_TRACE(parent + " without " + member);
    Json file = GoodFile();
    file[Json::json_pointer(parent)].erase(member);
    ExpectError(file.dump(), pointer, message);
  }

  std::filesystem::path folder_;
};

TEST_F(LoadVectorsTest, ReadsEveryField) {
  Write("a.json", GoodFile().dump());
  Write("notes.txt", "not a vector file");
  const auto set = LoadVectors(folder_);
  ASSERT_TRUE(set.has_value()) << set.error().pointer << set.error().message;
  EXPECT_EQ(set->version, "1.0.0");
  ASSERT_EQ(set->vectors.size(), 2u);
  const Vector& vector = set->vectors[0];
  EXPECT_EQ(vector.id, "gguf.header.magic.wrong-1");
  EXPECT_EQ(vector.operation, "gguf.parse");
  EXPECT_EQ(vector.rule, "gguf.header.magic.wrong");
  EXPECT_EQ(vector.twin, "gguf.header.file.minimal-1");
  const corpus::Bytes want{{corpus::Literal{{0x67, 0x67, 0x75, 0x66}},
                            corpus::Repeat{{3}, 1}, corpus::Zero{19}}};
  EXPECT_EQ(vector.bytes, want);
  EXPECT_EQ(vector.bytes.Size(), 24u);
  EXPECT_EQ(vector.expect.at("ggml").verdict, "reject");
  EXPECT_EQ(vector.expect.at("ggml").offset, 0u);
  EXPECT_EQ(vector.also, std::vector<std::string>{"gguf.header.version.zero"});
  EXPECT_TRUE(vector.dump.is_null());
  EXPECT_EQ(set->vectors[1].dump["version"], 3);
}

TEST_F(LoadVectorsTest, WritingAndReadingKeepsEverything) {
  Write("a.json", GoodFile().dump());
  const auto set = LoadVectors(folder_);
  ASSERT_TRUE(set.has_value());
  const std::string text = VectorFileText(*set);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4)
      << "one vector per line, between two frame lines";
  Write("a.json", text);
  const auto again = LoadVectors(folder_);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(VectorFileText(*again), text);
  EXPECT_EQ(VectorToJson(again->vectors[0]), GoodFile()["vectors"][0]);
}

TEST_F(LoadVectorsTest, RefusesWhatIsNotJson) {
  ExpectError("", "", "parse error");
  ExpectError("{\"format\": ", "", "parse error");
  ExpectError("{}]", "", "parse error");
  ExpectError(R"({"format": 1, "format": 2})", "", "repeated");
}

TEST_F(LoadVectorsTest, RefusesAnotherFormat) {
  ExpectError("[]", "", "");
  ExpectErrorAt("/format", "weightproof.vectors.v2", "/format", "const");
  ExpectErrorAt("/set_version", "1.0", "/set_version", "pattern");
  ExpectErrorAt("/vectors", Json::array(), "/vectors", "");
  ExpectErrorAt("/surprise", 1, "", "surprise");
}

TEST_F(LoadVectorsTest, RefusesBrokenVectors) {
  ExpectErrorWithout("/vectors/1", "rule", "/vectors/1", "rule");
  ExpectErrorWithout("/vectors/0", "expect", "/vectors/0", "expect");
  ExpectErrorAt("/vectors/0/id", "Capital", "/vectors/0/id", "pattern");
  ExpectErrorAt("/vectors/0/operation", "gguf.guess", "/vectors/0/operation",
                "enum");
  ExpectErrorAt("/vectors/0/format", "onnx", "/vectors/0/format", "enum");
  ExpectErrorAt("/vectors/0/color", "red", "/vectors/0", "color");
  ExpectErrorAt("/vectors/0/notes", 7, "/vectors/0/notes", "type");
}

TEST_F(LoadVectorsTest, RefusesBrokenBytes) {
  const std::string at = "/vectors/0/bytes/0";
  ExpectErrorAt(at + "/hex", "abc", at + "/hex", "0-9a-f");
  ExpectErrorAt(at + "/hex", "AB", at + "/hex", "0-9a-f");
  ExpectErrorAt(at, Json::object(), at, "");
  ExpectErrorAt(at, {{"zero", 1}, {"hex", "00"}}, at, "");
  ExpectErrorAt(at, {{"repeat", "00"}}, at, "");
  ExpectErrorAt(at, {{"repeat", ""}, {"n", 2}}, at + "/repeat", "0-9a-f");
  ExpectErrorAt(at, {{"zero", -1}}, at + "/zero", "");
  ExpectErrorAt(at, {{"zero", "1"}}, at + "/zero", "type");
  ExpectErrorWithout("/vectors/0", "bytes", "/vectors/0", "takes bytes");
}

TEST_F(LoadVectorsTest, RefusesContradictoryExpectations) {
  const std::string at = "/vectors/0/expect";
  ExpectErrorWithout(at, "spec", at, "spec");
  ExpectErrorWithout(at, "candle", at, "candle is missing");
  ExpectErrorAt(at + "/mistral", {{"verdict", "accept"}}, at, "mistral");
  ExpectErrorAt(at + "/spec/verdict", "crash", at + "/spec/verdict", "enum");
  ExpectErrorAt(at + "/spec/verdict", "accept", at + "/spec/rule",
                "accepted file");
  ExpectErrorAt(at + "/spec/verdict", "policy", at + "/spec", "both outcomes");
  ExpectErrorAt(at + "/spec/verdict", "bound", at + "/spec/verdict",
                "GGUF vector");
  ExpectErrorAt(at + "/spec", {{"verdict", "reject"}}, at + "/spec",
                "names its rule");
  ExpectErrorAt(at + "/spec", {{"verdict", "accept"}, {"offset", 3}},
                at + "/spec/offset", "needs a rule");
  ExpectErrorAt(at + "/spec/offset", -1, at + "/spec/offset", "");
  ExpectErrorAt("/vectors/0/dump", Json::object(), "/vectors/0/dump",
                "no profile accepts");
  ExpectErrorWithout("/vectors/1", "dump", "/vectors/1/dump", "no dump");
}

TEST_F(LoadVectorsTest, RefusesUnknownRulesAndTwins) {
  ExpectErrorAt("/vectors/0/rule", "gguf.no.such", "/vectors/0/rule",
                "no such rule");
  ExpectErrorAt("/vectors/0/rule", "q8_0.quantize.tie", "/vectors/0/rule",
                "a rule of q8_0");
  ExpectErrorAt("/vectors/0/also/0", "gguf.no.such", "/vectors/0/also/0",
                "no such rule");
  ExpectErrorAt("/vectors/0/expect/ggml/rule", "gguf.no.such",
                "/vectors/0/expect/ggml/rule", "no such rule");
  ExpectErrorAt("/vectors/0/twin", "gguf.no.such-1", "/vectors/0/twin",
                "no vector");
  ExpectErrorAt("/vectors/0/twin", "gguf.header.magic.wrong-1",
                "/vectors/0/twin", "own twin");
}

TEST_F(LoadVectorsTest, RefusesRepeatedIds) {
  ExpectErrorAt("/vectors/1/id", "gguf.header.magic.wrong-1", "/vectors/1/id",
                "already at bad.json/vectors/0");
  Write("bad.json", GoodFile().dump());
  Write("c.json", GoodFile().dump());
  const auto set = LoadVectors(folder_);
  ASSERT_FALSE(set.has_value());
  EXPECT_EQ(set.error().file, folder_ / "c.json");
  EXPECT_THAT(set.error().message, HasSubstr("bad.json"));
}

TEST_F(LoadVectorsTest, RefusesFilesOfTwoVersions) {
  Write("a.json", GoodFile().dump());
  Json other = GoodFile();
  other["set_version"] = "1.1.0";
  ExpectError(other.dump(), "/set_version", "the set is 1.0.0");
}

TEST_F(LoadVectorsTest, AnEmptyOrMissingFolderIsAnError) {
  const auto empty = LoadVectors(folder_);
  ASSERT_FALSE(empty.has_value());
  EXPECT_THAT(empty.error().message, HasSubstr("no vector files"));
  const auto missing = LoadVectors(folder_ / "nowhere");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().file, folder_ / "nowhere");
}

TEST_F(LoadVectorsTest, NumericVectorsNeedNoBytes) {
  Json file = GoodFile();
  file["vectors"] = Json::parse(R"([{
    "id": "q8r-01", "format": "q8_0", "operation": "q8_0.quantize",
    "rule": "q8_0.quantize.tie",
    "request": {"n": 32, "x": [{"repeat": "0000803f", "n": 32}]},
    "expect": {"spec": {"verdict": "accept", "answer": {"y": {"hex": "00"}}},
               "ggml": {"verdict": "policy"},
               "candle": {"verdict": "n/a"}},
    "variants": {"ggml-avx2": {"reject": true}}}])");
  Write("q.json", file.dump());
  const auto set = LoadVectors(folder_);
  ASSERT_TRUE(set.has_value()) << set.error().pointer << set.error().message;
  EXPECT_EQ(set->vectors[0].request["n"], 32);
  EXPECT_EQ(set->vectors[0].expect.at("spec").answer["y"]["hex"], "00");
  EXPECT_EQ(set->vectors[0].variants["ggml-avx2"]["reject"], true);
}

TEST_F(LoadVectorsTest, SetsOfFilesKeepTheirOrder) {
  Json file = GoodFile();
  Json& vector = file["vectors"][1];
  vector["operation"] = "gguf.open_set";
  vector["rule"] = "gguf.split.set.single";
  vector.erase("bytes");
  vector["files"] = Json::parse(
      R"([{"name": "b.gguf", "bytes": []}, {"name": "a.gguf", "bytes": []}])");
  vector["dump"] = Json::array();
  Write("s.json", file.dump());
  const auto set = LoadVectors(folder_);
  ASSERT_TRUE(set.has_value()) << set.error().pointer << set.error().message;
  ASSERT_EQ(set->vectors[1].files.size(), 2u);
  EXPECT_EQ(set->vectors[1].files[0].name, "b.gguf");

  const auto fails = [&](const char* place, const Json& value,
                         const char* message) {
    Json bad = file;
    bad[Json::json_pointer(place)] = value;
    std::filesystem::remove(folder_ / "s.json");
    Write("bad.json", bad.dump());
    const auto got = LoadVectors(folder_);
    ASSERT_FALSE(got.has_value()) << place;
    EXPECT_THAT(got.error().message, HasSubstr(message)) << place;
  };
  fails("/vectors/1/files/1/name", "b.gguf", "repeated");
  fails("/vectors/1/files/1/name", "../a", "pattern");
  fails("/vectors/1/bytes", Json::array(), "takes files");
}

}  // namespace
}  // namespace weightproof::conformance
