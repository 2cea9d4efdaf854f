// Deviations, disagreements, the canary, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/canary.h"
#include "conformance/dump_value.h"
#include "conformance/tensor_bytes.h"
#include "conformance/testing/judge_testing.h"

namespace weightproof::conformance {
namespace {

using testing::HasSubstr;

std::vector<Deviation> OneDeviation(const std::string& until = "2099-01-01") {
  const auto list =
      DeviationsFromJson(Json::array({{{"rule", "gguf.kv.scalar.exact"},
                                       {"verdicts", {"crash"}},
                                       {"reason", "known"},
                                       {"upstream", "https://example.org/1"},
                                       {"owner", "us"},
                                       {"until", until}}}));
  EXPECT_TRUE(list) << list.error();
  return list ? *list : std::vector<Deviation>();
}

TEST(Deviations, RelabelAFailAndNothingElse) {
  std::vector<Row> rows = {Judged("RRR", Died("crash", "SIGFPE")),
                           Judged("RRR", Accept()),
                           Judged("RRR", Says("reject"))};
  Implementation about;
  ApplyDeviations(OneDeviation(), "2026-11-30", true, rows, about);
  EXPECT_EQ(rows[0].outcome, Outcome::kExpectedDeviation);
  EXPECT_THAT(rows[0].reason, HasSubstr("known"));
  EXPECT_EQ(rows[1].outcome, Outcome::kFail);
  EXPECT_EQ(rows[2].outcome, Outcome::kPass);
  EXPECT_TRUE(about.stale_deviations.empty());
  EXPECT_TRUE(about.overdue_deviations.empty());
}

TEST(Deviations, AreOverdueAfterTheirDate) {
  std::vector<Row> rows = {Judged("RRR", Died("crash", "SIGFPE"))};
  Implementation about;
  ApplyDeviations(OneDeviation("2026-11-29"), "2026-11-30", true, rows, about);
  EXPECT_EQ(about.overdue_deviations.size(), 1u);
  EXPECT_EQ(rows[0].outcome, Outcome::kExpectedDeviation);
}

TEST(Deviations, AreStaleOnlyIfAllTheirVectorsRan) {
  std::vector<Row> rows = {Judged("RRR", Says("reject"))};
  Implementation about;
  ApplyDeviations(OneDeviation(), "2026-11-30", false, rows, about);
  EXPECT_TRUE(about.stale_deviations.empty()) << "a partial run";
  ApplyDeviations(OneDeviation(), "2026-11-30", true, rows, about);
  EXPECT_EQ(about.stale_deviations.size(), 1u);
  RunResult result;
  result.canary_caught = true;
  result.implementations = {about};
  EXPECT_EQ(ExitCode(result), 1);
  CaseRecord skipped;
  skipped.not_asked = "why";
  rows.push_back(Judged("RRR", skipped));
  about.stale_deviations.clear();
  ApplyDeviations(OneDeviation(), "2026-11-30", true, rows, about);
  EXPECT_TRUE(about.stale_deviations.empty()) << "one did not run";
}

TEST(Deviations, SelectByInstanceVersionAndOperation) {
  Deviation deviation = OneDeviation().front();
  EXPECT_TRUE(AppliesTo(deviation, "ggml/full", "0.23.0"));
  deviation.instance = "ggml/m*";
  EXPECT_FALSE(AppliesTo(deviation, "ggml/full", "0.23.0"));
  EXPECT_TRUE(AppliesTo(deviation, "ggml/metadata", "0.23.0"));
  deviation.versions = {"0.22.*"};
  EXPECT_FALSE(AppliesTo(deviation, "ggml/metadata", "0.23.0"));
  deviation.operation = "gguf.get";
  EXPECT_FALSE(Foresees(deviation, Judged("RRR", Died("crash", ""))));
}

TEST(Deviations, BadEntriesNameTheirPlace) {
  const auto why = [](const char* text) {
    const auto list = DeviationsFromJson(Json::parse(text));
    return list ? "" : list.error();
  };
  EXPECT_EQ(why("{}"), "not a list");
  EXPECT_EQ(why("[{}]"), "/0/rule: exactly one of rule and vector is needed");
  EXPECT_EQ(why(R"([{"rule":"r","verdict":["crash"]}])"),
            "/0/verdict: unknown member");
  EXPECT_EQ(why(R"([{"rule":"r","verdicts":["crash"],"reason":"x",
                     "owner":"us","until":"soon"}])"),
            "/0/until: is not a date like 2027-06-30");
}

TEST(Disagreement, ComparesVerdictRuleOffsetAndDump) {
  const Vector vector = MakeVector("RRR");
  const auto reject = [](const char* rule, int offset) {
    return Answered({{"status", "ok"},
                     {"verdict", "reject"},
                     {"rule", rule},
                     {"offset", offset}});
  };
  EXPECT_EQ(Disagreement(vector, reject("r", 1), reject("r", 1)), "");
  EXPECT_EQ(Disagreement(vector, reject("r", 1), reject("s", 1)),
            "v-1: rule r against s");
  EXPECT_EQ(Disagreement(vector, reject("r", 1), reject("r", 2)),
            "v-1: offset 1 against 2");
  EXPECT_EQ(Disagreement(vector, reject("r", 1), Accept()),
            "v-1: verdict reject against accept");
  Json dump = ExampleDump();
  dump["policies"] = {"p"};
  EXPECT_EQ(Disagreement(vector, Accept(), Accept(dump)),
            "v-1: policies [] against [\"p\"]");
}

TEST(Canary, IsCaughtOnlyIfExactlyItsRowFails) {
  const Hello hello = RecordedCanaryHello();
  EXPECT_TRUE(JudgeCanary(hello, RecordedCanary()).caught);
  auto records = RecordedCanary();
  records[0].reply.answer["verdict"] = "reject";
  EXPECT_THAT(JudgeCanary(hello, records).detail,
              HasSubstr("the planted bug was not caught"));
  records = RecordedCanary();
  records[3].reply.answer["dump"]["kv"][0]["value"] = 8;
  EXPECT_THAT(JudgeCanary(hello, records).detail,
              HasSubstr("failed without a planted bug"));
}

TEST(ExitCode, OrdersWhatIsWrong) {
  RunResult result;
  EXPECT_EQ(ExitCode(result), 4);
  result.canary_caught = true;
  EXPECT_EQ(ExitCode(result), 0);
  result.rows.push_back(Judged("RRR", Accept()));
  EXPECT_EQ(ExitCode(result), 1);
  result.rows[0].outcome = Outcome::kExpectedDeviation;
  EXPECT_EQ(ExitCode(result), 0);
  Implementation about;
  about.status = ImplementationStatus::kUnusable;
  result.implementations.push_back(about);
  EXPECT_EQ(ExitCode(result), 3);
  result.built_ins_disagree = true;
  EXPECT_EQ(ExitCode(result), 5);
}

TEST(CrcOfRange, CrossesChunksAndHoles) {
  corpus::Bytes bytes;
  bytes.chunks = {corpus::Literal{{'x', '1', '2', '3'}},
                  corpus::Repeat{{'4', '5', '6'}, 1},
                  corpus::Literal{{'7', '8', '9'}}, corpus::Zero{1000}};
  EXPECT_EQ(CrcOfRange(bytes, 1, 9), 0xcbf43926u);
  EXPECT_EQ(CrcOfRange(bytes, 10, 1000), Crc32(0, std::string(1000, '\0')));
  EXPECT_EQ(CrcOfRange(bytes, 9, 7), Crc32(0, std::string("9\0\0\0\0\0\0", 7)));
  EXPECT_EQ(CrcOfRange(bytes, 10, 1001), std::nullopt);
  EXPECT_EQ(NumberAt(bytes, 1, 4), 0x34333231u);
  EXPECT_EQ(NumberAt(bytes, 1008, 4), std::nullopt);
}

TEST(GlobMatches, WholeStrings) {
  EXPECT_TRUE(GlobMatches("ggml/*", "ggml/metadata"));
  EXPECT_FALSE(GlobMatches("ggml", "ggml/metadata"));
  EXPECT_TRUE(GlobMatches("*.nested.*", "gguf.array.nested.depth2"));
  EXPECT_TRUE(GlobMatches("a?c", "abc"));
  EXPECT_FALSE(GlobMatches("a*b", "acd"));
}

}  // namespace
}  // namespace weightproof::conformance
