// The runner: vectors through implementations into a judged result.
//
//   vectors --> requests --> driver process --> answers --> journal --> judge
//
// Everything that is under test runs in another process (protocol.h), built-in
// implementations inside weightproof-host.
#ifndef WEIGHTPROOF_CONFORMANCE_RUNNER_H_
#define WEIGHTPROOF_CONFORMANCE_RUNNER_H_

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/run_result.h"

namespace weightproof::conformance {

// Vectors i with i % count == index are run.
struct Shard {
  int index = 0;  // 0-based; "3/16" on the command line is {2, 16}
  int count = 1;
};

// "3/16" -> {2, 16}; nothing for anything else or 17/16.
std::optional<Shard> ParseShard(std::string_view text);

struct RunOptions {
  // Globs over the names of built-in implementations and driver instances
  // ("reference", "ggml/*"); all of them if empty and nothing below is set.
  std::vector<std::string> names;
  // A driver speaking the protocol, run by /bin/sh -c.
  std::string driver_command;
  // A command on {file}, its last word by default: exit 0 accept, 1 reject,
  // anything else a crash.
  std::string one_shot;
  // A journal or a recording made elsewhere: judged without any driver.
  std::filesystem::path answers;

  // Globs over vector ids and rule ids; all vectors if empty.
  std::vector<std::string> filter;
  std::string variant;  // only this code path; all of them if empty
  std::string cpu;      // run drivers under qemu-user with this CPU model
  Shard shard;
  int jobs = 1;
  bool resume = false;  // go on from the journal

  std::filesystem::path vectors_dir;  // default: source_dir/conformance/vectors
  std::filesystem::path drivers_dir;  // default: source_dir/impls/drivers
  std::filesystem::path source_dir;
  std::filesystem::path build_dir;
  std::filesystem::path journal;  // default: build_dir/runs/last.jsonl
};

// Progress. Calls never overlap; any thread of the run may make them.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Once, before anything runs.
  virtual void OnStart(std::uint64_t /*implementations*/,
                       std::uint64_t /*cases*/) {}
  // The result of the canary, before anything else is judged.
  virtual void OnCanary(bool /*caught*/, const std::string& /*detail*/) {}
  // An implementation said hello, or could not (status and why).
  virtual void OnImplementation(const Implementation& /*implementation*/) {}
  // A case has all its answers. done counts over the whole run.
  virtual void OnCase(const std::string& /*implementation*/,
                      const std::string& /*vector*/, std::uint64_t /*done*/,
                      std::uint64_t /*total*/) {}
  // Something a person should know that changes no row.
  virtual void OnNote(const std::string& /*text*/) {}
};

// Why there is no result. exit_code: 2 usage and zero cases, 3 driver unusable,
// 5 internal error (vectors that do not load, a disk that is full).
struct RunError {
  int exit_code = 5;
  std::string message;
};

// Runs and judges. Catches SIGINT and SIGTERM meanwhile: the result then says
// interrupted and the journal can be resumed.
std::expected<RunResult, RunError> Run(const RunOptions& options,
                                       RunObserver& observer);

// What Run could be asked to run, without running it: built-in implementations
// and driver instances, status kNotRun and why where one is not installed,
// kRan where it could run.
std::expected<std::vector<Implementation>, RunError> ListImplementations(
    const RunOptions& options);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_RUNNER_H_
