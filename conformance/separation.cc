#include "conformance/separation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "conformance/classify_common.h"
#include "conformance/numeric_reference.h"
#include "reference/q8_0/quantize.h"

namespace weightproof::conformance {
namespace {

constexpr std::string_view kPoint = "point ";

std::vector<std::pair<std::string, q8_0::Quantizer>> Points() {
  std::vector<std::pair<std::string, q8_0::Quantizer>> points;
  for (int i = 0; i < 40; ++i) {
    q8_0::Quantizer point;
    point.reciprocal = static_cast<q8_0::Reciprocal>(i / 10);
    point.rounding = static_cast<q8_0::Rounding>(i / 2 % 5);
    point.scale = static_cast<q8_0::ScaleRounding>(i % 2);
    point.cast = q8_0::Cast::kSaturate;
    point.refuses_nonfinite = false;
    points.emplace_back(
        fmt::format("{}{}, {}, {}", kPoint, ToString(point.reciprocal),
                    ToString(point.rounding), ToString(point.scale)),
        point);
  }
  return points;
}

// The answer of each arithmetic of an operation, by name.
std::map<std::string, NumericResult> Answers(const NumericRequest& request) {
  std::map<std::string, NumericResult> answers;
  for (const std::string_view name : VariantNames(request.operation)) {
    answers[std::string(name)] = AnswerAs(request, name);
  }
  if (request.operation != "q8_0.quantize" || !IsOrdinary(request.x)) {
    return answers;
  }
  for (const auto& [name, quantizer] : Points()) {
    const auto y =
        q8_0::Quantize(request.x, request.n, request.rows, quantizer);
    if (y) answers[name].y = *y;
  }
  return answers;
}

}  // namespace

Separation::Separation() {
  for (const char* operation : {"q8_0.quantize", "q8_1.quantize", "q8_0.dot"}) {
    const auto names = VariantNames(operation);
    for (std::size_t a = 0; a < names.size(); ++a) {
      for (std::size_t b = a + 1; b < names.size(); ++b) {
        pairs_.push_back(
            {operation, std::string(names[a]), std::string(names[b]), {}});
      }
    }
  }
  const auto points = Points();
  for (std::size_t a = 0; a < points.size(); ++a) {
    for (std::size_t b = a + 1; b < points.size(); ++b) {
      pairs_.push_back({"q8_0.quantize", points[a].first, points[b].first, {}});
    }
  }
}

std::vector<std::size_t> Separation::SeparatedBy(const Vector& vector) const {
  std::vector<std::size_t> separated;
  if (vector.id.starts_with("q8b-") || !vector.request.is_object()) {
    return separated;
  }
  const auto request = ReadRequest(vector);
  if (!request || request->n % q8_0::kBlockValues != 0) return separated;
  const auto answers = Answers(*request);
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const SeparatedPair& pair = pairs_[i];
    if (pair.operation != vector.operation) continue;
    const auto a = answers.find(pair.a), b = answers.find(pair.b);
    if (a == answers.end() || b == answers.end()) continue;
    if (a->second.rejected != b->second.rejected ||
        a->second.y != b->second.y) {
      separated.push_back(i);
    }
  }
  return separated;
}

int Separation::Gain(const Vector& vector, std::size_t wanted) const {
  const auto separated = SeparatedBy(vector);
  return static_cast<int>(std::ranges::count_if(separated, [&](std::size_t i) {
    return pairs_[i].vectors.size() < wanted;
  }));
}

void Separation::Add(const Vector& vector) {
  for (const std::size_t i : SeparatedBy(vector)) {
    pairs_[i].vectors.push_back(vector.id);
  }
}

std::size_t Separation::Least(const std::string& operation) const {
  std::size_t least = SIZE_MAX;
  for (const SeparatedPair& pair : pairs_) {
    if (pair.operation != operation) continue;
    least = std::min(least, pair.vectors.size());
  }
  return least;
}

}  // namespace weightproof::conformance
