// What a process tree uses, from /proc.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

#include "conformance/process.h"

namespace weightproof::conformance {
namespace {

// Enough for a tree that is to be stopped, not for listing a fork bomb.
constexpr int kMaxProcesses = 4096;

std::string ReadSmall(const std::string& path) {
  std::string text(16384, '\0');
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  const ssize_t size = read(fd, text.data(), text.size());
  close(fd);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

std::uint64_t Number(std::string_view text) {
  const std::size_t start = text.find_first_of("0123456789");
  if (start == text.npos) return 0;
  std::uint64_t value = 0;
  std::from_chars(text.data() + start, text.data() + text.size(), value);
  return value;
}

// utime, stime, cutime, cstime: fields 14 to 17, counted behind the name,
// which may hold anything.
double CpuSeconds(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == stat.npos) return 0;
  std::uint64_t ticks = 0;
  std::size_t at = name_end + 1;
  for (int field = 3; field <= 17; ++field) {
    at = stat.find_first_not_of(' ', at);
    if (at == stat.npos) return 0;
    const std::size_t end = stat.find(' ', at);
    if (field >= 14) ticks += Number(stat.substr(at, end - at));
    at = end;
  }
  static const double kPerSecond = static_cast<double>(sysconf(_SC_CLK_TCK));
  return static_cast<double>(ticks) / kPerSecond;
}

// Anonymous and shared memory; pages of mapped files are the kernel's to drop.
std::uint64_t MemoryBytes(std::string_view status) {
  std::uint64_t kilobytes = 0;
  for (const std::string_view name : {"RssAnon:", "RssShmem:"}) {
    const std::size_t at = status.find(name);
    if (at == status.npos) continue;
    const std::size_t end = status.find('\n', at);
    kilobytes +=
        Number(status.substr(at + name.size(), end - at - name.size()));
  }
  return kilobytes * 1024;
}

void AddTree(pid_t pid, bool is_keeper, Usage& usage) {
  if (usage.processes >= kMaxProcesses) return;
  const std::string base = fmt::format("/proc/{}", pid);
  usage.cpu_seconds += CpuSeconds(ReadSmall(base + "/stat"));
  if (!is_keeper) {
    ++usage.processes;
    usage.memory_bytes += MemoryBytes(ReadSmall(base + "/status"));
  }
  DIR* tasks = opendir((base + "/task").c_str());
  if (tasks == nullptr) return;
  while (const dirent* task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    const std::string children =
        ReadSmall(fmt::format("{}/task/{}/children", base, task->d_name));
    for (std::size_t at = 0; at < children.size();) {
      const std::size_t end = children.find(' ', at);
      const auto child = Number(children.substr(at, end - at));
      if (child > 0) AddTree(static_cast<pid_t>(child), false, usage);
      if (end == children.npos) break;
      at = end + 1;
    }
  }
  closedir(tasks);
}

}  // namespace

Usage Process::Sample() const {
  Usage usage;
  if (keeper_ > 0) AddTree(keeper_, true, usage);
  return usage;
}

}  // namespace weightproof::conformance
