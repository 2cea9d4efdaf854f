#include "reports/clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/model.h"
#include "reports/sample_run.h"

namespace weightproof::reports {
namespace {

Json Row(const char* who, const char* vector, const char* verdict,
         const char* difference = "") {
  Json row = {{"implementation", who},   {"vector", vector},
              {"rule", "gguf.r"},        {"operation", "gguf.parse"},
              {"outcome", "pass"},       {"verdict", verdict},
              {"expected", "irrelevant"}};
  if (*difference != '\0') row["difference"] = difference;
  return row;
}

TEST(Clusters, GroupReadersByWhatTheyDo) {
  const Json clusters = Clusters(
      {Row("a", "v1", "accept"), Row("b", "v1", "accept", "kv[0]: 1, got 2"),
       Row("c", "v1", "accept"), Row("d", "v1", "reject"),
       Row("a", "v2", "reject"), Row("b", "v2", "reject"),
       Row("c", "v2", "crash"), Row("a", "v3", "reject"),
       Row("b", "v3", "reject")});
  EXPECT_EQ(clusters["vectors"], 3);
  EXPECT_EQ(clusters["divided"], 2);
  ASSERT_EQ(clusters["files"].size(), 2u);
  EXPECT_EQ(clusters["files"][0],
            (Json{{"vector", "v1"},
                  {"rule", "gguf.r"},
                  {"ways",
                   {{{"how", "accept"}, {"implementations", {"a", "c"}}},
                    {{"how", "accept, reading kv[0]: 1, got 2"},
                     {"implementations", {"b"}}},
                    {{"how", "reject"}, {"implementations", {"d"}}}}}}));
  EXPECT_EQ(clusters["files"][1]["vector"], "v2");
  EXPECT_EQ(ClusterSentence(clusters),
            "2 of 3 files are read in more than one way; the most divided, in "
            "3 ways: v1");
}

TEST(Clusters, CountPairsThatReadAlike) {
  const Json pairs =
      Clusters({Row("a", "v1", "accept"), Row("b", "v1", "reject"),
                Row("a", "v2", "accept"), Row("b", "v2", "accept"),
                Row("c", "v2", "accept")})["pairs"];
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0], (Json{{"a", "a"}, {"b", "c"}, {"same", 1}, {"of", 1}}));
  EXPECT_EQ(pairs[2], (Json{{"a", "a"}, {"b", "b"}, {"same", 1}, {"of", 2}}));
}

TEST(Clusters, LeaveOutWhatDidNotRun) {
  Json not_run = Row("b", "v1", "");
  not_run["outcome"] = "not-run";
  Json numeric = Row("b", "v1", "accept");
  numeric["operation"] = "q8_0.dot";
  const Json clusters = Clusters({Row("a", "v1", "accept"), not_run, numeric});
  EXPECT_EQ(clusters["vectors"], 0);
  EXPECT_EQ(ClusterSentence(clusters), "");
}

TEST(Clusters, ArePartOfAReportThatSatisfiesItsSchema) {
  const Sample sample = SampleRun();
  const Json report = BuildReport(sample.result, sample.vectors);
  EXPECT_TRUE(report.contains("clusters"));
  const auto checked = CheckReport(report);
  EXPECT_TRUE(checked.has_value()) << checked.error();
}

}  // namespace
}  // namespace weightproof::reports
