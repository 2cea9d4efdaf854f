// What a run produced: implementations and rows. The judge fills it, reports
// render it.
#ifndef WEIGHTPROOF_CONFORMANCE_RUN_RESULT_H_
#define WEIGHTPROOF_CONFORMANCE_RUN_RESULT_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace weightproof::conformance {

using Json = nlohmann::json;

enum class Outcome {
  kPass,
  kPolicy,             // conforms; the profiles differ on this vector
  kExpectedDeviation,  // a fail that the implementation's list foresees
  kFail,
  kNotCompared,        // accepted, but the fields in question are not reported
  kNotRun,
};

// One vector against one implementation.
struct Row {
  std::string implementation;
  std::string vector;
  std::string rule;
  std::string operation;
  std::string variant;   // forced code path, or empty
  Outcome outcome = Outcome::kNotRun;
  // accept, reject, unsupported, limit, crash, hang, out-of-memory,
  // protocol-error, nondeterministic; "not-implemented"; empty if not run.
  std::string verdict;
  std::string expected;  // in words: "reject", "accept or reject (policy)"
  std::string reason;    // why the outcome is not a plain pass; never empty for
                         // fail, not-compared, not-run, expected-deviation
  // Scored apart from the verdict.
  std::optional<bool> rule_matches;
  std::optional<bool> offset_matches;
  std::vector<std::string> profiles;  // whose column the answer matches
  bool late = false;             // rejected by gguf.tensor, not by gguf.parse
  bool without_reason = false;   // refused where unsupported/limit was expected
  // First differing field of a dump or output: path, expected, got.
  std::string difference;
  Json answer;           // the answer as received, abbreviated; or null
  std::string signal;    // "SIGFPE", "exit 3" for crashes
  std::string stderr_tail;
  std::string repro;     // one command line
};

enum class ImplementationStatus { kRan, kNotRun, kUnusable };

struct Implementation {
  std::string name;
  std::string version;
  std::string language;
  ImplementationStatus status = ImplementationStatus::kNotRun;
  std::string why;       // for kNotRun and kUnusable
  bool built_in = false;
  std::optional<std::string> declared_profile;
  // Inferred: profile -> points on which it agrees, of all policy points.
  std::map<std::string, std::pair<int, int>> profile_points;
  std::vector<std::string> operations;
  std::vector<std::string> variants;
  // Operation ("q8_0.quantize", "q8_0.dot") -> what the classifier says.
  std::map<std::string, std::string> arithmetic;
  std::vector<std::string> stale_deviations;    // errors
  std::vector<std::string> overdue_deviations;  // warnings
  double seconds = 0;    // varies between runs
  std::uint64_t peak_rss_bytes = 0;  // varies between runs
};

struct RunResult {
  std::vector<Implementation> implementations;  // sorted by name
  std::vector<Row> rows;                        // by implementation, vector
  std::uint64_t executed = 0, skipped = 0, total = 0;
  bool canary_caught = false;
  std::string canary_detail;
  bool built_ins_disagree = false;
  std::string built_ins_detail;
  bool interrupted = false;  // stopped early; a journal allows --resume
  std::uint64_t unrecorded = 0;  // cases that a recording should hold
  // Everything that varies: command line, host, times, CPU flags, journal.
  Json run;
};

// 0 conforming, 1 unexpected fail, 3 driver unusable, 4 void, 5 internal,
// 6 nothing failed so far, but the run or the recording is incomplete.
int ExitCode(const RunResult& result);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_RUN_RESULT_H_
