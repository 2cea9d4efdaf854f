// What the parts of the judge share.
#ifndef WEIGHTPROOF_CONFORMANCE_JUDGE_INTERNAL_H_
#define WEIGHTPROOF_CONFORMANCE_JUDGE_INTERNAL_H_

#include <string>
#include <string_view>

#include "conformance/judge.h"

namespace weightproof::conformance::judge {

enum class Fit {
  kNo,           // another verdict was due
  kDiffers,      // the right verdict, with other contents
  kNotCompared,  // the right verdict; the contents in question are not shown
  kYes,
};

// How an observation fits one profile's column.
struct ColumnFit {
  Fit fit = Fit::kNo;
  bool without_reason = false;
  std::string reason;      // why not kYes
  std::string difference;  // "path: expected E, got G"
};

struct Context {
  const Subject& subject;
  const Vector& vector;
  const CaseRecord& record;
  const Observation& observation;
  const Classified& classified;
};

// profile must be a column of the vector.
ColumnFit FitGguf(const Context& context, const std::string& profile);
ColumnFit FitNumeric(const Context& context, const std::string& profile);

bool IsNumeric(const Vector& vector);
// The bytes of answer.y, or why there are none.
std::expected<std::vector<std::uint8_t>, std::string> OutputOf(
    const Json& answer);
// What a column expects a reader to show: its own dump, or the vector's.
const Json& DumpOf(const Vector& vector, const Expectation& expectation);

}  // namespace weightproof::conformance::judge

#endif  // WEIGHTPROOF_CONFORMANCE_JUDGE_INTERNAL_H_
