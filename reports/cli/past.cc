#include "reports/cli/past.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "conformance/run_past.h"
#include "reports/cli/command.h"

namespace weightproof::cli {

std::expected<void, std::string> InstallPast(
    const conformance::RunOptions& options,
    const std::vector<std::string>& names, bool offline) {
  std::vector<std::string> folders;
  for (const std::string& name : names) {
    const auto past = conformance::ParsePastName(name);
    if (!past) continue;
    const auto found = conformance::PastFolders(options, *past);
    if (!found) return std::unexpected(found.error().message);
    for (const std::string& folder : *found) {
      if (std::ranges::find(folders, folder) == folders.end()) {
        folders.push_back(folder);
      }
    }
  }
  if (folders.empty()) return {};
  std::vector<std::string> words = {
      "bash", (options.drivers_dir / "install.sh").string()};
  if (offline) words.push_back("--offline");
  words.push_back(options.build_dir.string());
  words.insert(words.end(), folders.begin(), folders.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // Its own standard output is progress, not a result.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, "bash", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return std::unexpected(std::string("bash: ") + std::strerror(error));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return {};
}

}  // namespace weightproof::cli
