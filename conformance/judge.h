// The judge: from answers to rows. Pure functions: no file, no clock, no
// process. decisions: a row's outcome follows from the registry cells of the
// vector, what the implementation declares, and what it answered.
#ifndef WEIGHTPROOF_CONFORMANCE_JUDGE_H_
#define WEIGHTPROOF_CONFORMANCE_JUDGE_H_

#include <string>
#include <vector>

#include "conformance/case_record.h"
#include "conformance/classify.h"
#include "conformance/deviations.h"
#include "conformance/protocol.h"
#include "conformance/run_result.h"
#include "conformance/vector.h"

namespace weightproof::conformance {

// What is known of the implementation whose answers are judged.
struct Subject {
  std::string name;
  Hello hello;
  // Built-in implementations must follow spec to the bit, and their policies
  // are compared.
  bool built_in = false;
  std::string repro;  // command line up to the vector id
};

// How an implementation computes, by operation: only numeric rows need it.
struct Classified {
  std::map<std::string, Arithmetic> by_operation;
  // The variant its own quantizer follows, if it is known.
  std::optional<std::string> quantizer;
};

// The answers of one code path, classified. records[i] answers vectors[i].
Classified Classify(const std::vector<const Vector*>& vectors,
                    const std::vector<const CaseRecord*>& records);

// One row. record.reply may be a fate, not-run, or missing (not_asked).
Row JudgeCase(const Subject& subject, const Vector& vector,
              const CaseRecord& record, const Classified& classified);

// All rows of an implementation, and what they say of it as a whole: profile
// points and arithmetic. records[i] answers vectors[i]; code paths are
// classified apart.
std::vector<Row> JudgeAll(const Subject& subject,
                          const std::vector<const Vector*>& vectors,
                          const std::vector<const CaseRecord*>& records,
                          Implementation& implementation);

// Where the answers of two built-in readers differ in verdict, rule, offset or
// dump: a line for people; empty if they agree.
std::string Disagreement(const Vector& vector, const CaseRecord& a,
                         const CaseRecord& b);

// ---- pieces, for tests ----

// What an implementation said of a vector, taking all its replies together.
struct Observation {
  std::string verdict;  // of run_result.h; empty if not run
  std::string why;      // not run, or what went wrong
  Json answer;          // the reply that decides
  std::optional<std::string> rule;
  std::optional<std::uint64_t> offset;
  std::string signal, stderr_tail;
  bool late = false;
  bool not_run = false;
};
Observation Observe(const Vector& vector, const CaseRecord& record);

// Whether a registry cell admits a verdict. knows: whether the reader can say
// the cell's own verdict; a reader that cannot says reject. declared_over_cap:
// the vector's declared value is over the reader's published cap.
struct Admission {
  bool admitted = false;
  bool without_reason = false;
};
Admission Admits(std::string_view cell, std::string_view verdict, bool knows,
                 bool declared_over_cap);

// Whether the length or count that a vector declares, at the offset where
// spec rejects it, is over the cap that the reader publishes for it.
bool DeclaredOverCap(const Hello& hello, const Vector& vector);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_JUDGE_H_
