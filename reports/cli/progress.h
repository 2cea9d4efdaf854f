// How far a run has come, on standard error.
#ifndef WEIGHTPROOF_REPORTS_CLI_PROGRESS_H_
#define WEIGHTPROOF_REPORTS_CLI_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "conformance/runner.h"

namespace weightproof::cli {

// A line that redraws itself on a terminal; without one, or with CI set, only
// what a person should know.
class Progress : public conformance::RunObserver {
 public:
  Progress();
  ~Progress() override;

  void OnStart(std::uint64_t implementations, std::uint64_t cases) override;
  void OnCanary(bool caught, const std::string& detail) override;
  void OnImplementation(
      const conformance::Implementation& implementation) override;
  void OnCase(const std::string& implementation, const std::string& vector,
              std::uint64_t done, std::uint64_t total) override;
  void OnNote(const std::string& text) override;

  // Removes the line.
  void Clear();

 private:
  void Say(const std::string& text);

  bool live_;  // standard error is a terminal
  bool drawn_ = false;
  std::size_t width_ = 80;
  std::chrono::steady_clock::time_point last_;
};

// "[#####.....] 50 of 100  ggml/full  gguf.align.value.zero-1", at most width
// columns; names made printable.
std::string ProgressLine(std::uint64_t done, std::uint64_t total,
                         const std::string& implementation,
                         const std::string& vector, std::size_t width);

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_PROGRESS_H_
