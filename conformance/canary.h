// The canary: five fixed vectors and a reader with one planted bug. A run in
// which the bug is not caught, or in which anything else fails, proves
// nothing.
#ifndef WEIGHTPROOF_CONFORMANCE_CANARY_H_
#define WEIGHTPROOF_CONFORMANCE_CANARY_H_

#include <string>
#include <vector>

#include "conformance/case_record.h"
#include "conformance/protocol.h"
#include "conformance/vector.h"

namespace weightproof::conformance {

// The vectors; the first one is the one that the planted bug fails.
const VectorSet& CanaryVectors();

struct CanaryVerdict {
  bool caught = false;
  // "caught the planted bug in gguf.header.version.zero", or what went wrong.
  std::string detail;
};

// Judges the answers to CanaryVectors(), in their order.
CanaryVerdict JudgeCanary(const Hello& hello,
                          const std::vector<CaseRecord>& records);

// Answers as the canary gives them, for judging without a process.
std::vector<CaseRecord> RecordedCanary();
Hello RecordedCanaryHello();

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_CANARY_H_
