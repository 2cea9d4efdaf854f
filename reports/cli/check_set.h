// What is wrong with a split model: several files that make one.
#ifndef WEIGHTPROOF_REPORTS_CLI_CHECK_SET_H_
#define WEIGHTPROOF_REPORTS_CLI_CHECK_SET_H_

#include <expected>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "reports/cli/check_file.h"

namespace weightproof::cli {

struct SetFinding {
  Finding finding;
  std::size_t file = 0;  // whose fault it is: index into SetCheck::files
};

struct SetCheck {
  std::vector<std::filesystem::path> files;  // in the order of their numbers
  std::vector<SetFinding> findings;          // one per profile
  // As FileCheck::disagreement.
  std::string disagreement;
};

// The files of the set that path belongs to by its name
// (PREFIX-00001-of-00003.gguf): those of its folder that exist, in order. Just
// path if its name is not that of a shard.
std::vector<std::filesystem::path> ShardsOf(const std::filesystem::path& path);

// Judges a set by the reference, and by the optimized reader, which must say
// the same. The error is that of the first file that
// cannot be read, with its path.
using SetError = std::pair<std::filesystem::path, conformance::FileError>;
std::expected<SetCheck, SetError> CheckSet(
    const std::vector<std::filesystem::path>& files,
    const CheckOptions& options);

// {"files","format","profiles"}; a finding also names "file", the index of the
// file at fault, null if the set is accepted.
Json ToJson(const SetCheck& check);

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_CHECK_SET_H_
