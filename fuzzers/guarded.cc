#include "fuzzers/guarded.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "fuzzers/finding_store.h"
#include "impls/registry.h"

namespace weightproof::fuzzers {
namespace {

void LimitProcessor(unsigned seconds) {
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const rlimit limit = {seconds, seconds + 1};
  setrlimit(RLIMIT_CPU, &limit);
}

std::string SignalWord(int status) {
  if (WIFEXITED(status)) {
    return fmt::format("the process ended with exit code {}",
                       WEXITSTATUS(status));
  }
  const char* name = sigabbrev_np(WTERMSIG(status));
  return name == nullptr ? fmt::format("signal {}", WTERMSIG(status))
                         : fmt::format("SIG{}", name);
}

// What the child tells: the finding as JSON, then the rule after a NUL.
std::string ReadAll(int fd) {
  std::string out;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return out;
    out.append(buffer, static_cast<std::size_t>(got));
  }
}

void Tell(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

[[noreturn]] void Child(const Target& target, const Subjects& subjects,
                        ByteSpan input, Depth depth, int out,
                        unsigned seconds) {
  LimitProcessor(seconds);
  // The trusted implementation alone, for the rule: it is told even if what
  // follows crashes.
  const Execution alone =
      target.run({subjects.trusted, {}}, input, Depth::kSampled);
  Tell(out, std::string(alone.rule) + '\n');
  const Execution all = target.run(subjects, input, depth);
  Tell(out, all.finding
                ? ToJson(*all.finding)
                      .dump(-1, ' ', true, Json::error_handler_t::replace)
                : std::string("{}"));
  _exit(0);
}

}  // namespace

std::expected<std::optional<Finding>, std::string> RunGuarded(
    const Target& target, const Subjects& subjects, ByteSpan input, Depth depth,
    unsigned cpu_seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return std::unexpected(fmt::format("pipe: {}", std::strerror(errno)));
  }
  const pid_t child = fork();
  if (child < 0) {
    const int cause = errno;
    close(ends[0]);
    close(ends[1]);
    return std::unexpected(fmt::format("fork: {}", std::strerror(cause)));
  }
  if (child == 0) {
    close(ends[0]);
    Child(target, subjects, input, depth, ends[1], cpu_seconds);
  }
  close(ends[1]);
  const std::string told = ReadAll(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const std::size_t line = told.find('\n');
  Finding finding;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && line != told.npos) {
    const Json json = Json::parse(told.substr(line + 1), nullptr, false);
    if (FromJson(json, finding)) return finding;
    return std::nullopt;
  }
  const bool hang = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU ||
                                            WTERMSIG(status) == SIGKILL);
  finding.kind = hang ? FindingKind::kHang : FindingKind::kCrash;
  finding.rule = line == told.npos ? "" : told.substr(0, line);
  for (const wp_implementation* tested : subjects.tested) {
    finding.implementation += finding.implementation.empty() ? "" : "+";
    finding.implementation += tested->name;
  }
  if (line == told.npos) finding.implementation = subjects.trusted->name;
  finding.behaviour =
      hang ? fmt::format("over {} s of processor time", cpu_seconds)
           : SignalWord(status);
  finding.description = finding.behaviour;
  return finding;
}

std::expected<const wp_implementation*, std::string> OpenImplementation(
    const std::string& name_or_path) {
  if (name_or_path == "canary") return impls::CanaryImplementation();
  if (const auto* built_in = impls::FindBuiltIn(name_or_path)) return built_in;
  if (name_or_path.find('/') == name_or_path.npos) {
    return std::unexpected(
        fmt::format("{}: not built in, and no path", name_or_path));
  }
  void* library = dlopen(name_or_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::unexpected(std::string(dlerror()));
  const auto entry = reinterpret_cast<wp_open_function>(
      dlsym(library, "wp_implementation_open"));
  if (entry == nullptr) {
    return std::unexpected(
        fmt::format("{}: exports no wp_implementation_open", name_or_path));
  }
  char error[512] = {};
  const wp_implementation* opened = entry("", error, sizeof error);
  if (opened == nullptr) {
    return std::unexpected(fmt::format("{}: {}", name_or_path, error));
  }
  if (opened->abi_version != WP_ABI_VERSION) {
    return std::unexpected(fmt::format("{}: of ABI version {}", name_or_path,
                                       opened->abi_version));
  }
  return opened;
}

}  // namespace weightproof::fuzzers
