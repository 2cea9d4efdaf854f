// Expectations of numeric vectors, computed by the reference.
#include <fmt/format.h>

#include "conformance/numeric.h"
#include "conformance/numeric_reference.h"
#include "reference/rule.h"

namespace weightproof::conformance {
namespace {

constexpr std::size_t kLargestHex = 64 * 1024;

Json OutputJson(const NumericResult& result) {
  if (result.rejected) return {{"reject", true}};
  if (result.y.size() > kLargestHex) {
    return {{"y_sha256", Sha256Hex(result.y)}};
  }
  return {{"y", {{"hex", ToHex(result.y)}}}};
}

bool SameOutput(const NumericResult& a, const NumericResult& b) {
  return a.rejected == b.rejected && a.y == b.y;
}

// The exact values of a dot or matvec, column by column, or null.
Json ExactJson(const NumericRequest& request) {
  const BlockOperands operands = Operands(request);
  const std::uint64_t k = operands.row_blocks;
  Json list = Json::array();
  for (std::uint64_t c = 0; c < request.cols; ++c) {
    for (std::uint64_t r = 0; r < request.rows; ++r) {
      const auto exact = q8_0::Exact(std::span(operands.w).subspan(r * k, k),
                                     std::span(operands.x).subspan(c * k, k));
      if (!exact) return nullptr;
      list.push_back(q8_0::ToDecimal(exact->value));
    }
  }
  return request.operation == "q8_0.dot" ? list[0] : list;
}

Json AnswerJson(const NumericRequest& request, const NumericResult& result) {
  Json answer = OutputJson(result);
  const bool dot = request.operation == "q8_0.dot";
  if (dot) answer["isum"] = result.isum;
  if (dot || request.operation == "q8_0.matvec") {
    const Json exact = ExactJson(request);
    if (!exact.is_null()) answer["exact_times_2p48"] = exact;
  }
  return answer;
}

Json FindingJson(const q8_0::Validation& validation) {
  Json answer = {{"canonical", !validation.finding.has_value()}};
  if (validation.finding && validation.finding->has_place) {
    const q8_0::Finding& finding = *validation.finding;
    answer["finding"] = {{"rule", Rules()[finding.rule].id},
                         {"block", finding.block},
                         {"offset", finding.offset},
                         {"value", finding.value}};
  }
  return answer;
}

Expectation FromValidation(const q8_0::Validation& validation) {
  Expectation expectation;
  expectation.verdict = std::string(ToString(validation.verdict));
  if (validation.verdict == Cell::kReject) {
    expectation.rule = std::string(Rules()[validation.finding->rule].id);
    if (validation.finding->has_place) {
      expectation.offset = validation.finding->offset;
    }
  }
  return expectation;
}

void ExpectValidation(const NumericRequest& request, Vector& vector) {
  const auto spec = ValidateAs(request, q8_0::Reader::kSpec);
  vector.expect["spec"] = FromValidation(spec);
  vector.expect["spec"].answer = FindingJson(spec);
  vector.expect["ggml"] =
      FromValidation(ValidateAs(request, q8_0::Reader::kGgml));
  vector.expect["candle"] =
      FromValidation(ValidateAs(request, q8_0::Reader::kCandle));
}

void ExpectOutput(const NumericRequest& request, const Rule& rule,
                  Vector& vector) {
  const NumericResult spec = AnswerAs(request, "spec");
  Expectation& expectation = vector.expect["spec"];
  expectation.verdict = spec.rejected ? "reject" : "accept";
  if (spec.rejected) {
    expectation.rule = std::string(Rules()[spec.refusal.rule].id);
    expectation.offset = spec.refusal.offset;
  } else {
    expectation.answer = AnswerJson(request, spec);
  }
  const bool as_rule = expectation.verdict == ToString(rule.spec);
  for (const auto& [profile, cell] :
       {std::pair{"ggml", rule.ggml}, std::pair{"candle", rule.candle}}) {
    Expectation& other = vector.expect[profile];
    other.verdict = as_rule ? std::string(ToString(cell)) : expectation.verdict;
    if (other.verdict == "reject") other.rule = expectation.rule;
  }
  Json variants = Json::object();
  for (const std::string_view name : VariantNames(request.operation)) {
    const NumericResult result = AnswerAs(request, name);
    if (!SameOutput(result, spec)) {
      variants[std::string(name)] = OutputJson(result);
    }
  }
  if (!variants.empty()) vector.variants = variants;
}

}  // namespace

std::expected<Vector, std::string> WithExpectations(const Vector& vector) {
  const auto rule = FindRule(vector.rule);
  if (!rule) return std::unexpected("no such rule: " + vector.rule);
  auto request = ReadRequest(vector);
  if (!request) return std::unexpected(vector.id + ": " + request.error());
  Vector out = vector;
  out.expect.clear();
  out.variants = nullptr;
  if (vector.operation.ends_with(".validate")) {
    ExpectValidation(*request, out);
  } else {
    ExpectOutput(*request, Rules()[*rule], out);
  }
  return out;
}

}  // namespace weightproof::conformance
