#include "reports/kills.h"

#include <gtest/gtest.h>

namespace weightproof::reports {
namespace {

using Json = nlohmann::json;

Json Report() {
  return Json::parse(
      R"({"set_version":"1.0.0","vectors":[{"id":"a"},{"id":"b"}]})");
}

TEST(AddKills, GivesEachVectorItsList) {
  Json report = Report();
  AddKills(
      Json::parse(R"({"vector_set":"1.0.0","vectors":{"a":["canary","m"]}})"),
      report);
  EXPECT_EQ(report["vectors"][0]["kills"], Json({"canary", "m"}));
  EXPECT_EQ(report["vectors"][1]["kills"], Json::array());
}

TEST(AddKills, LeavesAReportAloneThatTheMatrixIsNotAbout) {
  for (const char* matrix :
       {"null", "[]", "{}", R"({"vector_set":"1.0.0","vectors":{}})",
        R"({"vector_set":"2.0.0","vectors":{"a":["m"]}})"}) {
    Json report = Report();
    AddKills(Json::parse(matrix), report);
    EXPECT_EQ(report, Report()) << matrix;
  }
}

TEST(AddKills, TakesNoListThatIsNone) {
  Json report = Report();
  AddKills(Json::parse(R"({"vector_set":"1.0.0","vectors":{"a":[7],"b":"x"}})"),
           report);
  EXPECT_EQ(report["vectors"][0]["kills"], Json::array());
  EXPECT_EQ(report["vectors"][1]["kills"], Json::array());
}

}  // namespace
}  // namespace weightproof::reports
