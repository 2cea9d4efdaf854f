#include "fuzzers/proof/guarded.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

namespace weightproof::fuzzers {
namespace {

// What a child tells its parent, in memory that both see.
struct Slot {
  CaseReport::State state;
  char what[119];
};

int g_cpu_seconds = 5, g_wall_seconds = 120;

void Arm(int which, int seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  setitimer(which, &timer, nullptr);
}

std::uint64_t AddressSpace() {
  unsigned long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void Limit(int resource, std::uint64_t value) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  limit.rlim_cur = std::min<rlim_t>(value, limit.rlim_max);
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

void PrepareChild(const GuardOptions& options) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF,
                           SIGALRM, SIGTERM, SIGINT}) {
    std::signal(signal, SIG_DFL);
  }
  const int null = open("/dev/null", O_WRONLY);
  if (null >= 0) dup2(null, STDERR_FILENO);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_AS, AddressSpace() + options.memory_bytes);
  g_cpu_seconds = options.cpu_seconds;
  g_wall_seconds = options.wall_seconds;
}

void Write(Slot& slot, const CaseReport& report) {
  std::snprintf(slot.what, sizeof slot.what, "%s", report.what.c_str());
  slot.state = report.state;
}

[[noreturn]] void RunChild(std::size_t first, std::size_t count,
                           const std::function<CaseReport(std::size_t)>& run,
                           const GuardOptions& options, Slot* slots,
                           volatile std::size_t* current) {
  PrepareChild(options);
  for (std::size_t i = first; i < count; ++i) {
    *current = i;
    StillAlive();
    CaseReport report;
    try {
      report = run(i);
    } catch (const std::exception& error) {
      report = {CaseReport::kCrashed, error.what()};
    }
    Write(slots[i], report);
    if (options.stop_at_bad && report.Bad()) break;
  }
  *current = count;
  _exit(0);
}

CaseReport Death(int status) {
  if (!WIFSIGNALED(status)) return {CaseReport::kCrashed, "ended the process"};
  const int signal = WTERMSIG(status);
  if (signal == SIGPROF || signal == SIGALRM || signal == SIGXCPU) {
    return {CaseReport::kHung, "no answer in time"};
  }
  return {CaseReport::kCrashed, strsignal(signal)};
}

// Memory that a child shares with its parent.
class Shared {
 public:
  explicit Shared(std::size_t size)
      : size_(size),
        memory_(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~Shared() {
    if (ok()) munmap(memory_, size_);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  bool ok() const { return memory_ != MAP_FAILED; }
  void* get() const { return memory_; }

 private:
  std::size_t size_;
  void* memory_;
};

}  // namespace

void StillAlive() {
  Arm(ITIMER_PROF, g_cpu_seconds);
  Arm(ITIMER_REAL, g_wall_seconds);
}

std::vector<CaseReport> RunGuarded(
    std::size_t count, const std::function<CaseReport(std::size_t)>& run,
    const GuardOptions& options) {
  std::vector<CaseReport> reports(count);
  const Shared shared(sizeof(Slot) * (count + 1));
  if (!shared.ok()) {
    for (CaseReport& report : reports) {
      report = {CaseReport::kNotRun, "no memory to share"};
    }
    return reports;
  }
  auto* const current = static_cast<volatile std::size_t*>(shared.get());
  Slot* const slots = static_cast<Slot*>(shared.get()) + 1;
  for (std::size_t first = 0; first < count;) {
    *current = first;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) RunChild(first, count, run, options, slots, current);
    int status = 0;
    if (child < 0) {
      for (std::size_t i = first; i < count; ++i) {
        Write(slots[i], {CaseReport::kNotRun, "no process to be had"});
      }
      break;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (*current >= count) break;
    Write(slots[*current], Death(status));
    first = *current + 1;
    if (options.stop_at_bad) break;
  }
  for (std::size_t i = 0; i < count; ++i) {
    reports[i] = {slots[i].state, slots[i].what};
  }
  return reports;
}

}  // namespace weightproof::fuzzers
