// A hand-made run with every outcome, for tests of reports.
#ifndef WEIGHTPROOF_REPORTS_SAMPLE_RUN_H_
#define WEIGHTPROOF_REPORTS_SAMPLE_RUN_H_

#include "conformance/run_result.h"
#include "conformance/vector.h"

namespace weightproof::reports {

struct Sample {
  conformance::RunResult result;
  conformance::VectorSet vectors;
};

// Three implementations ("alpha" conforms, "beta/full" fails in every way,
// "gamma" did not run) on six vectors. Names and texts of beta/full are
// hostile: markup, terminal escapes, newlines.
Sample SampleRun();

// Many rows: implementations x vectors, a third of them failures with full
// details.
Sample LargeRun(int implementations, int vectors);

inline constexpr const char* kHostileMarkup = "<script>alert(1)</script>";
inline constexpr const char* kHostileEscape = "\x1b[2J\x1b]0;owned\x07";

}  // namespace weightproof::reports

#endif  // WEIGHTPROOF_REPORTS_SAMPLE_RUN_H_
