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
  EXPECT_THAT(xml, Not(HasSubstr("<script>")));
  EXPECT_THAT(xml, Not(HasSubstr("\x1b")));
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
