#include "reports/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/model.h"
#include "reports/sample_run.h"

namespace weightproof::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

Json Build(const Sample& sample) {
  return BuildReport(sample.result, sample.vectors);
}

TEST(RenderMarkdown, HasTheTableAndTheFailures) {
  const std::string text = RenderMarkdown(Build(SampleRun()));
  EXPECT_THAT(text, HasSubstr("## Weightproof: not conforming"));
  EXPECT_THAT(text, HasSubstr("| alpha 1.2.3 | 6 | 0 | 0 | 0 | 0 | 0 |"));
  EXPECT_THAT(text, HasSubstr("| `gguf.align.value.zero` | hazard | crash "
                              "(SIGFPE) | reject | 1 | `./weightproof repro "
                              "beta/full gguf.align.value.zero-1` |"));
}

TEST(RenderMarkdown, GivesHostileTextNoMeaning) {
  Sample sample = SampleRun();
  for (auto& row : sample.result.rows) {
    row.expected = "|[x](y)`<script>`\n# big";
    row.repro = "a`b|c\nd";
  }
  const std::string text = RenderMarkdown(Build(sample));
  EXPECT_THAT(text, Not(HasSubstr("<script>")));
  EXPECT_THAT(text, Not(HasSubstr("\n# big")));
  EXPECT_THAT(text, Not(HasSubstr("[x](y)")));
  EXPECT_THAT(text, HasSubstr("`a'b\\|c\\nd`"));
}

TEST(RenderJUnit, HasACasePerRow) {
  const std::string xml = RenderJUnit(Build(SampleRun()));
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"beta/full\" tests=\"7\" "
                             "failures=\"2\" errors=\"1\" skipped=\"3\">"));
  EXPECT_THAT(xml, HasSubstr("<failure type=\"crash\""));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"not-run: needs AVX-512\"/>"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"not-compared"));
  EXPECT_THAT(xml, Not(HasSubstr("<script>")));
  EXPECT_THAT(xml, Not(HasSubstr("\x1b")));
}

TEST(RenderSarif, LocatesEveryFailingRow) {
  const Json sarif = Json::parse(RenderSarif(Build(SampleRun())));
  EXPECT_EQ(sarif["version"], "2.1.0");
  const Json& run = sarif["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["name"], "Weightproof");
  ASSERT_EQ(run["results"].size(), 2u);
  const Json& crash = run["results"][1];
  EXPECT_EQ(crash["ruleId"], "gguf.align.value.zero");
  EXPECT_EQ(crash["level"], "error");
  const Json& place = crash["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"],
            "vectors/gguf.align.value.zero-1");
  EXPECT_EQ(place["region"]["byteOffset"], 53);
  EXPECT_THAT(crash["message"]["text"].get<std::string>(),
              HasSubstr("Reproduce: ./weightproof repro beta/full"));
  bool described = false;
  for (const Json& rule : run["tool"]["driver"]["rules"]) {
    described |= rule["id"] == crash["ruleId"];
  }
  EXPECT_TRUE(described);
  EXPECT_THAT(sarif.dump(), Not(HasSubstr("\\u001b")));
}

TEST(RenderBadge, SaysTheConclusion) {
  Sample sample = SampleRun();
  Json badge = Json::parse(RenderBadge(Build(sample)));
  EXPECT_EQ(badge["message"], "2 failures");
  EXPECT_EQ(badge["color"], "red");
  sample.result.rows.clear();
  sample.result.implementations.clear();
  badge = Json::parse(RenderBadge(Build(sample)));
  EXPECT_EQ(badge["message"], "conforming 1.0.0");
  sample.result.canary_caught = false;
  EXPECT_EQ(Json::parse(RenderBadge(Build(sample)))["message"], "void");
}

}  // namespace
}  // namespace weightproof::reports
