#include "conformance/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "conformance/process_child.h"

namespace weightproof::conformance {
namespace {

constexpr int kPipeBytes = 1 << 20;

// Both ends close on exec and on destruction.
struct Pipe {
  int read_end = -1;
  int write_end = -1;

  ~Pipe() {
    if (read_end >= 0) close(read_end);
    if (write_end >= 0) close(write_end);
  }
  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  static int Take(int& end) { return std::exchange(end, -1); }
};

void SetNonBlocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  fcntl(fd, F_SETPIPE_SZ, kPipeBytes);
}

bool IsExecutable(const std::string& path) {
  return access(path.c_str(), X_OK) == 0 &&
         std::filesystem::is_regular_file(path);
}

std::string SearchPath(std::string_view directories,
                       const std::string& program) {
  while (!directories.empty()) {
    const std::size_t colon = directories.find(':');
    const std::string path =
        fmt::format("{}/{}", directories.substr(0, colon), program);
    if (IsExecutable(path)) return path;
    if (colon == directories.npos) break;
    directories.remove_prefix(colon + 1);
  }
  return "";
}

std::string FindProgram(const ProcessSpec& spec) {
  const std::string& program = spec.argv[0];
  if (program.find('/') != program.npos) return program;
  for (const std::string& variable : spec.env) {
    if (!variable.starts_with("PATH=")) continue;
    std::string path =
        SearchPath(std::string_view(variable).substr(5), program);
    if (!path.empty()) return path;
  }
  const char* inherited = std::getenv("PATH");
  return inherited == nullptr ? "" : SearchPath(inherited, program);
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) {
    pointers.push_back(const_cast<char*>(string.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// A message of the keeper, waiting for it; nothing at the end of the pipe.
std::optional<process_child::StatusMessage> ReadStatus(int fd) {
  process_child::StatusMessage message = {};
  for (;;) {
    const ssize_t got = read(fd, &message, sizeof message);
    if (got == sizeof message) return message;
    if (got >= 0 || (errno != EINTR && errno != EAGAIN)) return std::nullopt;
    if (errno == EAGAIN) {
      pollfd wait = {fd, POLLIN, 0};
      poll(&wait, 1, -1);
    }
  }
}

void CloseEnd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace

std::expected<std::unique_ptr<Process>, std::string> Process::Start(
    const ProcessSpec& spec) {
  if (spec.argv.empty() || spec.argv[0].empty()) {
    return std::unexpected("the command is empty");
  }
  // A driver that closes its input must not end the runner.
  static const auto previous = signal(SIGPIPE, SIG_IGN);
  (void)previous;
  const std::string program = FindProgram(spec);
  if (program.empty()) {
    return std::unexpected(fmt::format("{}: no such program", spec.argv[0]));
  }
  Pipe input, output, error, control, status, start;
  if (!input.Open() || !output.Open() || !error.Open() || !control.Open() ||
      !status.Open() || !start.Open()) {
    return std::unexpected(fmt::format("pipe: {}", std::strerror(errno)));
  }
  const std::vector<char*> argv = Pointers(spec.argv);
  const std::vector<char*> env = Pointers(spec.env);
  const process_child::Plan plan = {
      program.c_str(),
      argv.data(),
      env.data(),
      spec.directory.c_str(),
      spec.file_size_limit,
      spec.address_space_limit.value_or(0),
      spec.obey_permissions,
      input.read_end,
      output.write_end,
      error.write_end,
      control.read_end,
      status.write_end,
      start.write_end,
  };
  const pid_t keeper = fork();
  if (keeper == 0) process_child::RunKeeper(plan);
  if (keeper < 0) {
    return std::unexpected(fmt::format("fork: {}", std::strerror(errno)));
  }
  std::unique_ptr<Process> process(new Process);
  process->keeper_ = keeper;
  process->control_ = Pipe::Take(control.write_end);
  process->status_ = Pipe::Take(status.read_end);
  process->input_ = Pipe::Take(input.write_end);
  process->output_ = Pipe::Take(output.read_end);
  process->error_ = Pipe::Take(error.read_end);
  CloseEnd(status.write_end);
  CloseEnd(start.write_end);
  for (const int fd : {process->input_, process->output_, process->error_}) {
    SetNonBlocking(fd);
  }
  // The start pipe ends without a word once the program runs.
  if (const auto failure = ReadStatus(start.read_end)) {
    return std::unexpected(
        fmt::format("{}: {}", program, std::strerror(failure->value)));
  }
  const auto started = ReadStatus(process->status_);
  if (!started || started->kind != 'p') {
    return std::unexpected(fmt::format("{}: died at its start", program));
  }
  process->driver_ = started->value;
  SetNonBlocking(process->status_);
  return process;
}

Process::~Process() { Kill(); }

void Process::CloseInput() { CloseEnd(input_); }
void Process::CloseOutput() { CloseEnd(output_); }
void Process::CloseError() { CloseEnd(error_); }

std::optional<int> Process::WaitStatus() {
  process_child::StatusMessage message = {};
  while (!wait_status_ && status_ >= 0) {
    const ssize_t got = read(status_, &message, sizeof message);
    if (got == sizeof message && message.kind == 'x') {
      wait_status_ = message.value;
    } else if (got == 0) {
      // Somebody killed the keeper, and with it the driver.
      wait_status_ = SIGKILL;
    } else if (got < 0) {
      break;
    }
  }
  return wait_status_;
}

void Process::Kill() {
  WaitStatus();
  CloseEnd(control_);
  CloseEnd(input_);
  CloseEnd(output_);
  CloseEnd(error_);
  if (keeper_ > 0) {
    while (waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
    }
    keeper_ = -1;
  }
  CloseEnd(status_);
}

std::string DescribeWaitStatus(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return name == nullptr ? fmt::format("signal {}", WTERMSIG(status))
                           : fmt::format("SIG{}", name);
  }
  return fmt::format("exit {}", WEXITSTATUS(status));
}

bool CanEnforcePermissions() {
  return geteuid() != 0 || (prctl(PR_CAPBSET_READ, CAP_SETPCAP) == 1 ||
                            prctl(PR_CAPBSET_READ, CAP_DAC_OVERRIDE) == 0);
}

}  // namespace weightproof::conformance
