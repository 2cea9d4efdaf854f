// The judge, branch by branch, with planted faults that it must name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/testing/judge_testing.h"

namespace weightproof::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(JudgeRequired, TheVerdictMustMatch) {
  EXPECT_EQ(Judged("AAA", Accept()).outcome, Outcome::kPass);
  EXPECT_EQ(Judged("RRR", Says("reject")).outcome, Outcome::kPass);
  EXPECT_EQ(Judged("UUU", Says("unsupported")).outcome, Outcome::kPass);
  const Row row = Judged("RRR", Accept());
  EXPECT_EQ(row.outcome, Outcome::kFail);
  EXPECT_EQ(row.reason,
            "expected reject (gguf.kv.scalar.exact at byte 24), got accept");
  EXPECT_EQ(row.expected, "reject");
  EXPECT_EQ(row.repro, "./weightproof repro foreign v-1");
  EXPECT_EQ(Judged("AAA", Says("reject")).outcome, Outcome::kFail);
  EXPECT_EQ(Judged("AAA", Says("unsupported")).outcome, Outcome::kFail);
}

TEST(JudgeRequired, NothingElsePassesAReject) {
  for (const char* verdict : {"accept", "unsupported", "limit"}) {
    EXPECT_EQ(Judged("RRR", Says(verdict)).outcome, Outcome::kFail) << verdict;
  }
  for (const char* fate : {"crash", "hang", "out-of-memory", "protocol-error",
                           "nondeterministic"}) {
    const Row row = Judged("RRR", Died(fate, "SIGSEGV"));
    EXPECT_EQ(row.outcome, Outcome::kFail) << fate;
    EXPECT_EQ(row.verdict, fate);
    EXPECT_THAT(row.reason, HasSubstr("SIGSEGV"));
  }
}

TEST(JudgeRelaxations, LimitAdmitsAccept) {
  EXPECT_EQ(Judged("LLL", Says("limit")).outcome, Outcome::kPass);
  EXPECT_EQ(Judged("LLL", Accept()).outcome, Outcome::kPass);
  EXPECT_EQ(Judged("LLL", Says("reject")).outcome, Outcome::kFail);
}

TEST(JudgeRelaxations, AReaderWithoutTheWordRefusesWithoutReason) {
  Subject subject = Foreign();
  subject.hello.verdicts = {"accept", "reject"};
  for (const char* cells : {"UUU", "LLL"}) {
    const Row row = Judged(cells, Says("reject"), subject);
    EXPECT_EQ(row.outcome, Outcome::kPass);
    EXPECT_TRUE(row.without_reason);
    EXPECT_EQ(row.reason, "refused without reason");
  }
  EXPECT_EQ(Judged("UUU", Says("reject")).outcome, Outcome::kFail);
}

TEST(JudgeRelaxations, LimitPassesARejectOverThePublishedCap) {
  Vector vector = MakeVector("RRR", "gguf.kv.string.past_eof");
  vector.expect["spec"].rule = "gguf.kv.string.past_eof";
  vector.expect["spec"].offset = 8;
  corpus::Literal bytes;
  bytes.bytes = {'G', 'G', 'U', 'F', 3, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0};
  vector.bytes.chunks = {bytes};  // declares 2^30
  Subject subject = Foreign();
  EXPECT_EQ(JudgeCase(subject, vector, Says("limit"), {}).outcome,
            Outcome::kFail);
  subject.hello.caps["string"] = (1u << 30) - 1;
  EXPECT_EQ(JudgeCase(subject, vector, Says("limit"), {}).outcome,
            Outcome::kPass);
  subject.hello.caps["string"] = 1u << 30;
  EXPECT_EQ(JudgeCase(subject, vector, Says("limit"), {}).outcome,
            Outcome::kFail);
}

TEST(JudgePolicy, DifferingColumnsAdmitAnyOfThem) {
  Row row = Judged("RAA", Says("reject"));
  EXPECT_EQ(row.outcome, Outcome::kPolicy);
  EXPECT_THAT(row.profiles, ElementsAre("spec"));
  EXPECT_EQ(row.expected, "spec: reject; ggml: accept; candle: accept");
  row = Judged("RAA", Accept());
  EXPECT_EQ(row.outcome, Outcome::kPolicy);
  EXPECT_THAT(row.profiles, ElementsAre("ggml", "candle"));
  EXPECT_EQ(Judged("RAA", Says("unsupported")).outcome, Outcome::kFail);
}

TEST(JudgePolicy, ADeclaredProfileIsRequired) {
  Subject subject = Foreign();
  subject.hello.profile = "spec";
  EXPECT_EQ(Judged("RAA", Says("reject"), subject).outcome, Outcome::kPass);
  const Row row = Judged("RAA", Accept(), subject);
  EXPECT_EQ(row.outcome, Outcome::kFail);
  EXPECT_EQ(row.expected, "reject");
  subject.hello.profile = "candle";
  EXPECT_EQ(Judged("RAA", Accept(), subject).outcome, Outcome::kPass);
  EXPECT_EQ(Judged("RRR", Accept(), subject).outcome, Outcome::kFail);
}

TEST(JudgePolicy, APolicyCellAdmitsBoth) {
  Subject subject = Foreign();
  subject.hello.profile = "spec";
  EXPECT_EQ(Judged("PAA", Says("reject"), subject).outcome, Outcome::kPolicy);
  EXPECT_EQ(Judged("PAA", Accept(), subject).outcome, Outcome::kPolicy);
  EXPECT_EQ(Judged("PAA", Says("limit"), subject).outcome, Outcome::kFail);
}

TEST(JudgeDump, AcceptedButReadDifferentlyIsAFail) {
  Json dump = ExampleDump();
  dump["kv"][0]["value"] = 8;
  const Row row = Judged("AAA", Accept(dump));
  EXPECT_EQ(row.outcome, Outcome::kFail);
  EXPECT_EQ(row.difference, "kv[0].value: expected 7, got 8");
  EXPECT_THAT(row.reason, HasSubstr("accepted but read differently"));
}

TEST(JudgeDump, FieldsThatAreNotReportedAreNotCompared) {
  Subject subject = Foreign();
  subject.hello.dump = {"version", "tensors"};
  EXPECT_EQ(Judged("AAA", Accept(), subject).outcome, Outcome::kNotCompared);
  subject.hello.dump = {"kv"};
  EXPECT_EQ(Judged("AAA", Accept(), subject).outcome, Outcome::kPass);
  // Declared, but null after all.
  Json dump = ExampleDump();
  dump["kv"] = nullptr;
  const Row row = Judged("AAA", Accept(dump));
  EXPECT_EQ(row.outcome, Outcome::kNotCompared);
  EXPECT_EQ(row.reason, "does not show kv");
  EXPECT_EQ(Judged("AAA", Says("accept")).outcome, Outcome::kNotCompared);
}

TEST(JudgeDump, ADifferenceInAnotherFieldIsStillAFail) {
  Json dump = ExampleDump();
  dump["kv"] = nullptr;
  dump["version"] = 2;
  EXPECT_EQ(Judged("AAA", Accept(dump)).outcome, Outcome::kFail);
}

TEST(JudgeDump, PoliciesAreComparedBetweenBuiltInsOnly) {
  Json dump = ExampleDump();
  dump["policies"] = {"gguf.kv.key.grammar"};
  EXPECT_EQ(Judged("AAA", Accept(dump)).outcome, Outcome::kPass);
  Subject subject = Foreign();
  subject.built_in = true;
  EXPECT_EQ(Judged("AAA", Accept(dump), subject).outcome, Outcome::kFail);
}

TEST(JudgeDump, AProfileMayHaveADumpOfItsOwn) {
  Vector vector = MakeVector("AAA");
  vector.expect["candle"].dump = ExampleDump();
  vector.expect["candle"].dump["alignment"] = 64;
  Json dump = ExampleDump();
  dump["alignment"] = 64;
  Row row = JudgeCase(Foreign(), vector, Accept(dump), {});
  EXPECT_EQ(row.outcome, Outcome::kPolicy);
  EXPECT_THAT(row.profiles, ElementsAre("candle"));
  dump["alignment"] = 128;
  EXPECT_EQ(JudgeCase(Foreign(), vector, Accept(dump), {}).outcome,
            Outcome::kFail);
}

TEST(JudgeFinding, RuleAndOffsetAreScoredApart) {
  Json answer = {{"status", "ok"}, {"verdict", "reject"}};
  Row row = Judged("RRR", Answered(answer));
  EXPECT_FALSE(row.rule_matches);
  EXPECT_FALSE(row.offset_matches);
  answer["rule"] = "gguf.kv.scalar.exact";
  answer["offset"] = 25;
  row = Judged("RRR", Answered(answer));
  EXPECT_EQ(row.outcome, Outcome::kPass);
  EXPECT_EQ(row.rule_matches, true);
  EXPECT_EQ(row.offset_matches, false);
}

TEST(JudgeFinding, AnOffsetIsOneOfItsFile) {
  Vector vector = MakeVector("RRR");
  for (auto& [profile, expected] : vector.expect) expected.file = 1;
  Json answer = {{"status", "ok"},
                 {"verdict", "reject"},
                 {"rule", "gguf.kv.scalar.exact"},
                 {"offset", 24}};
  const auto matches = [&] {
    return JudgeCase(Foreign(), vector, Answered(answer), {}).offset_matches;
  };
  EXPECT_EQ(matches(), true);  // the shard is not told
  answer["file"] = 1;
  EXPECT_EQ(matches(), true);
  answer["file"] = 0;
  EXPECT_EQ(matches(), false);
}

TEST(JudgeLate, ATensorThatIsRefusedRejectsTheFile) {
  CaseRecord record = Accept();
  record.tensors.resize(2);
  record.tensors[0].answer = {{"status", "not-run"}, {"why", "large"}};
  record.tensors[1].answer = {{"status", "ok"}, {"verdict", "reject"}};
  Row row = Judged("RRR", record);
  EXPECT_EQ(row.outcome, Outcome::kPass);
  EXPECT_TRUE(row.late);
  row = Judged("AAA", record);
  EXPECT_EQ(row.outcome, Outcome::kFail);
  EXPECT_THAT(row.reason, HasSubstr("late: gguf.tensor 1"));
  record.tensors[1].answer = nullptr;
  record.tensors[1].fate = Fate{"crash", "SIGFPE", "", "", false};
  row = Judged("RRR", record);
  EXPECT_EQ(row.verdict, "crash");
  EXPECT_EQ(row.outcome, Outcome::kFail);
}

TEST(JudgeTensors, BytesAreComparedByChecksum) {
  Vector vector = MakeVector("AAA", "gguf.data.tensor.bytes");
  corpus::Literal data;
  data.bytes.assign(9, 0);
  const std::string text = "123456789";
  data.bytes.assign(text.begin(), text.end());
  vector.bytes.chunks = {corpus::Zero{64}, data};
  vector.dump["tensors"][0]["size"] = "9";
  CaseRecord record = Accept(vector.dump);
  EXPECT_EQ(JudgeCase(Foreign(), vector, record, {}).outcome,
            Outcome::kNotCompared);
  record.tensors.resize(1);
  Json& answer = record.tensors[0].answer;
  answer = {{"status", "ok"},
            {"verdict", "accept"},
            {"size", "9"},
            {"crc32", 0xcbf43926u}};
  EXPECT_EQ(JudgeCase(Foreign(), vector, record, {}).outcome, Outcome::kPass);
  answer["crc32"] = 1;
  const Row row = JudgeCase(Foreign(), vector, record, {});
  EXPECT_EQ(row.outcome, Outcome::kFail);
  EXPECT_EQ(row.difference, "tensor[0].crc32: expected 3421780262, got 1");
  answer["size"] = "8";
  EXPECT_THAT(JudgeCase(Foreign(), vector, record, {}).difference,
              HasSubstr("tensor[0].size"));
}

TEST(JudgeTensors, AReaderWithoutOrderMeansTheTensorItNames) {
  Vector vector = MakeVector("AAA", "gguf.data.tensor.bytes");
  corpus::Literal data;
  const std::string text = "123456789";
  data.bytes.assign(text.begin(), text.end());
  vector.bytes.chunks = {corpus::Zero{64}, data};
  Json& tensors = vector.dump["tensors"];
  tensors[0]["size"] = "9";
  tensors.push_back(tensors[0]);
  tensors[1]["name"] = "other";
  tensors[1]["size"] = "1";
  Json own = vector.dump;
  std::swap(own["tensors"][0], own["tensors"][1]);
  own["ordered"] = false;
  CaseRecord record = Accept(own);
  record.tensors.resize(2);
  record.tensors[0].answer = {{"status", "ok"},
                              {"verdict", "accept"},
                              {"size", "1"},
                              {"crc32", 0x83dcefb7u}};
  record.tensors[1].answer = {{"status", "ok"},
                              {"verdict", "accept"},
                              {"size", "9"},
                              {"crc32", 0xcbf43926u}};
  EXPECT_EQ(JudgeCase(Foreign(), vector, record, {}).outcome, Outcome::kPass);
  std::swap(record.tensors[0], record.tensors[1]);
  EXPECT_THAT(JudgeCase(Foreign(), vector, record, {}).difference,
              HasSubstr("tensor[0].size"));
}

TEST(JudgeStatus, NotRunAndNotImplementedAreNoVerdicts) {
  Row row = Judged("AAA", Answered({{"status", "not-run"}, {"why", "big"}}));
  EXPECT_EQ(row.outcome, Outcome::kNotRun);
  EXPECT_EQ(row.reason, "big");
  row = Judged("AAA", Answered({{"status", "not-implemented"}}));
  EXPECT_EQ(row.outcome, Outcome::kFail);
  EXPECT_EQ(row.verdict, "not-implemented");
  row = Judged("RRR", Answered({{"status", "error"}, {"detail", "eh"}}));
  EXPECT_EQ(row.verdict, "protocol-error");
  row = Judged("RRR", Answered("nonsense"));
  EXPECT_EQ(row.verdict, "protocol-error");
  CaseRecord record;
  record.not_asked = "does not offer gguf.parse";
  row = Judged("RRR", record);
  EXPECT_EQ(row.outcome, Outcome::kNotRun);
  EXPECT_EQ(row.reason, "does not offer gguf.parse");
}

TEST(JudgeStatus, RepeatedAnswersMustBeEqual) {
  CaseRecord record = Says("reject");
  record.again = record.reply;
  record.second = record.reply;
  EXPECT_EQ(Judged("RRR", record).outcome, Outcome::kPass);
  record.second->answer["detail"] = "another";
  Row row = Judged("RRR", record);
  EXPECT_EQ(row.verdict, "nondeterministic");
  EXPECT_EQ(row.outcome, Outcome::kFail);
  EXPECT_THAT(row.reason,
              HasSubstr("reject with other contents when a second process"));
  record.again = Says("accept").reply;
  EXPECT_THAT(Judged("RRR", record).reason,
              HasSubstr("first reject, then accept when asked again"));
}

TEST(JudgeStatus, AReaderWithoutOrderMayListKeysInAnyOrder) {
  Vector vector = MakeVector("AAA", "gguf.kv.order");
  Json own = vector.dump;
  own["kv"] = Json::array({{{"key", "a"}}, {{"key", "b"}}});
  own["ordered"] = false;
  CaseRecord record = Accept(own);
  std::swap(own["kv"][0], own["kv"][1]);
  record.again = Accept(own).reply;
  EXPECT_NE(JudgeCase(Foreign(), vector, record, {}).verdict,
            "nondeterministic");
  own["kv"][0]["key"] = "c";
  record.again = Accept(own).reply;
  EXPECT_EQ(JudgeCase(Foreign(), vector, record, {}).verdict,
            "nondeterministic");
  own.erase("ordered");
  record.reply = Accept(own).reply;
  std::swap(own["kv"][0], own["kv"][1]);
  record.again = Accept(own).reply;
  EXPECT_EQ(JudgeCase(Foreign(), vector, record, {}).verdict,
            "nondeterministic");
}

TEST(JudgeStatus, LeaksAndWritesAreFails) {
  CaseRecord record = Says("reject");
  record.file_modified = true;
  EXPECT_EQ(Judged("RRR", record).reason, "the vector's file was modified");
  record = Says("reject");
  record.reply.answer["fp_leak"] = "2^-126 / 2 is flushed";
  EXPECT_THAT(Judged("RRR", record).reason, HasSubstr("build.fp.leak"));
}

TEST(JudgeAll, CountsPointsOfProfilesOnDifferingRows) {
  const Vector differing = MakeVector("RAA"), required = MakeVector("RRR");
  const CaseRecord reject = Says("reject");
  Implementation about;
  const auto rows = JudgeAll(Foreign(), {&differing, &required, &differing},
                             {&reject, &reject, &reject}, about);
  EXPECT_EQ(rows.size(), 3u);
  EXPECT_EQ(about.profile_points["spec"], std::make_pair(2, 2));
  EXPECT_EQ(about.profile_points["ggml"], std::make_pair(0, 2));
}

}  // namespace
}  // namespace weightproof::conformance
