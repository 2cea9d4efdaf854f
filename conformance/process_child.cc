#include "conformance/process_child.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace weightproof::conformance::process_child {
namespace {

void Report(int status, char kind, int value) {
  const StatusMessage message = {kind, value};
  // One write below PIPE_BUF is atomic; a runner that is gone reads nothing.
  [[maybe_unused]] const ssize_t written =
      write(status, &message, sizeof message);
}

void Limit(int resource, std::uint64_t value) {
  const rlimit limit = {value, value};
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

// Signals as a fresh program expects them.
void ResetSignals() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) {
    sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void RunDriver(const Plan& plan, pid_t keeper) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(127);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (plan.obey_permissions) {
    prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0);
    prctl(PR_CAPBSET_DROP, CAP_FOWNER, 0, 0, 0);
  }
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_FSIZE, plan.file_size_limit);
  if (plan.address_space_limit != 0) {
    Limit(RLIMIT_AS, plan.address_space_limit);
  }
  ResetSignals();
  if (chdir(plan.directory) == 0 && dup2(plan.input, 0) == 0 &&
      dup2(plan.output, 1) == 1 && dup2(plan.error, 2) == 2) {
    syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
    execve(plan.program, plan.argv, plan.env);
  }
  Report(plan.start, 'e', errno);
  _exit(127);
}

void CloseAllBut(int a, int b) {
  const auto low = static_cast<unsigned>(std::min(a, b));
  const auto high = static_cast<unsigned>(std::max(a, b));
  if (low > 0) syscall(SYS_close_range, 0u, low - 1, 0u);
  if (high > low + 1) syscall(SYS_close_range, low + 1, high - 1, 0u);
  syscall(SYS_close_range, high + 1, ~0u, 0u);
}

void Reap(pid_t driver, int status) {
  int wait_status = 0;
  for (pid_t pid; (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;) {
    if (pid == driver) Report(status, 'x', wait_status);
  }
}

// Kills every direct child; their children become ours.
void KillChildren() {
  char text[4096];
  const int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t size = read(fd, text, sizeof text);
  close(fd);
  pid_t pid = 0;
  for (ssize_t i = 0; i < size; ++i) {
    if (text[i] >= '0' && text[i] <= '9') {
      pid = pid * 10 + (text[i] - '0');
      continue;
    }
    if (pid > 0) kill(pid, SIGKILL);
    pid = 0;
  }
}

[[noreturn]] void CleanUp(pid_t driver) {
  const timespec pause = {0, 1000000};
  // Bounded, should the kernel hold a process that cannot die.
  for (int round = 0; round < 5000; ++round) {
    kill(-driver, SIGKILL);
    KillChildren();
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    }
    if (pid < 0 && errno == ECHILD) break;
    if (round > 0) nanosleep(&pause, nullptr);
  }
  _exit(0);
}

}  // namespace

void RunKeeper(const Plan& plan) {
  setpgid(0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  // A handler that does nothing, so that ppoll wakes up for SIGCHLD.
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(SIGCHLD, &action, nullptr);
  action.sa_handler = SIG_IGN;
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    sigaction(signal, &action, nullptr);
  }
  sigset_t block, none;
  sigemptyset(&none);
  sigemptyset(&block);
  sigaddset(&block, SIGCHLD);
  sigprocmask(SIG_SETMASK, &block, nullptr);

  const pid_t self = getpid();
  const pid_t driver = fork();
  if (driver == 0) RunDriver(plan, self);
  if (driver < 0) {
    Report(plan.start, 'e', errno);
    _exit(1);
  }
  setpgid(driver, driver);
  CloseAllBut(plan.control, plan.status);
  Report(plan.status, 'p', driver);
  for (;;) {
    Reap(driver, plan.status);
    pollfd control = {plan.control, POLLIN, 0};
    if (ppoll(&control, 1, nullptr, &none) > 0) CleanUp(driver);
  }
}

}  // namespace weightproof::conformance::process_child
