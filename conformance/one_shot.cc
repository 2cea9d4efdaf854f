#include "conformance/one_shot.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "conformance/dump_value.h"

namespace weightproof::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kStderrTail = 4096;
constexpr int kPollMs = 10;

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// Reads what is there; the tail of it if kept is given. False at the end.
bool Drain(int fd, std::string* kept) {
  char chunk[16384];
  const ssize_t count = read(fd, chunk, sizeof chunk);
  if (count > 0 && kept != nullptr) {
    kept->append(chunk, static_cast<std::size_t>(count));
    if (kept->size() > 2 * kStderrTail) {
      kept->erase(0, kept->size() - kStderrTail);
    }
  }
  return count > 0 || (count < 0 && errno == EAGAIN);
}

std::string Over(const Usage& usage, double seconds, double cpu_limit,
                 const DriverLimits& limits) {
  if (usage.memory_bytes > limits.memory_bytes) return "out-of-memory";
  if (usage.cpu_seconds > cpu_limit || seconds > limits.wall_seconds) {
    return "hang";
  }
  return usage.processes > limits.processes ? "crash" : "";
}

Reply FromExit(int status, std::string stderr_tail) {
  Reply reply;
  if (WIFEXITED(status) && WEXITSTATUS(status) <= 1) {
    reply.answer = {
        {"status", "ok"},
        {"verdict", WEXITSTATUS(status) == 0 ? "accept" : "reject"}};
    return reply;
  }
  Fate fate;
  fate.verdict = "crash";
  // A shell reports a signal of its child as 128 + n.
  const bool by_shell = WIFEXITED(status) && WEXITSTATUS(status) > 128 &&
                        WEXITSTATUS(status) < 128 + 65;
  fate.signal =
      DescribeWaitStatus(by_shell ? WEXITSTATUS(status) - 128 : status);
  fate.stderr_tail =
      IsValidUtf8(stderr_tail) ? stderr_tail : BytesToHex(stderr_tail);
  reply.fate = std::move(fate);
  return reply;
}

}  // namespace

std::string OneShotCommand(const std::string& command,
                           const std::string& file) {
  constexpr std::string_view kMark = "{file}";
  const std::string quoted = Quoted(file);
  std::string result = command;
  std::size_t at = result.find(kMark);
  if (at == result.npos) return command + ' ' + quoted;
  while (at != result.npos) {
    result.replace(at, kMark.size(), quoted);
    at = result.find(kMark, at + quoted.size());
  }
  return result;
}

Reply RunOneShot(const std::string& shell_command, const DriverSpec& spec,
                 bool large, bool obey_permissions,
                 const std::atomic<bool>& stop) {
  ProcessSpec process;
  process.argv = {"/bin/sh", "-c", shell_command};
  process.env = spec.env;
  process.directory = spec.directory;
  process.file_size_limit = spec.limits.file_size_bytes;
  process.address_space_limit = spec.limits.address_space_bytes;
  process.obey_permissions = obey_permissions;
  Reply reply;
  std::error_code error;
  std::filesystem::create_directories(spec.directory, error);
  auto started = Process::Start(process);
  if (!started) {
    reply.fate = Fate{"crash", "", started.error(), "", false};
    return reply;
  }
  Process& child = **started;
  child.CloseInput();
  const double cpu_limit =
      large ? spec.limits.cpu_seconds_large : spec.limits.cpu_seconds_small;
  const auto begin = Clock::now();
  auto sampled = begin;
  std::string stderr_text;
  for (;;) {
    pollfd fds[3] = {{child.status_fd(), POLLIN, 0},
                     {child.output(), POLLIN, 0},
                     {child.error(), POLLIN, 0}};
    poll(fds, 3, kPollMs);
    if (fds[1].revents != 0 && !Drain(child.output(), nullptr)) {
      child.CloseOutput();
    }
    if (fds[2].revents != 0 && !Drain(child.error(), &stderr_text)) {
      child.CloseError();
    }
    if (const auto status = child.WaitStatus()) {
      for (int i = 0; i < 16 && child.error() >= 0; ++i) {
        if (!Drain(child.error(), &stderr_text)) break;
      }
      return FromExit(*status, stderr_text);
    }
    if (stop) break;
    const auto now = Clock::now();
    if (now - sampled < std::chrono::milliseconds(kPollMs)) continue;
    sampled = now;
    const std::string over =
        Over(child.Sample(), std::chrono::duration<double>(now - begin).count(),
             cpu_limit, spec.limits);
    if (over.empty()) continue;
    reply.fate = Fate{over, "", "over a limit of the run", "", false};
    return reply;
  }
  reply.fate = Fate{"interrupted", "", "", "", false};
  return reply;
}

Hello OneShotHello(const std::string& command) {
  Hello hello;
  hello.name = "one-shot: " + command;
  hello.language = "unknown";
  hello.version = "unknown";
  hello.operations = {"gguf.parse"};
  hello.verdicts = {"accept", "reject"};
  return hello;
}

}  // namespace weightproof::conformance
