#include "conformance/classify.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "build_paths.h"
#include "conformance/numeric.h"
#include "conformance/numeric_reference.h"
#include "reference/q8_0/f16.h"

namespace weightproof::conformance {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const VectorSet& Set() {
  static const VectorSet set = [] {
    auto loaded = LoadVectors(WEIGHTPROOF_SOURCE_DIR "/conformance/vectors");
    if (!loaded) {
      ADD_FAILURE() << loaded.error().message;
      return VectorSet{};
    }
    return *loaded;
  }();
  return set;
}

using Answerer = std::function<NumericResult(const NumericRequest&)>;

// What an implementation would have answered to all vectors of an operation.
// Bulk vectors take long in sanitized builds: left out unless asked for.
std::vector<NumericAnswer> Record(std::string_view operation,
                                  const Answerer& answerer, bool bulk = false) {
  std::vector<NumericAnswer> answers;
  for (const Vector& vector : Set().vectors) {
    if (vector.operation != operation) continue;
    if (!bulk && vector.id.starts_with("q8b")) continue;
    const auto request = ReadRequest(vector);
    EXPECT_TRUE(request.has_value()) << vector.id;
    NumericResult result = answerer(*request);
    answers.push_back({&vector, result.rejected, std::move(result.y)});
  }
  return answers;
}

std::vector<NumericAnswer> RecordAs(std::string_view operation,
                                    std::string_view variant,
                                    bool bulk = false) {
  return Record(
      operation,
      [&](const NumericRequest& request) { return AnswerAs(request, variant); },
      bulk);
}

NumericResult QuantizedBy(const NumericRequest& request,
                          const q8_0::Quantizer& quantizer) {
  NumericResult result;
  auto y = q8_0::Quantize(request.x, request.n, request.rows, quantizer);
  result.rejected = !y.has_value();
  if (y) result.y = *y;
  return result;
}

std::vector<NumericAnswer> RecordQuantizer(const q8_0::Quantizer& quantizer) {
  return Record("q8_0.quantize", [&](const NumericRequest& request) {
    return QuantizedBy(request, quantizer);
  });
}

TEST(ClassifyQuantize, TheLastByteCounts) {
  auto answers = RecordAs("q8_0.quantize", "spec");
  for (NumericAnswer& answer : answers) {
    if (answer.rejected || answer.y.size() < 2) continue;
    answer.y.back() ^= 1;
    const Arithmetic found = ClassifyQuantize(answers);
    EXPECT_FALSE(found.variant.has_value()) << *found.variant;
    ASSERT_TRUE(found.first_difference.has_value());
    EXPECT_EQ(found.first_difference->vector, answer.vector->id);
    EXPECT_EQ(found.first_difference->byte, answer.y.size() - 1);
    return;
  }
  FAIL() << "no answer with bytes";
}

TEST(ClassifyQuantize, NamesEveryNamedVariant) {
  for (const q8_0::NamedQuantizer& named : q8_0::Quantizers()) {
    const auto answers = RecordAs("q8_0.quantize", named.name, true);
    const Arithmetic found = ClassifyQuantize(answers);
    EXPECT_EQ(found.variant, std::string(named.name)) << found.verdict;
    EXPECT_EQ(found.total, static_cast<int>(answers.size()));
    EXPECT_EQ(found.verdict, fmt::format("follows {0} on {1} of {1} vectors",
                                         named.name, answers.size()));
    EXPECT_FALSE(found.first_difference.has_value());
    EXPECT_EQ(found.leaves_spec.empty(), named.name == "spec");
    EXPECT_EQ(found.subnormals, "kept") << named.name;
  }
}

// ggml's x86 quantizer leaves its own reference on 95 blocks of corpus B, its
// x86 dot product loses the sign of -128.
TEST(Describe, ShowsWhereAnImplementationLeavesSpec) {
  const std::string quantize =
      Describe(ClassifyQuantize(RecordAs("q8_0.quantize", "ggml-avx2", true)));
  EXPECT_THAT(quantize, HasSubstr("follows ggml-avx2 on "));
  EXPECT_THAT(quantize,
              HasSubstr("q8b-02: 95 of 4096 blocks differ, in 173 bytes"));
  const std::string dot =
      Describe(ClassifyDot(RecordAs("q8_0.dot", "avx2-fma8+sign")));
  EXPECT_THAT(dot, HasSubstr("beyond the error bound: q8v-02"));
  const std::string spec = Describe(ClassifyDot(RecordAs("q8_0.dot", "spec")));
  EXPECT_THAT(spec, Not(HasSubstr(";")));
}

// The vectors separate all 40 points of the product: each is named by itself
// and by nothing else.
TEST(ClassifyQuantize, SeparatesAllPointsOfTheProduct) {
  using q8_0::Reciprocal, q8_0::Rounding, q8_0::ScaleRounding;
  for (int i = 0; i < 40; ++i) {
    q8_0::Quantizer quantizer;
    quantizer.reciprocal = static_cast<Reciprocal>(i / 10);
    quantizer.rounding = static_cast<Rounding>(i / 2 % 5);
    quantizer.scale = static_cast<ScaleRounding>(i % 2);
    quantizer.cast = q8_0::Cast::kSaturate;
    quantizer.refuses_nonfinite = false;
    const Arithmetic found = ClassifyQuantize(RecordQuantizer(quantizer));
    EXPECT_EQ(
        found.point,
        fmt::format("{}, {}, {}", ToString(quantizer.reciprocal),
                    ToString(quantizer.rounding), ToString(quantizer.scale)));
    EXPECT_EQ(found.amax, "number") << i;
    // A division never leaves the range, so that no cast shows.
    if (quantizer.reciprocal != Reciprocal::kDiv) {
      EXPECT_EQ(found.cast, "saturate") << i;
    }
  }
}

TEST(ClassifyQuantize, TellsCornerCasesApartFromThePoint) {
  q8_0::Quantizer quantizer = q8_0::FindQuantizer("ggml-avx2")->quantizer;
  quantizer.refuses_nonfinite = true;
  const Arithmetic refusing = ClassifyQuantize(RecordQuantizer(quantizer));
  EXPECT_FALSE(refusing.variant.has_value());
  EXPECT_EQ(refusing.point, "inv-amax, even, rne");
  EXPECT_EQ(refusing.amax, "refuses");
  EXPECT_EQ(refusing.cast, "pack");

  // All codes 7 where the data are not finite: like nobody.
  const Arithmetic odd = ClassifyQuantize(
      Record("q8_0.quantize", [](const NumericRequest& request) {
        NumericResult result = AnswerAs(request, "spec");
        if (result.rejected && request.n % 32 == 0) {
          result.rejected = false;
          result.y.assign(request.n / 32 * 34, 7);
        }
        return result;
      }));
  EXPECT_FALSE(odd.variant.has_value());
  EXPECT_EQ(odd.verdict,
            "inv-d, away, rne on all finite vectors; corner cases unlike any "
            "named variant");
}

TEST(ClassifyQuantize, SeesFlushedSubnormals) {
  q8_0::Quantizer quantizer;
  quantizer.subnormals = q8_0::Subnormals::kFlushed;
  const Arithmetic found = ClassifyQuantize(RecordQuantizer(quantizer));
  EXPECT_FALSE(found.variant.has_value());
  EXPECT_EQ(found.point, "inv-d, away, rne");
  EXPECT_EQ(found.subnormals, "flushed");
  EXPECT_THAT(found.leaves_spec, Contains("q8t-02"));
  EXPECT_THAT(found.leaves_spec, Contains("q8t-04"));
}

TEST(ClassifyQuantize, ReportsNearestAndFirstDifference) {
  auto answers = RecordAs("q8_0.quantize", "ggml-avx2");
  for (NumericAnswer& answer : answers) {
    if (answer.vector->id == "q8r-18") answer.y[3] ^= 1;
    if (answer.vector->id == "q8s-01") answer.y[0] ^= 1;
  }
  const Arithmetic found = ClassifyQuantize(answers);
  EXPECT_FALSE(found.variant.has_value());
  EXPECT_FALSE(found.point.has_value());
  EXPECT_EQ(found.nearest, "ggml-avx2");
  EXPECT_EQ(found.matched, found.total - 2);
  ASSERT_TRUE(found.first_difference.has_value());
  EXPECT_EQ(found.first_difference->vector, "q8r-18");
  EXPECT_EQ(found.first_difference->byte, 3u);
  EXPECT_THAT(found.verdict,
              HasSubstr(fmt::format("no variant; nearest ggml-avx2, {} of {}, "
                                    "first difference q8r-18 byte 3",
                                    answers.size() - 2, answers.size())));
}

// Two variants by turns are no policy.
TEST(ClassifyQuantize, MixedAnswersAreNoVariant) {
  auto answers = RecordAs("q8_0.quantize", "ggml-avx2");
  const auto other = RecordAs("q8_0.quantize", "ggml-neon");
  for (std::size_t i = 0; i < answers.size(); i += 2) answers[i] = other[i];
  const Arithmetic found = ClassifyQuantize(answers);
  EXPECT_FALSE(found.variant.has_value());
  EXPECT_THAT(found.verdict, Not(HasSubstr("follows")));
}

TEST(ClassifyQuantize, NoAnswersIsNoVerdict) {
  const Arithmetic found = ClassifyQuantize({});
  EXPECT_EQ(found.verdict, "no vectors");
  EXPECT_FALSE(found.variant.has_value());
  EXPECT_FALSE(found.point.has_value());
}

TEST(ClassifyQuantize, RejectingEverythingIsNoVariant) {
  const Arithmetic found =
      ClassifyQuantize(Record("q8_0.quantize", [](const NumericRequest&) {
        NumericResult result;
        result.rejected = true;
        return result;
      }));
  EXPECT_FALSE(found.variant.has_value());
  EXPECT_FALSE(found.point.has_value());
}

TEST(ClassifyQ81, NamesEveryVariant) {
  for (const q8_0::NamedQ81& named : q8_0::Q81Variants()) {
    const Arithmetic found = ClassifyQ81(RecordAs("q8_1.quantize", named.name));
    EXPECT_EQ(found.variant, std::string(named.name)) << found.verdict;
    EXPECT_GE(found.total, 15);
  }
}

TEST(ClassifyDot, NamesEveryOrder) {
  for (const q8_0::NamedDotOrder& named : q8_0::DotOrders()) {
    const Arithmetic found = ClassifyDot(RecordAs("q8_0.dot", named.name));
    EXPECT_EQ(found.variant, std::string(named.name)) << found.verdict;
    EXPECT_GE(found.total, 29);
    if (named.name.ends_with("+sign")) {
      EXPECT_THAT(found.out_of_bound, Contains("q8v-02"));
      continue;
    }
    for (const std::string& id : found.out_of_bound) {
      EXPECT_TRUE(id == "q8v-08" || id == "q8v-09") << id;
    }
  }
}

TEST(ClassifyDot, AcceptsANanOfAnyPattern) {
  auto answers = RecordAs("q8_0.dot", "spec");
  for (NumericAnswer& answer : answers) {
    if (answer.vector->id == "q8v-12") answer.y = {1, 0, 0xa0, 0xff};
  }
  EXPECT_EQ(ClassifyDot(answers).variant, "spec");
}

// Sums in f16 are beyond the bound; f32 sums from the far end are within.
TEST(ClassifyDot, BoundsAForeignOrder) {
  const auto record = [](bool half) {
    return Record("q8_0.dot", [half](const NumericRequest& request) {
      NumericResult result = AnswerAs(request, "spec");
      if (result.rejected) return result;
      const BlockOperands operands = Operands(request);
      if (!q8_0::Exact(operands.w, operands.x)) return result;
      float sum = 0;
      for (std::size_t b = operands.w.size(); b-- > 0;) {
        sum += q8_0::Dot(std::span(operands.w).subspan(b, 1),
                         std::span(operands.x).subspan(b, 1));
        if (half) {
          sum = q8_0::ValueOfF16(
              q8_0::F16FromF32(std::bit_cast<std::uint32_t>(sum)));
        }
      }
      q8_0::WriteF32(sum, result.y, 0);
      return result;
    });
  };
  const Arithmetic backwards = ClassifyDot(record(false));
  EXPECT_FALSE(backwards.variant.has_value());
  EXPECT_THAT(backwards.verdict, HasSubstr("no variant; nearest "));
  EXPECT_THAT(backwards.verdict, HasSubstr("of the bound"));
  EXPECT_THAT(backwards.out_of_bound, IsEmpty());
  EXPECT_LT(backwards.worst_bound_ratio, 0.1);
  const Arithmetic half = ClassifyDot(record(true));
  EXPECT_FALSE(half.variant.has_value());
  EXPECT_THAT(half.out_of_bound, Contains("q8v-27"));
}

TEST(ClassifyMatvec, NamesOrderAndUsesTheQuantizer) {
  for (const char* order : {"spec", "generic", "avx2-fma8"}) {
    for (const char* quantizer : {"spec", "ggml-avx2"}) {
      const auto answers =
          Record("q8_0.matvec", [&](const NumericRequest& request) {
            return AnswerAs(request, order,
                            q8_0::FindQuantizer(quantizer)->quantizer);
          });
      const Arithmetic found = ClassifyMatvec(answers, quantizer);
      EXPECT_EQ(found.variant, order) << found.verdict;
      EXPECT_THAT(found.out_of_bound, IsEmpty());
    }
  }
}

TEST(ClassifyMatvec, BoundIsLooseWhereActivationsAreUnknown) {
  const auto answers =
      Record("q8_0.matvec", [&](const NumericRequest& request) {
        return AnswerAs(request, "spec",
                        q8_0::FindQuantizer("recip-f16")->quantizer);
      });
  for (const NumericAnswer& answer : answers) {
    if (answer.vector->id != "q8m-03") continue;
    const BoundCheck check = CheckBound(answer, std::nullopt);
    EXPECT_TRUE(check.loose);
    EXPECT_LE(check.ratio, 1);
    EXPECT_THAT(check.detail, HasSubstr("loose"));
  }
  EXPECT_THAT(ClassifyMatvec(answers, std::nullopt).out_of_bound, IsEmpty());
}

TEST(AnswerEquals, ComparesHexDigestsAndRejects) {
  for (const Vector& vector : Set().vectors) {
    if (vector.format != "q8_0" || vector.operation.ends_with("validate")) {
      continue;
    }
    const auto request = ReadRequest(vector);
    ASSERT_TRUE(request.has_value());
    const NumericResult result = AnswerAs(*request, "spec");
    NumericAnswer answer{&vector, result.rejected, result.y};
    const Expectation& spec = vector.expect.at("spec");
    const Json expected =
        spec.verdict == "reject" ? Json{{"reject", true}} : spec.answer;
    EXPECT_TRUE(AnswerEquals(vector, expected, answer)) << vector.id;
    answer.rejected = !answer.rejected;
    EXPECT_FALSE(AnswerEquals(vector, expected, answer)) << vector.id;
    answer.rejected = result.rejected;
    if (answer.y.empty()) continue;
    answer.y[0] ^= 1;
    // One NaN is as good as another.
    const bool still_nan =
        CanonicalOutput(vector.operation, answer.y) == result.y;
    EXPECT_EQ(AnswerEquals(vector, expected, answer), still_nan) << vector.id;
    answer.y.pop_back();
    EXPECT_FALSE(AnswerEquals(vector, expected, answer)) << vector.id;
  }
}

TEST(MatchingVariants, ListsAllThatGiveTheAnswer) {
  for (const NumericAnswer& answer : RecordAs("q8_0.quantize", "ggml-avx2")) {
    const auto names = MatchingVariants(answer);
    EXPECT_THAT(names, Contains("ggml-avx2")) << answer.vector->id;
    if (answer.vector->id == "q8r-18") {
      EXPECT_THAT(names, Contains("div"));
      EXPECT_THAT(names, Not(Contains("spec")));
    }
  }
}

}  // namespace
}  // namespace weightproof::conformance
