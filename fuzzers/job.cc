#include "fuzzers/job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

namespace weightproof::fuzzers {

std::expected<pid_t, std::string> StartJob(
    const std::vector<std::string>& argv,
    const std::vector<std::pair<std::string, std::string>>& environment,
    const std::filesystem::path& log) {
  std::error_code ignored;
  std::filesystem::create_directories(log.parent_path(), ignored);
  const int out =
      open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (out < 0) {
    return std::unexpected(
        fmt::format("{}: {}", log.string(), std::strerror(errno)));
  }
  std::vector<char*> words;
  for (const std::string& word : argv) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    const int cause = errno;
    close(out);
    return std::unexpected(fmt::format("fork: {}", std::strerror(cause)));
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    // A terminal's interrupt goes to the campaign alone, which ends its jobs.
    setpgid(0, 0);
    dup2(out, 1);
    dup2(out, 2);
    const int in = open("/dev/null", O_RDONLY);
    if (in >= 0) dup2(in, 0);
    for (const auto& [name, value] : environment) {
      setenv(name.c_str(), value.c_str(), 1);
    }
    execv(words[0], words.data());
    fmt::print(stderr, "{}: {}\n", argv[0], std::strerror(errno));
    _exit(127);
  }
  close(out);
  return child;
}

std::optional<int> JobEnded(pid_t pid) {
  int status = 0;
  const pid_t got = waitpid(pid, &status, WNOHANG);
  if (got == pid) return status;
  return std::nullopt;
}

void EndJob(pid_t pid) {
  kill(pid, SIGINT);
  for (int i = 0; i < 100; ++i) {
    if (JobEnded(pid)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

std::string LastLine(const std::filesystem::path& log) {
  std::ifstream in(log);
  std::string line, last;
  while (std::getline(in, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace weightproof::fuzzers
