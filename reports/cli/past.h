// Getting past releases of implementations.
#ifndef WEIGHTPROOF_REPORTS_CLI_PAST_H_
#define WEIGHTPROOF_REPORTS_CLI_PAST_H_

#include <expected>
#include <string>
#include <vector>

#include "conformance/runner.h"

namespace weightproof::cli {

// Installs, by impls/drivers/install.sh, the releases that names mean
// (NAME@VERSION, NAME@FIRST..LAST); other names and releases that are there are
// left alone. One that cannot be had is no error: its run says so. The error
// says what is wrong with a name.
std::expected<void, std::string> InstallPast(
    const conformance::RunOptions& options,
    const std::vector<std::string>& names, bool offline);

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_PAST_H_
