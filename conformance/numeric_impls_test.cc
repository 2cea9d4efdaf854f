// Every built-in implementation gives the answer of spec to every numeric
// vector, and the classifier says so.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance/classify.h"
#include "conformance/numeric.h"
#include "conformance/numeric_testing.h"
#include "impls/registry.h"

namespace weightproof::conformance {
namespace {

std::vector<const wp_implementation*> Numeric() {
  std::vector<const wp_implementation*> list;
  for (const wp_implementation* impl : impls::BuiltIns()) {
    if (impl->q8_0_dot != nullptr) list.push_back(impl);
  }
  return list;
}

class NumericImplementation
    : public testing::TestWithParam<const wp_implementation*> {};

INSTANTIATE_TEST_SUITE_P(All, NumericImplementation,
                         testing::ValuesIn(Numeric()), [](const auto& info) {
                           return std::string(info.param->name);
                         });

TEST_P(NumericImplementation, AnswersEveryVectorAsSpec) {
  std::vector<NumericAnswer> answers;
  for (const Vector& vector : CommittedVectors().vectors) {
    if (vector.format != "q8_0") continue;
    NumericOutcome outcome = AnswerVector(*GetParam(), vector);
    if (!outcome.not_run.empty()) {
      // The processor lacks the instruction set: said, not hidden.
      std::printf("NOT RUN: %s: %s\n", GetParam()->name,
                  outcome.not_run.c_str());
      return;
    }
    EXPECT_EQ(outcome.wrong, "")
        << vector.id << ": " << ToHex(outcome.answer.y).substr(0, 128);
    answers.push_back(std::move(outcome.answer));
  }
  EXPECT_EQ(ClassifyQuantize(answers).variant, "spec");
  EXPECT_EQ(ClassifyQ81(answers).variant, "spec");
  EXPECT_EQ(ClassifyDot(answers).variant, "spec");
  EXPECT_EQ(ClassifyMatvec(answers, "spec").variant, "spec");
}

}  // namespace
}  // namespace weightproof::conformance
