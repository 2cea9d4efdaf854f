// Which order of additions is it, and is it near enough?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/classify.h"
#include "conformance/classify_common.h"
#include "conformance/numeric_reference.h"
#include "reference/q8_0/blocks.h"
#include "reference/q8_0/dot.h"
#include "reference/q8_0/f16.h"

namespace weightproof::conformance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Row = std::span<const q8_0::Block>;

bool SameClass(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::isinf(a) == std::isinf(b) &&
         (!std::isinf(a) || std::signbit(a) == std::signbit(b));
}

// The most that another rounding of the activations can move the result: a
// code by one, a scale by one f16 step, in units of the result.
double ActivationError(Row w, Row x) {
  double sum = 0;
  for (std::size_t b = 0; b < w.size(); ++b) {
    double weights = 0, products = 0;
    for (std::size_t i = 0; i < q8_0::kBlockValues; ++i) {
      weights += std::fabs(w[b].q[i]);
      products += std::fabs(double{1} * w[b].q[i] * x[b].q[i]);
    }
    const double dw = std::fabs(q8_0::ValueOfF16(w[b].d));
    const double dx = std::fabs(q8_0::ValueOfF16(x[b].d));
    const double step = std::max(dx * 0x1p-10, 0x1p-24);
    sum += dw * (weights * (dx + step) + products * step);
  }
  return sum;
}

double RatioOf(float y, Row w, Row x, bool loose) {
  const auto exact = q8_0::Exact(w, x);
  if (!exact) return SameClass(y, q8_0::Dot(w, x)) ? 0 : kInfinity;
  const double ratio = q8_0::BoundRatio(y, *exact);
  if (ratio <= 1 || !loose || !std::isfinite(y)) return ratio;
  const double bound =
      std::ldexp((static_cast<double>(exact->blocks) + 16) * 1.01 *
                     static_cast<double>(exact->magnitude),
                 -24 - 48) +
      ActivationError(w, x);
  const double error =
      std::fabs(y - std::ldexp(static_cast<double>(exact->value), -48));
  return error / bound;
}

void AddBounds(std::span<const NumericAnswer> answers,
               const std::optional<std::string>& quantizer,
               Arithmetic& result) {
  for (const NumericAnswer& answer : answers) {
    if (answer.vector->operation != result.operation) continue;
    if (answer.vector->expect.at("spec").verdict == "reject") continue;
    const BoundCheck check = CheckBound(answer, quantizer);
    result.worst_bound_ratio = std::max(result.worst_bound_ratio, check.ratio);
    if (check.ratio > 1) result.out_of_bound.push_back(answer.vector->id);
  }
}

}  // namespace

BoundCheck CheckBound(const NumericAnswer& answer,
                      const std::optional<std::string>& quantizer) {
  BoundCheck check;
  const auto request = ReadRequest(*answer.vector);
  if (!request) return {kInfinity, false, request.error()};
  if (answer.rejected) return {kInfinity, false, "rejected"};
  const q8_0::NamedQuantizer* named =
      quantizer ? q8_0::FindQuantizer(*quantizer) : nullptr;
  check.loose = request->x_is_f32 && named == nullptr;
  const BlockOperands operands =
      Operands(*request, named ? named->quantizer : q8_0::Quantizer{});
  const std::uint64_t k = operands.row_blocks;
  const std::uint64_t outputs = request->rows * request->cols;
  if (answer.y.size() != 4 * outputs || request->n % 32 != 0) {
    return {kInfinity, check.loose,
            fmt::format("{} bytes, not {}", answer.y.size(), 4 * outputs)};
  }
  for (std::uint64_t i = 0; i < outputs; ++i) {
    const std::uint64_t r = i % request->rows, c = i / request->rows;
    const double ratio =
        RatioOf(q8_0::ReadF32(answer.y, i), Row(operands.w).subspan(r * k, k),
                Row(operands.x).subspan(c * k, k), check.loose);
    if (ratio <= check.ratio && !check.detail.empty()) continue;
    check.ratio = ratio;
    check.detail =
        fmt::format("row {}, column {}: {:.3g} of the bound", r, c, ratio);
  }
  if (check.loose) check.detail += " (loose: activations unknown)";
  return check;
}

Arithmetic ClassifyDot(std::span<const NumericAnswer> answers) {
  Arithmetic result = MatchNamed("q8_0.dot", answers);
  AddBounds(answers, std::nullopt, result);
  if (!result.variant && result.total > 0) {
    result.verdict += fmt::format("; error at most {:.3g} of the bound",
                                  result.worst_bound_ratio);
  }
  return result;
}

Arithmetic ClassifyMatvec(std::span<const NumericAnswer> answers,
                          const std::optional<std::string>& quantizer) {
  const q8_0::NamedQuantizer* named =
      quantizer ? q8_0::FindQuantizer(*quantizer) : nullptr;
  Arithmetic result = MatchNamed("q8_0.matvec", answers,
                                 named ? named->quantizer : q8_0::Quantizer{});
  AddBounds(answers, quantizer, result);
  if (!result.variant && result.total > 0) {
    result.verdict += fmt::format("; error at most {:.3g} of the bound",
                                  result.worst_bound_ratio);
  }
  return result;
}

}  // namespace weightproof::conformance
