// One child process of a campaign. Internal to it.
#ifndef WEIGHTPROOF_FUZZERS_JOB_H_
#define WEIGHTPROOF_FUZZERS_JOB_H_

#include <sys/types.h>

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weightproof::fuzzers {

// Starts a program that dies with this process, its output appended to a log;
// environment: added to this process's own. The error says why not.
std::expected<pid_t, std::string> StartJob(
    const std::vector<std::string>& argv,
    const std::vector<std::pair<std::string, std::string>>& environment,
    const std::filesystem::path& log);

// The wait status, once the process has ended.
std::optional<int> JobEnded(pid_t pid);
// Asks it to end, and kills it if it has not done so after five seconds.
void EndJob(pid_t pid);

// The last line of a log, for an error message.
std::string LastLine(const std::filesystem::path& log);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_JOB_H_
