// Public bugs that a vector shows: conformance/history/history.json names the
// release that has the bug and the one that does not, and a run of both says
// whether that is true.
#ifndef WEIGHTPROOF_CONFORMANCE_HISTORY_H_
#define WEIGHTPROOF_CONFORMANCE_HISTORY_H_

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "conformance/runner.h"

namespace weightproof::conformance {

struct HistoryBug {
  std::string report;          // "CVE-2025-53630", "ggml-org/llama.cpp#24988"
  std::string what;            // in a few words
  std::string implementation;  // instance: "ggml/full"
  std::string vector;
  std::string before;  // release with the bug
  std::string after;   // release without it; empty: no release so far
  // Why it cannot be shown, although a release with the bug can be installed;
  // empty if it can.
  std::string why_not;
};

// {"format":"weightproof.history.v1","bugs":[...]}. The error names the place.
std::expected<std::vector<HistoryBug>, std::string> LoadHistory(
    const std::filesystem::path& file);

// What the two releases did.
struct HistoryRow {
  HistoryBug bug;
  std::string before;  // outcome and verdict in words: "fail (crash SIGFPE)"
  std::string after;
  bool ran = false;    // both releases ran
  bool shown = false;  // fails before and does not fail after
};

// Runs each bug's vector on both of its releases.
std::expected<std::vector<HistoryRow>, RunError> RunHistory(
    const std::vector<HistoryBug>& bugs, RunOptions options,
    RunObserver& observer);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_HISTORY_H_
