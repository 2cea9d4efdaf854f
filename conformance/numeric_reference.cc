#include "conformance/numeric_reference.h"

#include <fmt/format.h>

#include <bit>

#include "conformance/numeric.h"
#include "reference/q8_0/blocks.h"
#include "reference/q8_0/f16.h"

namespace weightproof::conformance {
namespace {

using q8_0::Bytes;
using q8_0::Refusal;

std::expected<std::uint64_t, std::string> Number(const Json& request,
                                                 const char* name,
                                                 std::uint64_t otherwise) {
  const auto it = request.find(name);
  if (it == request.end()) return otherwise;
  if (!it->is_number_integer() || *it < 0) {
    return std::unexpected(
        fmt::format("request.{} is not an unsigned integer", name));
  }
  return it->get<std::uint64_t>();
}

std::expected<std::vector<std::uint8_t>, std::string> BufferMember(
    const Json& request, const char* name) {
  const auto it = request.find(name);
  if (it == request.end()) {
    return std::unexpected(fmt::format("request.{} is missing", name));
  }
  auto bytes = ExpandBuffer(*it);
  if (!bytes) {
    return std::unexpected(fmt::format("request.{}: {}", name, bytes.error()));
  }
  return bytes;
}

bool HasWeights(std::string_view operation) {
  return operation == "q8_0.dot" || operation == "q8_0.matvec";
}

NumericResult FromBytes(std::expected<Bytes, Refusal> bytes,
                        std::string_view operation, bool canonical = true) {
  NumericResult result;
  if (!bytes) {
    result.rejected = true;
    result.refusal = bytes.error();
  } else {
    result.y = canonical ? CanonicalOutput(operation, *bytes) : *bytes;
  }
  return result;
}

std::expected<Bytes, Refusal> FloatsToBytes(
    const std::expected<std::vector<float>, Refusal>& y) {
  if (!y) return std::unexpected(y.error());
  Bytes bytes(4 * y->size());
  for (std::size_t i = 0; i < y->size(); ++i) {
    q8_0::WriteF32((*y)[i], bytes, i);
  }
  return bytes;
}

NumericResult AnswerDot(const NumericRequest& request, q8_0::DotOrder order) {
  const auto dot = q8_0::DotOperation(request.w, request.x, request.n, order);
  if (!dot) return FromBytes(std::unexpected(dot.error()), request.operation);
  NumericResult result =
      FromBytes(FloatsToBytes(std::vector<float>{dot->y}), request.operation);
  result.isum = dot->isum;
  return result;
}

NumericResult AnswerMatvec(const NumericRequest& request, q8_0::DotOrder order,
                           const q8_0::Quantizer& quantizer) {
  q8_0::MatvecInput input;
  input.w = request.w;
  input.x = request.x;
  input.x_is_f32 = request.x_is_f32;
  input.n = request.n;
  input.rows = request.rows;
  input.cols = request.cols;
  return FromBytes(FloatsToBytes(q8_0::Matvec(input, order, quantizer)),
                   request.operation);
}

NumericResult AnswerFromF32(const NumericRequest& request) {
  Bytes y;
  for (std::size_t i = 0; i < request.x.size() / 4; ++i) {
    const auto pattern =
        std::bit_cast<std::uint32_t>(q8_0::ReadF32(request.x, i));
    const std::uint16_t half = q8_0::F16FromF32(pattern);
    y.push_back(static_cast<std::uint8_t>(half));
    y.push_back(static_cast<std::uint8_t>(half >> 8));
  }
  return FromBytes(std::move(y), request.operation);
}

NumericResult AnswerToF32(const NumericRequest& request) {
  Bytes y(2 * request.x.size());
  for (std::size_t i = 0; i < request.x.size() / 2; ++i) {
    const auto half = static_cast<std::uint16_t>(request.x[2 * i] |
                                                 (request.x[2 * i + 1] << 8));
    const std::uint32_t pattern = q8_0::F32FromF16(half);
    for (std::size_t k = 0; k < 4; ++k) {
      y[4 * i + k] = static_cast<std::uint8_t>(pattern >> (8 * k));
    }
  }
  return FromBytes(std::move(y), request.operation);
}

NumericResult AnswerValidate(const NumericRequest& request) {
  const auto validation = ValidateAs(request, q8_0::Reader::kSpec);
  NumericResult result;
  result.rejected = validation.verdict == Cell::kReject;
  if (result.rejected && validation.finding) {
    result.refusal.rule = validation.finding->rule;
    result.refusal.detail = validation.finding->detail;
    if (validation.finding->has_place) {
      result.refusal.offset = validation.finding->offset;
    }
  }
  return result;
}

}  // namespace

std::expected<NumericRequest, std::string> ReadRequest(const Vector& vector) {
  NumericRequest request;
  request.operation = vector.operation;
  const Json& json = vector.request;
  if (!json.is_object()) return std::unexpected("request is missing");
  const struct {
    const char* name;
    std::uint64_t* value;
    std::uint64_t otherwise;
  } numbers[] = {{"n", &request.n, 0},
                 {"rows", &request.rows, 1},
                 {"cols", &request.cols, 1}};
  for (const auto& number : numbers) {
    const auto value = Number(json, number.name, number.otherwise);
    if (!value) return std::unexpected(value.error());
    *number.value = *value;
  }
  request.x_is_f32 = json.value("x_type", "q8_0") == std::string("f32");
  auto x = BufferMember(json, "x");
  if (!x) return std::unexpected(x.error());
  request.x = std::move(*x);
  if (HasWeights(vector.operation)) {
    auto w = BufferMember(json, "w");
    if (!w) return std::unexpected(w.error());
    request.w = std::move(*w);
  }
  return request;
}

std::vector<std::string_view> VariantNames(std::string_view operation) {
  std::vector<std::string_view> names;
  if (operation == "q8_0.quantize") {
    for (const auto& entry : q8_0::Quantizers()) names.push_back(entry.name);
  } else if (operation == "q8_1.quantize") {
    for (const auto& entry : q8_0::Q81Variants()) names.push_back(entry.name);
  } else if (HasWeights(operation)) {
    for (const auto& entry : q8_0::DotOrders()) names.push_back(entry.name);
  } else {
    names.push_back("spec");
  }
  return names;
}

NumericResult AnswerAs(const NumericRequest& request, std::string_view variant,
                       const q8_0::Quantizer& quantizer) {
  const std::string& operation = request.operation;
  const std::uint64_t n = request.n, rows = request.rows;
  if (operation == "q8_0.quantize") {
    const auto* named = q8_0::FindQuantizer(variant);
    return FromBytes(q8_0::Quantize(request.x, n, rows, named->quantizer),
                     operation);
  }
  if (operation == "q8_1.quantize") {
    const auto* named = q8_0::FindQ81(variant);
    return FromBytes(q8_0::QuantizeQ81(request.x, n, rows, *named), operation,
                     named->sum != q8_0::SumRule::kPt);
  }
  if (operation == "q8_0.dequantize") {
    return FromBytes(q8_0::Dequantize(request.x, n, rows), operation);
  }
  if (operation == "q8_0.dot") {
    return AnswerDot(request, q8_0::FindDotOrder(variant)->order);
  }
  if (operation == "q8_0.matvec") {
    return AnswerMatvec(request, q8_0::FindDotOrder(variant)->order, quantizer);
  }
  if (operation == "f16.from_f32") return AnswerFromF32(request);
  if (operation == "f16.to_f32") return AnswerToF32(request);
  return AnswerValidate(request);
}

BlockOperands Operands(const NumericRequest& request,
                       const q8_0::Quantizer& quantizer) {
  BlockOperands operands;
  operands.row_blocks = request.n / q8_0::kBlockValues;
  operands.w = q8_0::ReadBlocks(request.w);
  if (!request.x_is_f32) {
    operands.x = q8_0::ReadBlocks(request.x);
    return operands;
  }
  const auto x = q8_0::Quantize(request.x, request.n, request.cols, quantizer);
  if (x) operands.x = q8_0::ReadBlocks(*x);
  return operands;
}

q8_0::Validation ValidateAs(const NumericRequest& request,
                            q8_0::Reader reader) {
  const auto format = request.operation == "q8_1.validate"
                          ? q8_0::BlockFormat::kQ81
                          : q8_0::BlockFormat::kQ80;
  return q8_0::Validate(format, reader, request.x, request.n, request.rows);
}

}  // namespace weightproof::conformance
