// Numeric vectors answered by the reference, as any named variant.
#ifndef WEIGHTPROOF_CONFORMANCE_NUMERIC_REFERENCE_H_
#define WEIGHTPROOF_CONFORMANCE_NUMERIC_REFERENCE_H_

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/vector.h"
#include "reference/q8_0/dot.h"
#include "reference/q8_0/quantize.h"
#include "reference/q8_0/validate.h"

namespace weightproof::conformance {

// The request of a numeric vector with its buffers expanded.
struct NumericRequest {
  std::string operation;  // "q8_0.quantize"
  std::uint64_t n = 0, rows = 1, cols = 1;
  bool x_is_f32 = false;  // matvec
  std::vector<std::uint8_t> w, x;
};
std::expected<NumericRequest, std::string> ReadRequest(const Vector& vector);

// y in canonical form (see CanonicalOutput), but for the integer sums of the
// q8_1 variant pt.
struct NumericResult {
  bool rejected = false;
  q8_0::Refusal refusal;
  std::vector<std::uint8_t> y;
  std::vector<std::int32_t> isum;  // dot
};

// The names of the variants of an operation, "spec" first; "spec" alone where
// there are none.
std::vector<std::string_view> VariantNames(std::string_view operation);

// variant is one of VariantNames(request.operation). For matvec it is the
// order of additions; quantizer then quantizes an f32 x. validate answers
// with an empty y, rejected or not.
NumericResult AnswerAs(const NumericRequest& request, std::string_view variant,
                       const q8_0::Quantizer& quantizer = {});

// Rows and columns of a dot or matvec request as blocks; an f32 x quantized.
struct BlockOperands {
  std::vector<q8_0::Block> w, x;
  std::uint64_t row_blocks = 0;
};
BlockOperands Operands(const NumericRequest& request,
                       const q8_0::Quantizer& quantizer = {});

// The data check of a validate request.
q8_0::Validation ValidateAs(const NumericRequest& request, q8_0::Reader reader);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_NUMERIC_REFERENCE_H_
