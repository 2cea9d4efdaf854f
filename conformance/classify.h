// Which arithmetic does an implementation follow? From its recorded answers
// to the quantize and dot vectors, on any machine, without running it.
#ifndef WEIGHTPROOF_CONFORMANCE_CLASSIFY_H_
#define WEIGHTPROOF_CONFORMANCE_CLASSIFY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/vector.h"

namespace weightproof::conformance {

// One answer to one numeric vector. Leave out vectors that have none (crash,
// not run). y: the bytes of the output; empty if rejected.
struct NumericAnswer {
  const Vector* vector = nullptr;
  bool rejected = false;
  std::vector<std::uint8_t> y;
};

struct FirstDifference {
  std::string vector;      // id
  std::uint64_t byte = 0;  // of y; 0 if one side rejected or sizes differ
};

// How an answer to a bulk vector leaves spec's.
struct BulkDifference {
  std::string vector;  // id
  std::uint64_t blocks = 0, blocks_total = 0, bytes = 0;
};

struct Arithmetic {
  std::string operation;  // "q8_0.quantize"
  // "follows ggml-avx2 on 68 of 68 vectors"; "inv-d, even, rne on all finite
  // vectors; corner cases unlike any named variant"; "no variant; nearest
  // ggml-avx2, 66 of 68, first difference q8r-18 byte 3"; "no vectors".
  std::string verdict;
  // The named variant that equals every answer ("spec" included).
  std::optional<std::string> variant;
  // quantize only: the point of reciprocal x rounding x scale that equals
  // every finite answer, "inv-amax, even, rne".
  std::optional<std::string> point;
  // quantize only, if there is a point: amax rules and casts that explain the
  // corner cases ("lanes8", "pack"), and whether subnormals are "kept" or
  // "flushed"; empty if nothing explains them.
  std::string amax, cast, subnormals;
  // The named variant with the most equal answers.
  std::string nearest;
  int matched = 0;  // answers equal to nearest
  int total = 0;    // answers given
  // The first answer that differs from nearest; nothing if all are equal.
  std::optional<FirstDifference> first_difference;
  // Ids of vectors on which the answers leave spec.
  std::vector<std::string> leaves_spec;
  // q8_0.quantize, bulk vectors (ids q8b-) that leave spec.
  std::vector<BulkDifference> bulk;
  // dot, matvec: the largest error over the bound for foreign results (accept
  // if <= 1) and the vectors beyond it.
  double worst_bound_ratio = 0;
  std::vector<std::string> out_of_bound;
};

// The verdict in a sentence with what a reader wants to see next: where the
// answers leave spec, how much of the bulk vectors, what is beyond the bound.
std::string Describe(const Arithmetic& arithmetic);

// answers: only vectors of the operation are looked at. A vector whose answer
// is spec's or a named variant's by the result is a policy; no variant and no
// point means failures where the answer is not spec's.
Arithmetic ClassifyQuantize(std::span<const NumericAnswer> answers);
Arithmetic ClassifyQ81(std::span<const NumericAnswer> answers);
Arithmetic ClassifyDot(std::span<const NumericAnswer> answers);
// quantizer: the variant that the implementation's own quantizer follows (see
// ClassifyQuantize), used where x is f32; nothing if unknown: then the bound
// for those vectors is loose.
Arithmetic ClassifyMatvec(std::span<const NumericAnswer> answers,
                          const std::optional<std::string>& quantizer);

// Whether one answer equals an expected answer object of a vector ("y" or
// "y_sha256", {"reject":true}): bytes, with NaN compared as a class in f32
// outputs, f16 outputs and scale fields, by the vector's operation.
bool AnswerEquals(const Vector& vector, const Json& expected,
                  const NumericAnswer& answer);

// The names of the variants whose answer to this vector this is, "spec"
// first: for one policy row.
std::vector<std::string> MatchingVariants(const NumericAnswer& answer);

// The error of a dot or matvec answer over the bound for foreign results;
// accept if <= 1. Where a scale is not finite: 0 if the classes (NaN, +inf,
// -inf) equal spec's, else infinity. loose is set where the bound had to be
// widened because the activations are unknown.
struct BoundCheck {
  double ratio = 0;
  bool loose = false;
  std::string detail;  // row and column of the worst output
};
BoundCheck CheckBound(const NumericAnswer& answer,
                      const std::optional<std::string>& quantizer);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_CLASSIFY_H_
