#include "reports/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "reports/excerpt.h"
#include "reports/model.h"
#include "reports/sample_run.h"

namespace weightproof::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Render(const Sample& sample) {
  const std::string page =
      RenderHtml(BuildReport(sample.result, sample.vectors));
  // For looking at: WEIGHTPROOF_KEEP_HTML names a file.
  if (const char* keep = std::getenv("WEIGHTPROOF_KEEP_HTML")) {
    std::ofstream(keep, std::ios::binary) << page;
  }
  return page;
}

std::size_t CountOf(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != text.npos;
       at = text.find(what, at + 1)) {
    ++n;
  }
  return n;
}

TEST(RenderHtml, SaysTheConclusionAndDrawsTheMatrix) {
  const std::string page = Render(SampleRun());
  EXPECT_THAT(page, HasSubstr("<h1>Not conforming</h1>"));
  EXPECT_THAT(page, HasSubstr("1 of 2 implementations breaks rules."));
  EXPECT_THAT(page, HasSubstr("<rect class=\"k-crash\""));
  EXPECT_THAT(page, HasSubstr("<rect class=\"k-pass\""));
  EXPECT_THAT(page, HasSubstr("href=\"#r-gguf.align.value.zero\""));
  EXPECT_EQ(CountOf(page, "<rect "), 12u);
}

TEST(RenderHtml, HasEveryFailingRowWithBytesAndRepro) {
  const std::string page = Render(SampleRun());
  for (const std::string id :
       {"gguf.align.value.zero", "gguf.align.value.default"}) {
    EXPECT_THAT(page, HasSubstr("id=\"r-" + id + "\""));
    EXPECT_THAT(page, HasSubstr("<code>" + id + "-1</code>"));
    EXPECT_THAT(page, HasSubstr("./weightproof repro beta/full " + id + "-1"));
  }
  EXPECT_THAT(page, HasSubstr("crash (SIGFPE)"));
  EXPECT_THAT(page, HasSubstr("<mark>00</mark>"));
  EXPECT_THAT(page, HasSubstr("at byte 53"));
  EXPECT_THAT(page, HasSubstr("pid 4711"));
}

TEST(RenderHtml, KeepsPoliciesApart) {
  const std::string page = Render(SampleRun());
  const std::size_t policies = page.find("id=\"policies\"");
  ASSERT_NE(policies, page.npos);
  EXPECT_GT(page.find("id=\"p-gguf.align.value.multiple_of_8\""), policies);
  EXPECT_THAT(page, Not(HasSubstr("id=\"r-gguf.align.value.multiple_of_8\"")));
  EXPECT_THAT(page, HasSubstr("known upstream, issue 12"));
  EXPECT_THAT(page, HasSubstr("needs AVX-512"));
  EXPECT_THAT(page, HasSubstr("equals ggml-avx2 on 40 of 40"));
}

TEST(RenderHtml, LoadsNothing) {
  const std::string page = Render(SampleRun());
  EXPECT_FALSE(std::regex_search(page, std::regex("(https?:)?//[a-z]")));
  EXPECT_FALSE(std::regex_search(
      page, std::regex("(<link|<img|<iframe|@import|url\\(|src=)")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(RenderHtml, EscapesHostileTextEverywhere) {
  Sample sample = SampleRun();
  const std::string hostile =
      std::string("\"'><script>alert(1)</script>") + kHostileEscape;
  for (auto& implementation : sample.result.implementations) {
    implementation.name += hostile;
    implementation.version = implementation.why = hostile;
    implementation.operations = implementation.variants = {hostile};
    implementation.arithmetic = {{hostile, hostile}};
    implementation.stale_deviations = {hostile};
    implementation.overdue_deviations = {hostile};
    implementation.declared_profile = hostile;
  }
  for (auto& row : sample.result.rows) {
    row.implementation += hostile;
    row.rule += hostile;
    row.variant = row.reason = row.difference = row.signal = hostile;
    row.stderr_tail = row.repro = row.expected = row.verdict = hostile;
    row.answer = {{"detail", hostile}, {"x", hostile}};
    row.profiles = {hostile};
  }
  for (auto& vector : sample.vectors.vectors) {
    vector.notes = vector.operation = vector.format = hostile;
    vector.request = {{"x", hostile}};
  }
  sample.vectors.version = hostile;
  sample.result.canary_detail = hostile;
  sample.result.run = {{hostile, hostile}};
  const std::string page = Render(sample);
  EXPECT_EQ(CountOf(page, "<script>"), 1u);  // our own
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\"'>")));
}

TEST(RenderHtml, IsCompleteWithoutFailures) {
  Sample sample = SampleRun();
  std::erase_if(sample.result.rows,
                [](const auto& row) { return row.implementation != "alpha"; });
  sample.result.implementations.resize(1);
  const std::string page = Render(sample);
  EXPECT_THAT(page, HasSubstr("<h1>Conforming</h1>"));
  EXPECT_THAT(page, Not(HasSubstr("<details")));
}

TEST(RenderHtml, StaysSmallForManyRows) {
  const std::string page = Render(LargeRun(20, 300));
  EXPECT_LT(page.size(), 5u << 20);
  EXPECT_GT(CountOf(page, "class=\"answer\""), 500u);
}

TEST(ExcerptHtml, ShadesFieldsAndMarksTheOffset) {
  const Json excerpt = {{"at", 5},
                        {"start", 0},
                        {"file_size", 18},
                        {"hex", "474755460300000000000000000000000000"},
                        {"fields",
                         {{{"path", "header.magic"},
                           {"kind", "magic"},
                           {"offset", 0},
                           {"size", 4},
                           {"value", "\"GGUF\""}},
                          {{"path", "<b>"},
                           {"kind", "version"},
                           {"offset", 4},
                           {"size", 4},
                           {"value", "3"}}}}};
  const std::string html = ExcerptHtml(excerpt);
  EXPECT_THAT(html, HasSubstr("title=\"header.magic = &quot;GGUF&quot;\">47 "
                              "47 55 46</span>"));
  EXPECT_THAT(html, HasSubstr("<mark>00</mark>"));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_THAT(FieldsHtml(excerpt), HasSubstr("<mark>&lt;b&gt;</mark>"));
}

}  // namespace
}  // namespace weightproof::reports
