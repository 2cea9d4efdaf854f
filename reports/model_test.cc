#include "reports/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "build_paths.h"
#include "reports/excerpt.h"
#include "reports/sample_run.h"

namespace weightproof::reports {
namespace {

Json Build(const Sample& sample) {
  return BuildReport(sample.result, sample.vectors);
}

const Json& Named(const Json& list, const std::string& key,
                  const std::string& name) {
  for (const Json& item : list) {
    if (item.at(key) == name) return item;
  }
  ADD_FAILURE() << "no " << name;
  static const Json kNone;
  return kNone;
}

TEST(BuildReport, SatisfiesTheSchema) {
  const auto valid = CheckReport(Build(SampleRun()));
  EXPECT_TRUE(valid) << valid.error();
}

TEST(BuildReport, SatisfiesTheSchemaWithoutAnyRow) {
  const auto valid = CheckReport(BuildReport({}, {}));
  EXPECT_TRUE(valid) << valid.error();
}

TEST(BuildReport, CountsEveryOutcome) {
  const Json report = Build(SampleRun());
  const Json& outcomes = report["summary"]["outcomes"];
  EXPECT_EQ(outcomes["pass"], 6);
  EXPECT_EQ(outcomes["fail"], 2);
  for (const char* name :
       {"policy", "expected-deviation", "not-compared", "not-run"}) {
    EXPECT_EQ(outcomes[name], 1) << name;
  }
  const Json& beta = Named(report["implementations"], "name", "beta/full");
  EXPECT_EQ(beta["incidents"]["crash"], 1);
  EXPECT_EQ(beta["read_differently"], 1);
  EXPECT_EQ(beta["inferred_profile"], "ggml");
  const Json& alpha = Named(report["implementations"], "name", "alpha");
  EXPECT_EQ(alpha["rule_named"]["right"], 2);
  EXPECT_EQ(alpha["rule_named"]["of"], 2);
}

TEST(BuildReport, ConcludesFromTheRun) {
  Sample sample = SampleRun();
  EXPECT_EQ(Build(sample)["summary"]["conclusion"], "not-conforming");
  sample.result.canary_caught = false;
  EXPECT_EQ(Build(sample)["summary"]["conclusion"], "void");
  sample.result.canary_caught = true;
  sample.result.built_ins_disagree = true;
  EXPECT_EQ(Build(sample)["summary"]["conclusion"], "internal-error");
  sample = SampleRun();
  std::erase_if(sample.result.rows, [](const auto& row) {
    return row.outcome == conformance::Outcome::kFail;
  });
  for (auto& implementation : sample.result.implementations) {
    implementation.stale_deviations.clear();
  }
  EXPECT_EQ(Build(sample)["summary"]["conclusion"], "conforming");
  sample.result.interrupted = true;
  EXPECT_EQ(Build(sample)["summary"]["conclusion"], "incomplete");
  sample.result.interrupted = false;
  sample.result.unrecorded = 3;
  EXPECT_EQ(Build(sample)["summary"]["conclusion"], "incomplete");
}

TEST(BuildReport, ListsTheRulesAndVectorsOfItsRows) {
  const Json report = Build(SampleRun());
  EXPECT_EQ(report["rules"].size(), 6u);
  const Json& rule = Named(report["rules"], "id", "gguf.align.value.zero");
  EXPECT_EQ(rule["severity"], "hazard");
  EXPECT_FALSE(rule["statement"].get<std::string>().empty());
  const Json& vector =
      Named(report["vectors"], "id", "gguf.align.value.zero-1");
  EXPECT_EQ(vector["expected"]["spec"]["offset"], 53);
  EXPECT_EQ(vector["excerpt"]["file_size"], 57);
}

TEST(BuildReport, VariesOnlyInRun) {
  Sample first = SampleRun();
  Sample second = SampleRun();
  std::ranges::reverse(second.result.rows);
  std::ranges::reverse(second.result.implementations);
  second.result.run = {{"started", "another day"}, {"host", "elsewhere"}};
  for (auto& implementation : second.result.implementations) {
    implementation.seconds = 99;
    implementation.peak_rss_bytes = 1;
  }
  for (auto& row : second.result.rows) {
    if (!row.stderr_tail.empty()) row.stderr_tail = "something else";
    if (!row.answer.is_null()) row.answer["detail"] = "pid 1";
  }
  Json a = Build(first);
  Json b = Build(second);
  EXPECT_NE(a["run"], b["run"]);
  a["run"] = b["run"] = Json::object();
  EXPECT_EQ(ReportText(a), ReportText(b));
}

TEST(BuildReport, SortsRowsByImplementationAndVector) {
  const Json report = Build(SampleRun());
  const Json& rows = report["rows"];
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, [](const Json& row) {
    return std::pair(row.at("implementation"), row.at("vector"));
  }));
}

TEST(ReportText, ReadsBack) {
  const Json report = Build(SampleRun());
  const auto again = ParseReport(ReportText(report));
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(*again, report);
}

TEST(ParseReport, SaysWhatIsWrong) {
  EXPECT_NE(ParseReport("").error().find("not JSON"), std::string::npos);
  EXPECT_NE(ParseReport("{\"a\":1}").error().find("format"), std::string::npos);
  Json report = Build(SampleRun());
  report["rows"][3]["outcome"] = "splendid";
  const auto broken = ParseReport(report.dump());
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().find("[rows]"), std::string::npos) << broken.error();
  report = Build(SampleRun());
  report["summary"].erase("canary");
  EXPECT_NE(ParseReport(report.dump()).error().find("canary"),
            std::string::npos);
}

TEST(Schema, IsThePublishedFile) {
  std::ifstream file(WEIGHTPROOF_SOURCE_DIR "/reports/report.schema.json");
  std::stringstream text;
  text << file.rdbuf();
  const Json schema = Json::parse(text.str(), nullptr, false);
  ASSERT_FALSE(schema.is_discarded());
  EXPECT_EQ(schema["properties"]["format"]["const"], kReportFormat);
}

}  // namespace
}  // namespace weightproof::reports
