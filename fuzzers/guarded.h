// An execution in a process of its own: a crash or a hang becomes a finding.
#ifndef WEIGHTPROOF_FUZZERS_GUARDED_H_
#define WEIGHTPROOF_FUZZERS_GUARDED_H_

#include <expected>
#include <optional>
#include <string>

#include "fuzzers/target.h"

namespace weightproof::fuzzers {

// Runs the target on the input in a forked child that has cpu_seconds of
// processor time. The error says why there was no child.
std::expected<std::optional<Finding>, std::string> RunGuarded(
    const Target& target, const Subjects& subjects, ByteSpan input, Depth depth,
    unsigned cpu_seconds = 10);

// The implementation of this name that is built in, or of the shared object at
// this path. The error says why there is none. It lives as long as the
// process.
std::expected<const wp_implementation*, std::string> OpenImplementation(
    const std::string& name_or_path);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GUARDED_H_
