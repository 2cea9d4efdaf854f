#include "conformance/protocol.h"

#include <gtest/gtest.h>

#include <string>

namespace weightproof::conformance {
namespace {

std::string WhyNot(std::string_view line, std::uint64_t id = 1) {
  const auto answer = ParseAnswer(line, id);
  return answer ? "" : answer.error();
}

TEST(ParseAnswer, ReadsTheFourKinds) {
  auto answer = ParseAnswer(
      R"({"id":1,"status":"ok","verdict":"reject","rule":"gguf.x","offset":7})",
      1);
  ASSERT_TRUE(answer) << answer.error();
  EXPECT_EQ(answer->status, AnswerStatus::kOk);
  EXPECT_EQ(answer->verdict, "reject");
  EXPECT_EQ(answer->rule, "gguf.x");
  EXPECT_EQ(answer->offset, 7u);
  EXPECT_FALSE(answer->body.contains("id"));
  answer = ParseAnswer(R"({"id":2,"status":"not-implemented"})", 2);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, AnswerStatus::kNotImplemented);
  answer = ParseAnswer(R"({"id":3,"status":"not-run","why":"big"})", 3);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, AnswerStatus::kNotRun);
  EXPECT_EQ(answer->detail, "big");
  answer = ParseAnswer(R"({"id":4,"status":"error","detail":"bad op"})", 4);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, AnswerStatus::kError);
  EXPECT_EQ(answer->detail, "bad op");
}

TEST(ParseAnswer, NullRuleAndOffsetAreAbsent) {
  const auto answer = ParseAnswer(
      R"({"id":1,"status":"ok","verdict":"accept","rule":null,"offset":null})",
      1);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->rule);
  EXPECT_FALSE(answer->offset);
}

TEST(ParseAnswer, NamesWhatIsWrong) {
  EXPECT_NE(WhyNot("garbage").find("not JSON"), std::string::npos);
  EXPECT_NE(WhyNot("").find("not JSON"), std::string::npos);
  EXPECT_NE(WhyNot(R"({"id":1,"status":"ok")").find("not JSON"),
            std::string::npos);
  EXPECT_NE(WhyNot("{\"id\":1,\"status\":\"\xff\"}").find("not JSON"),
            std::string::npos);
  EXPECT_EQ(WhyNot("[]"), "an answer is not an object");
  EXPECT_EQ(WhyNot(R"({"status":"ok","verdict":"accept"})"),
            "an answer without \"id\"");
  EXPECT_EQ(WhyNot(R"({"id":2,"status":"ok","verdict":"accept"})"),
            "the answer to request 1 has id 2");
  EXPECT_EQ(WhyNot(R"({"id":"1","status":"ok","verdict":"accept"})"),
            "the answer to request 1 has id \"1\"");
  EXPECT_EQ(WhyNot(R"({"id":1})"), "\"status\" is missing");
  EXPECT_EQ(WhyNot(R"({"id":1,"status":"fine"})"), "unknown status fine");
  EXPECT_EQ(WhyNot(R"({"id":1,"status":"ok"})"), "\"verdict\" is missing");
  EXPECT_EQ(WhyNot(R"({"id":1,"status":"ok","verdict":"maybe"})"),
            "unknown verdict maybe");
  EXPECT_EQ(WhyNot(R"({"id":1,"status":"ok","verdict":"crash"})"),
            "unknown verdict crash");
  EXPECT_EQ(WhyNot(R"({"id":1,"status":"ok","verdict":"reject","rule":1})"),
            "\"rule\" is not a string");
  EXPECT_EQ(WhyNot(R"({"id":1,"status":"ok","verdict":"reject","offset":-1})"),
            "\"offset\" is not an unsigned integer");
  EXPECT_EQ(WhyNot(R"({"id":1,"status":"not-run"})"),
            "a not-run answer without \"why\"");
}

TEST(ParseUntrusted, RefusesDeepNestingBeforeParsing) {
  const std::string deep(100000, '[');
  const auto json = ParseUntrusted(deep);
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error(), "nested deeper than 192 levels");
  const std::string fits = std::string(192, '[') + std::string(192, ']');
  EXPECT_TRUE(ParseUntrusted(fits));
  EXPECT_TRUE(ParseUntrusted("\"" + std::string(1000, '[') + "\\\"[\""));
  EXPECT_TRUE(ParseUntrusted("\"\\\"" + std::string(1000, '[') + "\""));
}

TEST(ParseHello, ReadsTheWholeOfIt) {
  const auto hello = ParseHello(Json::parse(
      R"({"id":0,"protocol":1,"name":"ggml","version":"0.23.0","language":"C",
          "operations":["gguf.parse"],"verdicts":["accept","reject"],
          "dump":["kv"],"variants":["avx2"],"profile":"ggml",
          "caps":{"string":1073741824}})"));
  ASSERT_TRUE(hello) << hello.error();
  EXPECT_EQ(hello->name, "ggml");
  EXPECT_TRUE(hello->Offers("gguf.parse"));
  EXPECT_FALSE(hello->Offers("gguf.tensor"));
  EXPECT_FALSE(hello->Knows("limit"));
  EXPECT_EQ(hello->profile, "ggml");
  EXPECT_EQ(hello->caps.at("string"), 1u << 30);
}

TEST(ParseHello, NamesTheMember) {
  const Json good = Json::parse(
      R"({"id":0,"protocol":1,"name":"n","version":"1","language":"C",
          "operations":["gguf.parse"]})");
  ASSERT_TRUE(ParseHello(good));
  EXPECT_EQ(ParseHello(good)->verdicts,
            (std::vector<std::string>{"accept", "reject"}));
  const auto why = [&](const char* name, const Json& value) {
    Json bad = good;
    bad[name] = value;
    const auto hello = ParseHello(bad);
    return hello ? "" : hello.error();
  };
  EXPECT_EQ(why("id", 1), "\"id\" is not 0");
  EXPECT_EQ(why("protocol", 2), "\"protocol\" is not 1");
  EXPECT_EQ(why("name", 7), "\"name\" is not a string");
  EXPECT_EQ(why("version", nullptr), "\"version\" is missing");
  EXPECT_EQ(why("operations", Json::array()), "\"operations\" is empty");
  EXPECT_EQ(why("operations", "x"), "\"operations\" is not a list");
  EXPECT_EQ(why("dump", {1}), "\"dump\" has an element that is not a string");
  EXPECT_EQ(why("profile", "llama"),
            "\"profile\" is not null, spec, ggml or candle");
  EXPECT_EQ(why("caps", {{"string", -1}}),
            "\"caps.string\" is not an unsigned integer");
  EXPECT_FALSE(ParseHello(Json("hello")));
}

}  // namespace
}  // namespace weightproof::conformance
