// How well vectors tell the known arithmetics apart: what the classifier says
// of an implementation is worth no more than this.
#ifndef WEIGHTPROOF_CONFORMANCE_SEPARATION_H_
#define WEIGHTPROOF_CONFORMANCE_SEPARATION_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/vector.h"

namespace weightproof::conformance {

// Two arithmetics of one operation and the ids of the vectors to which they
// give different answers.
struct SeparatedPair {
  std::string operation;  // "q8_0.quantize"
  std::string a, b;       // "ggml-avx2"; "point inv-d, even, rne"
  std::vector<std::string> vectors;
};

// All pairs of named variants of q8_0.quantize, q8_1.quantize and q8_0.dot, and
// all pairs of the 40 points of reciprocal x rounding x scale, for which only
// vectors with ordinary data count. Bulk vectors (ids q8b-) are left out: they
// tell that something differs, not where.
class Separation {
 public:
  Separation();
  // How many pairs with fewer than wanted vectors this one separates.
  int Gain(const Vector& vector, std::size_t wanted) const;
  void Add(const Vector& vector);
  const std::vector<SeparatedPair>& pairs() const { return pairs_; }
  // The fewest vectors that separate a pair of the operation.
  std::size_t Least(const std::string& operation) const;

 private:
  // Indices of the pairs that a vector separates.
  std::vector<std::size_t> SeparatedBy(const Vector& vector) const;

  std::vector<SeparatedPair> pairs_;
};

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_SEPARATION_H_
