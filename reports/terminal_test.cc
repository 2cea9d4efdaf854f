#include "reports/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/model.h"
#include "reports/sample_run.h"

namespace weightproof::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Render(const Sample& sample, bool colour = false) {
  TerminalStyle style;
  style.colour = colour;
  return RenderTerminal(BuildReport(sample.result, sample.vectors), style);
}

TEST(RenderTerminal, SaysTheConclusionFirst) {
  const std::string text = Render(SampleRun());
  EXPECT_EQ(text.find("NOT CONFORMING"), 1u) << text;
  EXPECT_THAT(text, HasSubstr("1 of 2 implementations breaks rules"));
  EXPECT_THAT(text, HasSubstr("11 of 12 cases executed"));
}

TEST(RenderTerminal, NamesWhatFailedAndHowToReproduceIt) {
  const std::string text = Render(SampleRun());
  EXPECT_THAT(text, HasSubstr("gguf.align.value.zero  hazard"));
  EXPECT_THAT(text, HasSubstr("crash (SIGFPE); expected reject"));
  EXPECT_THAT(text, HasSubstr("accepted, read differently; expected accept"));
  EXPECT_THAT(text, HasSubstr("./weightproof repro beta/full "
                              "gguf.align.value.zero-1"));
}

TEST(RenderTerminal, KeepsPoliciesAndGapsApartFromFailures) {
  const std::string text = Render(SampleRun());
  const std::size_t failures = text.find("Failures: 2 rules");
  const std::size_t policies = text.find("Policies, either answer conforms");
  ASSERT_NE(failures, std::string::npos);
  ASSERT_NE(policies, std::string::npos);
  EXPECT_LT(failures, policies);
  EXPECT_THAT(text, HasSubstr("rejected, as candle"));
  EXPECT_THAT(text, HasSubstr("needs AVX-512: 1 vector"));
  EXPECT_THAT(text, HasSubstr("does not report alignment"));
  EXPECT_THAT(text, HasSubstr("known upstream, issue 12"));
  EXPECT_THAT(text, HasSubstr("equals ggml-avx2 on 40 of 40"));
  EXPECT_THAT(text, HasSubstr("NOT RUN: not installed"));
  EXPECT_THAT(text, HasSubstr("gguf.kv.bool.range: no vector matches"));
}

TEST(RenderTerminal, SurveysManyImplementationsShortly) {
  Sample sample = SampleRun();
  const auto beta = sample.result.implementations[1];
  const auto rows = sample.result.rows;
  for (const char* name : {"c", "d", "e", "f"}) {
    sample.result.implementations.push_back(beta);
    sample.result.implementations.back().name = name;
    for (auto row : rows) {
      if (row.implementation != beta.name) continue;
      row.implementation = name;
      if (row.outcome == conformance::Outcome::kFail) {
        row.outcome = conformance::Outcome::kExpectedDeviation;
      }
      sample.result.rows.push_back(row);
    }
  }
  const std::string text = Render(sample);
  EXPECT_THAT(text, HasSubstr("Known deviations: 3 rules"));
  EXPECT_THAT(text,
              HasSubstr("crash (SIGFPE): 1 vector, by gguf.align.value.zero"));
  EXPECT_THAT(text, HasSubstr(", d, e, f\n"));
  EXPECT_THAT(text, HasSubstr("equals ggml-avx2 on 40 of 40"));
  EXPECT_THAT(text, Not(HasSubstr("Policies, either answer conforms")));
  EXPECT_THAT(text, HasSubstr("./weightproof report --only NAME"));
}

TEST(RenderTerminal, EscapesHostileText) {
  Sample sample = SampleRun();
  sample.result.implementations[1].name = kHostileEscape;
  for (auto& row : sample.result.rows) {
    if (row.implementation == "beta/full") row.implementation = kHostileEscape;
  }
  const std::string text = Render(sample);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
  EXPECT_THAT(text, HasSubstr("\\x1b[2J"));
  EXPECT_THAT(text, Not(HasSubstr("\nline two")));
}

TEST(RenderTerminal, ColoursOnlyOnRequest) {
  EXPECT_THAT(Render(SampleRun(), true), HasSubstr("\x1b[31m"));
  EXPECT_THAT(Render(SampleRun(), false), Not(HasSubstr("\x1b")));
}

TEST(StyleFor, IsPlainWithoutATerminal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(StyleFor(ends[1]).colour);
  close(ends[0]);
  close(ends[1]);
}

TEST(RenderTerminal, SaysVoidLoudly) {
  Sample sample = SampleRun();
  sample.result.canary_caught = false;
  sample.result.canary_detail = "the canary passed 5 vectors";
  const std::string text = Render(sample);
  EXPECT_EQ(text.find("VOID"), 1u);
  EXPECT_THAT(text, HasSubstr("nothing here can be trusted: the canary"));
}

}  // namespace
}  // namespace weightproof::reports
