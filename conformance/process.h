// A foreign process under guard: spawned with exactly what it is given, watched
// with everything it spawns, and certain to be gone afterwards.
//
//   runner ---- control, status ---- keeper ---- driver ---- whatever it starts
//        \_________ stdin, stdout, stderr _________/
//
// The keeper is a small child of the runner that adopts orphans (subreaper):
// whatever the driver leaves behind is a descendant of the keeper, found and
// killed even if it changed its process group. If the runner dies, the keeper
// sees its control pipe close and cleans up. All of this works for root and
// for everybody else.
#ifndef WEIGHTPROOF_CONFORMANCE_PROCESS_H_
#define WEIGHTPROOF_CONFORMANCE_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weightproof::conformance {

struct ProcessSpec {
  // argv[0] with a slash is a path; without one it is looked up in the PATH of
  // env, then in the runner's.
  std::vector<std::string> argv;
  std::vector<std::string> env;     // "NAME=value"; nothing is inherited
  std::filesystem::path directory;  // working directory; must exist
  std::uint64_t file_size_limit = std::uint64_t{1} << 30;  // RLIMIT_FSIZE
  std::optional<std::uint64_t> address_space_limit;        // RLIMIT_AS
  // Takes from root the right to write to read-only files.
  bool obey_permissions = false;
};

// What a process and its descendants use.
struct Usage {
  double cpu_seconds = 0;          // user and system, ended children included
  std::uint64_t memory_bytes = 0;  // resident, without file-backed pages
  int processes = 0;
};

class Process {
 public:
  // The error says why the program could not be started.
  static std::expected<std::unique_ptr<Process>, std::string> Start(
      const ProcessSpec& spec);
  // Kills the driver and everything it started, and waits for that.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Non-blocking ends of the driver's streams; -1 once closed.
  int input() const { return input_; }
  int output() const { return output_; }
  int error() const { return error_; }
  // Readable when the driver has ended.
  int status_fd() const { return status_; }
  void CloseInput();
  void CloseOutput();
  void CloseError();

  // The wait status, once the driver itself has ended.
  std::optional<int> WaitStatus();
  Usage Sample() const;
  // As the destructor; may be called twice.
  void Kill();
  pid_t pid() const { return driver_; }

 private:
  Process() = default;

  pid_t keeper_ = -1;
  pid_t driver_ = -1;
  int control_ = -1;
  int status_ = -1;
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
  std::optional<int> wait_status_;
};

// "SIGSEGV", "exit 3".
std::string DescribeWaitStatus(int status);

// Whether this process, if it is root, can take from a child the right to
// write to read-only files; true for everybody else.
bool CanEnforcePermissions();

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_PROCESS_H_
