// What minimise and promote share: an input, and whether a smaller one still
// shows the same.
#ifndef WEIGHTPROOF_REPORTS_CLI_FINDING_INPUT_H_
#define WEIGHTPROOF_REPORTS_CLI_FINDING_INPUT_H_

#include <expected>
#include <functional>
#include <string>

#include "fuzzers/entropy.h"
#include "reports/cli/command.h"

namespace weightproof::cli {

struct FindingArguments {
  std::string file;
  std::string implementation;  // NAME or PATH.so; asked beside the reference
  std::string one_shot;        // a command with {file}: its exit code counts
};

// Adds FILE, --implementation and --one-shot to a command.
void AddFindingOptions(CLI::App& command, FindingArguments& arguments);

// The file, at most 64 MiB. The error names the path.
std::expected<fuzzers::Bytes, std::string> ReadFinding(
    const FindingArguments& arguments);

// What a file shows, in one line: the rule under every profile, what the
// implementation does, how the command ends. Two files of one line are of one
// class. The error says why nobody can be asked.
using ShownBy = std::function<std::string(fuzzers::ByteSpan)>;
std::expected<ShownBy, std::string> HowShown(const FindingArguments& arguments);

// The smallest file found that shows the same as this one.
fuzzers::Bytes MinimiseFinding(const fuzzers::Bytes& file,
                               const ShownBy& shown);

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_FINDING_INPUT_H_
