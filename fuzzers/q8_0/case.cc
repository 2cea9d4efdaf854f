#include "fuzzers/q8_0/case.h"

#include <array>
#include <string_view>
#include <utility>

#include "conformance/numeric_reference.h"

namespace weightproof::fuzzers {
namespace {

constexpr std::array<std::pair<std::string_view, Q80Operation>, 9> kOperations =
    {{{"q8_0.quantize", Q80Operation::kQuantize},
      {"q8_1.quantize", Q80Operation::kQuantizeQ81},
      {"q8_0.dequantize", Q80Operation::kDequantize},
      {"q8_0.dot", Q80Operation::kDot},
      {"q8_0.matvec", Q80Operation::kMatvecBlocks},
      {"q8_0.validate", Q80Operation::kValidate},
      {"q8_1.validate", Q80Operation::kValidateQ81},
      {"f16.from_f32", Q80Operation::kFromF32},
      {"f16.to_f32", Q80Operation::kToF32}}};

}  // namespace

std::expected<Q80Case, std::string> Q80CaseOf(
    const conformance::Vector& vector) {
  auto request = conformance::ReadRequest(vector);
  if (!request) return std::unexpected(request.error());
  for (const auto& [name, operation] : kOperations) {
    if (name != request->operation) continue;
    Q80Case out;
    out.operation = operation;
    if (request->x_is_f32) out.operation = Q80Operation::kMatvecFloats;
    out.n = request->n;
    if (operation == Q80Operation::kFromF32) out.n = request->x.size() / 4;
    if (operation == Q80Operation::kToF32) out.n = request->x.size() / 2;
    out.rows = request->rows;
    out.cols = request->cols;
    out.threads = vector.request.value("threads", 1u);
    out.x = std::move(request->x);
    out.w = std::move(request->w);
    out.x_skew = out.w_skew = out.y_skew = 1;
    return out;
  }
  return std::unexpected(vector.id + ": no numeric operation");
}

}  // namespace weightproof::fuzzers
