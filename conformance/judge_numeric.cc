#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "conformance/dump_value.h"
#include "conformance/judge_internal.h"
#include "conformance/numeric.h"

namespace weightproof::conformance {
namespace judge {
namespace {

bool IsValidate(const Vector& vector) {
  return vector.operation.ends_with(".validate");
}

// Rows on which only the corner axes (amax, cast) of a quantizer show.
bool IsCorner(const Vector& vector) {
  constexpr std::array<std::string_view, 4> kCorners = {
      "q8_0.quantize.nonfinite", "q8_0.quantize.reciprocal_inf",
      "q8_0.quantize.reciprocal_finite", "q8_0.quantize.tiny.subnormal_d"};
  return std::ranges::find(kCorners, vector.rule) != kCorners.end();
}

std::optional<NumericAnswer> AnswerOf(const Vector& vector,
                                      const Observation& seen,
                                      std::string& why) {
  NumericAnswer answer;
  answer.vector = &vector;
  answer.rejected = seen.verdict != "accept";
  if (answer.rejected || IsValidate(vector)) return answer;
  auto y = OutputOf(seen.answer);
  if (!y) {
    why = y.error();
    return std::nullopt;
  }
  answer.y = std::move(*y);
  return answer;
}

const Json& AnswerExpected(const Vector& vector,
                           const Expectation& expectation) {
  return expectation.answer.is_null() ? vector.expect.at("spec").answer
                                      : expectation.answer;
}

std::string Bytes(std::span<const std::uint8_t> bytes, std::size_t at) {
  const std::size_t from = at / 8 * 8;
  const auto part = bytes.subspan(std::min(from, bytes.size()));
  return ToHex(part.first(std::min<std::size_t>(part.size(), 16)));
}

// "y byte 3: expected .., got ..".
std::string DifferenceOfY(const Vector& vector, const Json& expected,
                          std::span<const std::uint8_t> y) {
  const auto want = expected.is_object() && expected.contains("y")
                        ? ExpandBuffer(expected["y"])
                        : std::unexpected(std::string());
  if (!want) {
    return fmt::format("y: expected sha256 {}, got {}",
                       expected.value("y_sha256", "?"),
                       Sha256Hex(CanonicalOutput(vector.operation, y)));
  }
  if (want->size() != y.size()) {
    return fmt::format("y: expected {} bytes, got {}", want->size(), y.size());
  }
  const auto got = CanonicalOutput(vector.operation, y);
  std::size_t at = 0;
  while (at < got.size() && (*want)[at] == got[at]) ++at;
  return fmt::format("y byte {}: expected {} from byte {}, got {}", at,
                     Bytes(*want, at), at / 8 * 8, Bytes(got, at));
}

// A wrong integer sum is named as such. Empty if there is nothing to say.
std::string WrongIsum(const Json& expected, const Json& answer) {
  if (!expected.is_object() || !answer.is_object()) return "";
  const Json want = expected.value("isum", Json());
  const Json got = answer.value("isum", Json());
  if (!want.is_array() || got.is_null()) return "";
  if (!got.is_array() || got.size() != want.size()) {
    return fmt::format("isum: expected {} integers", want.size());
  }
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i] != got[i]) {
      return fmt::format("isum[{}]: expected {}, got {}", i, want[i].dump(),
                         got[i].dump());
    }
  }
  return "";
}

ColumnFit FitExact(const Context& context, const Expectation& expectation,
                   const NumericAnswer& answer) {
  const Vector& vector = context.vector;
  const Json& expected = AnswerExpected(vector, expectation);
  if (IsValidate(vector)) return {Fit::kYes, false, "", ""};
  if (AnswerEquals(vector, expected, answer)) return {Fit::kYes, false, "", ""};
  const std::string difference = DifferenceOfY(vector, expected, answer.y);
  return {Fit::kDiffers, false, difference, difference};
}

// A policy cell: the answer of a named variant that the implementation follows
// throughout, or of spec.
ColumnFit FitPolicy(const Context& context, const NumericAnswer& answer) {
  const Vector& vector = context.vector;
  const auto variants = MatchingVariants(answer);
  if (std::ranges::find(variants, "spec") != variants.end()) {
    return {Fit::kYes, false, "as spec", ""};
  }
  if (vector.operation == "q8_0.dot") {
    if (!variants.empty()) return {Fit::kYes, false, "as " + variants[0], ""};
    if (vector.rule == "q8_0.dot.scale.inf" && !answer.rejected) {
      return {Fit::kYes, false, "a class of its own for infinite scales", ""};
    }
    const BoundCheck bound = CheckBound(answer, context.classified.quantizer);
    if (!answer.rejected && bound.ratio <= 1) {
      return {Fit::kYes, false, "within the error bound", ""};
    }
    return {Fit::kNo, false, "follows no named variant", ""};
  }
  const auto it = context.classified.by_operation.find(vector.operation);
  if (it != context.classified.by_operation.end()) {
    const Arithmetic& arithmetic = it->second;
    if (arithmetic.variant && !variants.empty()) {
      return {Fit::kYes, false, "as " + *arithmetic.variant, ""};
    }
    if (arithmetic.point && (!variants.empty() || !IsCorner(vector))) {
      return {Fit::kYes, false,
              variants.empty() ? *arithmetic.point : "as " + variants[0], ""};
    }
    return {Fit::kNo, false, "follows no variant: " + arithmetic.verdict, ""};
  }
  return {Fit::kNo, false, "follows no named variant", ""};
}

ColumnFit FitBound(const Context& context, const NumericAnswer& answer) {
  const BoundCheck bound = CheckBound(answer, context.classified.quantizer);
  const std::string text =
      fmt::format("{:.3g} of the error bound{}{}{}", bound.ratio,
                  bound.loose ? ", loose" : "",
                  bound.detail.empty() ? "" : ": ", bound.detail);
  if (bound.ratio <= 1) return {Fit::kYes, false, text, ""};
  return {Fit::kDiffers, false, text, text};
}

}  // namespace

bool IsNumeric(const Vector& vector) { return vector.format != "gguf"; }

std::expected<std::vector<std::uint8_t>, std::string> OutputOf(
    const Json& answer) {
  const auto y = answer.find("y");
  if (y == answer.end() || !y->is_object() || !y->contains("hex") ||
      !(*y)["hex"].is_string()) {
    return std::unexpected("accepted without \"y\"");
  }
  const auto bytes = HexToBytes((*y)["hex"].get_ref<const std::string&>());
  if (!bytes) return std::unexpected("\"y\" has a malformed \"hex\"");
  return std::vector<std::uint8_t>(bytes->begin(), bytes->end());
}

ColumnFit FitNumeric(const Context& context, const std::string& profile) {
  const Vector& vector = context.vector;
  const Expectation& expectation = vector.expect.at(profile);
  const std::string& cell = expectation.verdict;
  const std::string& verdict = context.observation.verdict;
  const Admission admission =
      Admits(cell, verdict, context.subject.hello.Knows(cell), false);
  if (!admission.admitted) {
    return {Fit::kNo, false, fmt::format("expected {}, got {}", cell, verdict),
            ""};
  }
  std::string why;
  const auto answer = AnswerOf(vector, context.observation, why);
  if (!answer) return {Fit::kNo, false, why, ""};
  if (verdict == "accept" && !IsValidate(vector)) {
    const std::string isum = WrongIsum(AnswerExpected(vector, expectation),
                                       context.observation.answer);
    if (!isum.empty()) return {Fit::kDiffers, false, isum, isum};
  }
  if (cell == "policy") return FitPolicy(context, *answer);
  if (cell == "bound") return FitBound(context, *answer);
  if (verdict != "accept") return {Fit::kYes, false, "", ""};
  return FitExact(context, expectation, *answer);
}

}  // namespace judge

Classified Classify(const std::vector<const Vector*>& vectors,
                    const std::vector<const CaseRecord*>& records) {
  std::vector<NumericAnswer> answers;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!judge::IsNumeric(*vectors[i])) continue;
    // Which row lengths are refused says nothing about the arithmetic.
    if (vectors[i]->rule == "q8_0.shape.not_multiple") continue;
    const Observation seen = Observe(*vectors[i], *records[i]);
    if (seen.not_run ||
        (seen.verdict != "accept" && seen.verdict != "reject")) {
      continue;
    }
    std::string why;
    auto answer = judge::AnswerOf(*vectors[i], seen, why);
    if (answer) answers.push_back(std::move(*answer));
  }
  const auto any = [&](std::string_view operation) {
    return std::ranges::any_of(answers, [&](const NumericAnswer& answer) {
      return answer.vector->operation == operation;
    });
  };
  Classified classified;
  auto& all = classified.by_operation;
  if (any("q8_0.quantize")) {
    all["q8_0.quantize"] = ClassifyQuantize(answers);
    classified.quantizer = all["q8_0.quantize"].variant;
  }
  if (any("q8_1.quantize")) all["q8_1.quantize"] = ClassifyQ81(answers);
  if (any("q8_0.dot")) all["q8_0.dot"] = ClassifyDot(answers);
  if (any("q8_0.matvec")) {
    all["q8_0.matvec"] = ClassifyMatvec(answers, classified.quantizer);
  }
  return classified;
}

}  // namespace weightproof::conformance
