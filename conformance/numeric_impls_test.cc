// Every built-in implementation gives the answer of spec to every numeric
// vector, and the classifier says so.
#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "conformance/classify.h"
#include "conformance/numeric.h"
#include "conformance/numeric_reference.h"
#include "impls/registry.h"

namespace weightproof::conformance {
namespace {

const VectorSet& Set() {
  static const VectorSet set = [] {
    auto loaded = LoadVectors(WEIGHTPROOF_SOURCE_DIR "/conformance/vectors");
    if (loaded) return *loaded;
    ADD_FAILURE() << loaded.error().message;
    return VectorSet{};
  }();
  return set;
}

// How many bytes an operation writes.
std::size_t OutputBytes(const NumericRequest& request) {
  const std::uint64_t blocks = request.n / 32 * request.rows;
  if (request.operation == "q8_0.quantize") return 34 * blocks;
  if (request.operation == "q8_1.quantize") return 36 * blocks;
  if (request.operation == "q8_0.dequantize") return 128 * blocks;
  if (request.operation == "q8_0.dot") return 4;
  if (request.operation == "q8_0.matvec") {
    return 4 * request.rows * request.cols;
  }
  if (request.operation == "f16.from_f32") return request.x.size() / 2;
  if (request.operation == "f16.to_f32") return 2 * request.x.size();
  return 0;
}

void Call(const wp_implementation& impl, const NumericRequest& r,
          std::uint32_t threads, std::uint8_t* y, wp_answer* answer) {
  const auto* floats = reinterpret_cast<const float*>(r.x.data());
  auto* out = reinterpret_cast<float*>(y);
  const wp_slice x = {r.x.data(), r.x.size()};
  if (r.operation == "q8_0.quantize") {
    impl.q8_0_quantize(nullptr, floats, r.n, r.rows, y, answer);
  } else if (r.operation == "q8_1.quantize") {
    impl.q8_1_quantize(nullptr, floats, r.n, r.rows, y, answer);
  } else if (r.operation == "q8_0.dequantize") {
    impl.q8_0_dequantize(nullptr, r.x.data(), r.n, r.rows, out, answer);
  } else if (r.operation == "q8_0.dot") {
    impl.q8_0_dot(nullptr, r.w.data(), r.x.data(), r.n, out, nullptr, answer);
  } else if (r.operation == "q8_0.matvec") {
    impl.q8_0_matvec(nullptr, r.w.data(), r.x_is_f32 ? nullptr : r.x.data(),
                     r.x_is_f32 ? floats : nullptr, r.n, r.rows, r.cols,
                     threads, out, answer);
  } else if (r.operation == "q8_0.validate") {
    impl.q8_0_validate(x, r.n, r.rows, answer);
  } else if (r.operation == "q8_1.validate") {
    impl.q8_1_validate(x, r.n, r.rows, answer);
  } else if (r.operation == "f16.from_f32") {
    impl.f16_from_f32(nullptr, floats, r.x.size() / 4,
                      reinterpret_cast<std::uint16_t*>(y), answer);
  } else {
    impl.f16_to_f32(nullptr, reinterpret_cast<const std::uint16_t*>(r.x.data()),
                    r.x.size() / 2, out, answer);
  }
}

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
  for (const Vector& vector : Set().vectors) {
    if (vector.format != "q8_0") continue;
    const auto request = ReadRequest(vector);
    ASSERT_TRUE(request.has_value()) << request.error();
    std::vector<std::uint8_t> y(OutputBytes(*request), 0xa5);
    wp_answer answer{};
    answer.offset = WP_NO_OFFSET;
    Call(*GetParam(), *request, vector.request.value("threads", 1u), y.data(),
         &answer);
    if (answer.status == WP_STATUS_NOT_RUN) {
      // The processor lacks the instruction set: said, not hidden.
      EXPECT_STRNE(answer.detail, "");
      std::printf("NOT RUN: %s: %s\n", GetParam()->name, answer.detail);
      return;
    }
    ASSERT_EQ(answer.status, WP_STATUS_OK) << vector.id;
    const Expectation& spec = vector.expect.at("spec");
    const bool rejected = answer.verdict == WP_REJECT;
    ASSERT_EQ(rejected, spec.verdict == "reject") << vector.id;
    if (rejected) {
      y.clear();
      EXPECT_EQ(spec.rule, std::string(answer.rule)) << vector.id;
      EXPECT_EQ(spec.offset.value_or(WP_NO_OFFSET), answer.offset) << vector.id;
    } else if (!vector.operation.ends_with(".validate")) {
      EXPECT_TRUE(AnswerEquals(vector, spec.answer, {&vector, false, y}))
          << vector.id << ": "
          << ToHex(std::span(y).first(std::min<std::size_t>(y.size(), 64)));
    }
    answers.push_back({&vector, rejected, std::move(y)});
  }
  EXPECT_EQ(ClassifyQuantize(answers).variant, "spec");
  EXPECT_EQ(ClassifyQ81(answers).variant, "spec");
  EXPECT_EQ(ClassifyDot(answers).variant, "spec");
  EXPECT_EQ(ClassifyMatvec(answers, "spec").variant, "spec");
}

}  // namespace
}  // namespace weightproof::conformance
