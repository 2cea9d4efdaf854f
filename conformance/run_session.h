// One implementation through a whole run: hello, cases, answers.
#ifndef WEIGHTPROOF_CONFORMANCE_RUN_SESSION_H_
#define WEIGHTPROOF_CONFORMANCE_RUN_SESSION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/case_runner.h"
#include "conformance/journal.h"
#include "conformance/run_target.h"
#include "conformance/vector_files.h"

namespace weightproof::conformance {

// A target that was asked hello, with its cases.
struct Participant {
  Target target;
  Implementation implementation;
  Hello hello;
  Json hello_json;
  std::vector<Case> cases;
  std::vector<CaseRecord> records;  // one per case; known ones filled in
  std::vector<std::string> notes;

  bool Runs() const {
    return implementation.status == ImplementationStatus::kRan;
  }
};

// Asks hello and fills implementation.status, why, name and hello.
Participant Introduce(Target target, const std::atomic<bool>& stop);

// The cases of the selected vectors: vectors of formats that the
// implementation has nothing to do with are left out; what it does not offer,
// or what cannot be asked, becomes a record that says why not. variant: only
// this code path, if it is not empty.
void PlanCases(const VectorSet& set, const std::vector<std::size_t>& selected,
               const VectorFiles& files, const std::string& variant,
               Participant& participant);

// What a run shares between the threads that run parts of it.
struct RunShared {
  const VectorSet& set;
  const VectorFiles& files;
  JournalWriter& journal;
  const std::atomic<bool>& stop;
  std::function<void(const std::string& implementation,
                     const std::string& vector)>
      on_case;
};

// Asks cases [begin, end) of a participant; records land in its records. Notes
// are returned. The error says that the driver can no longer be started.
std::expected<std::vector<std::string>, std::string> RunCases(
    const RunShared& shared, Participant& participant, std::size_t begin,
    std::size_t end, std::uint64_t& peak_memory);

// Whether a record has all that a run asks for.
bool IsComplete(const CaseRecord& record, bool small);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_RUN_SESSION_H_
