// The time machine: past releases of an implementation as targets of a run.
#ifndef WEIGHTPROOF_CONFORMANCE_RUN_PAST_H_
#define WEIGHTPROOF_CONFORMANCE_RUN_PAST_H_

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "conformance/run_target.h"

namespace weightproof::conformance {

// A name that a run was given: NAME@VERSION, or NAME@FIRST..LAST for all
// releases from one to the other, both included. NAME is a glob over the
// instances of driver folders, or the name of a folder.
struct PastName {
  std::string name;
  std::string first, last;  // equal for one release
};

// Nothing if text has no '@'.
std::optional<PastName> ParsePastName(const std::string& text);

// The targets that a name means, by folder and in the order of the releases.
// The error (2) says which releases there are.
std::expected<std::vector<Target>, RunError> PastTargets(
    const RunOptions& options, const PastName& name);

// What has to be installed for it: "ggml@3.12.0", as install.sh takes it.
std::expected<std::vector<std::string>, RunError> PastFolders(
    const RunOptions& options, const PastName& name);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_RUN_PAST_H_
