// Inputs through a driver and the judge. Internal to foreign.h.
#ifndef WEIGHTPROOF_FUZZERS_FOREIGN_JUDGE_H_
#define WEIGHTPROOF_FUZZERS_FOREIGN_JUDGE_H_

#include <atomic>
#include <chrono>
#include <expected>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "conformance/case_record.h"
#include "conformance/driver.h"
#include "conformance/judge.h"
#include "conformance/run_target.h"
#include "conformance/vector.h"
#include "fuzzers/finding.h"
#include "fuzzers/target.h"

namespace weightproof::fuzzers {

// What one input showed.
struct Judged {
  conformance::Row row;
  std::string spec_rule;         // the rule under spec, or ""
  std::string stage;             // its stage, or "" if spec accepts
  double seconds = 0;            // between this answer and the one before
  std::uint64_t peak_bytes = 0;  // of the driver so far
};

class ForeignJudge {
 public:
  ForeignJudge(const conformance::Target& implementation, const Target& target,
               std::filesystem::path scratch, const std::atomic<bool>& stop)
      : implementation_(implementation),
        target_(target),
        scratch_(std::move(scratch)),
        stop_(stop) {}

  // Asks hello once. The error says that the driver is unusable.
  std::expected<void, std::string> Open();
  const conformance::Hello& hello() const { return subject_.hello; }
  const std::string& name() const { return subject_.name; }

  // All inputs, in fresh processes of the driver; whoever owns a crash is
  // found by replay. Inputs without a trusted answer are left out; which have
  // one is told by their index.
  std::expected<void, std::string> Ask(
      const std::vector<Bytes>& inputs,
      const std::function<void(std::size_t, const Judged&)>& each);

  // Asking ends there, in the middle of a list if need be.
  void SetDeadline(std::chrono::steady_clock::time_point deadline) {
    deadline_ = deadline;
  }

 private:
  const conformance::Target& implementation_;
  const Target& target_;
  std::filesystem::path scratch_;
  const std::atomic<bool>& stop_;
  conformance::Subject subject_;
  std::chrono::steady_clock::time_point deadline_ =
      std::chrono::steady_clock::time_point::max();
};

// Of a failed row: finds the rule that the input breaks, or is an instance of,
// among those that it is about (rules, most telling first), and relabels the
// row if a known deviation foresees it under any of them. A file with several
// faults, each of which some profile accepts, may be accepted.
void AttributeRow(std::vector<std::string> rules,
                  const std::vector<conformance::Deviation>& deviations,
                  std::string_view implementation, std::string_view version,
                  conformance::Row& row);

// A row that is no pass, as a finding.
Finding ToFinding(const conformance::Row& row);

// The rule that an entry of a list of deviations is about, also where it names
// a vector; empty for vectors of other names.
std::string RuleOf(const conformance::Deviation& deviation);

// "kv[3].value: expected 1, got 2" -> "kv[].value".
std::string PathClass(std::string_view difference);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_FOREIGN_JUDGE_H_
