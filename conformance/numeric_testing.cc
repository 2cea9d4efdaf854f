#include "conformance/numeric_testing.h"

#include <cstdio>
#include <cstdlib>

#include "build_paths.h"
#include "conformance/numeric.h"
#include "conformance/numeric_reference.h"

namespace weightproof::conformance {
namespace {

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

std::string RejectedWrong(const Expectation& spec, const wp_answer& answer) {
  if (answer.rule == nullptr || spec.rule != std::string(answer.rule)) {
    return "another rule";
  }
  if (spec.offset.value_or(WP_NO_OFFSET) != answer.offset) {
    return "another offset";
  }
  return "";
}

}  // namespace

const VectorSet& CommittedVectors() {
  static const VectorSet set = [] {
    auto loaded = LoadVectors(WEIGHTPROOF_SOURCE_DIR "/conformance/vectors");
    if (loaded) return *loaded;
    std::fprintf(stderr, "%s%s: %s\n", loaded.error().file.c_str(),
                 loaded.error().pointer.c_str(),
                 loaded.error().message.c_str());
    std::exit(1);
  }();
  return set;
}

NumericOutcome AnswerVector(const wp_implementation& implementation,
                            const Vector& vector) {
  NumericOutcome outcome;
  const auto request = ReadRequest(vector);
  if (!request) {
    outcome.wrong = request.error();
    return outcome;
  }
  std::vector<std::uint8_t> y(OutputBytes(*request), 0xa5);
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  Call(implementation, *request, vector.request.value("threads", 1u), y.data(),
       &answer);
  if (answer.status == WP_STATUS_NOT_RUN) {
    outcome.not_run = answer.detail;
    return outcome;
  }
  const Expectation& spec = vector.expect.at("spec");
  const bool rejected = answer.verdict == WP_REJECT;
  outcome.answer = {&vector, rejected, std::move(y)};
  if (answer.status != WP_STATUS_OK) {
    outcome.wrong = "not implemented";
  } else if (rejected != (spec.verdict == "reject")) {
    outcome.wrong = "another verdict";
  } else if (rejected) {
    outcome.answer.y.clear();
    outcome.wrong = RejectedWrong(spec, answer);
  } else if (!vector.operation.ends_with(".validate") &&
             !AnswerEquals(vector, spec.answer, outcome.answer)) {
    outcome.wrong = "another answer";
  }
  return outcome;
}

}  // namespace weightproof::conformance
