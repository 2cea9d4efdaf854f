// A run in progress: the state behind Run().
#ifndef WEIGHTPROOF_CONFORMANCE_RUNNING_H_
#define WEIGHTPROOF_CONFORMANCE_RUNNING_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "conformance/canary.h"
#include "conformance/journal.h"
#include "conformance/run_session.h"
#include "conformance/runner.h"
#include "conformance/vector_files.h"

namespace weightproof::conformance {

inline std::unexpected<RunError> Failed(int exit_code, std::string message) {
  return std::unexpected(RunError{exit_code, std::move(message)});
}

class Running {
 public:
  // stop ends the run at the next answer.
  Running(RunOptions options, RunObserver& observer,
          const std::atomic<bool>& stop)
      : options_(std::move(options)), observer_(observer), stop_(stop) {}

  std::expected<RunResult, RunError> Go();

 private:
  std::expected<void, RunError> LoadVectorsToRun();
  std::expected<void, RunError> OpenJournal();
  std::expected<void, RunError> IntroduceTargets();
  std::expected<void, RunError> Resume(const JournalContents& old);
  CanaryVerdict RunCanary();
  void RunAll();
  void RunPart(Participant& participant, std::size_t begin, std::size_t end);
  void CheckFiles(Participant& participant);
  std::expected<void, RunError> TakeRecording();
  void Judge(Participant& participant, RunResult& result);
  void CompareBuiltIns(RunResult& result);
  RunResult Finish(const CanaryVerdict& canary);
  void Note(const std::string& text);

  RunOptions options_;
  RunObserver& observer_;
  const std::atomic<bool>& stop_;
  VectorSet set_;
  std::vector<std::size_t> selected_;
  std::optional<VectorFiles> files_;
  std::unique_ptr<JournalWriter> journal_;
  std::vector<Participant> participants_;
  std::mutex mutex_;  // observer, notes, counters
  std::vector<std::string> notes_;
  std::uint64_t done_ = 0;
  std::uint64_t to_do_ = 0;
  std::uint64_t unrecorded_ = 0;
  std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now();
  std::time_t started_ = std::time(nullptr);
};

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_RUNNING_H_
