// What is wrong with a model file, by rule and byte.
#ifndef WEIGHTPROOF_REPORTS_CLI_CHECK_FILE_H_
#define WEIGHTPROOF_REPORTS_CLI_CHECK_FILE_H_

#include <cstdint>
#include <expected>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/mapped_file.h"
#include "reference/rule.h"
#include "reports/cli/check_data.h"

namespace weightproof::cli {

struct CheckOptions {
  bool data = false;  // the data of the tensors too
  std::vector<std::string> profiles = {"spec", "ggml", "candle"};
  bool trusted = false;  // the reference alone
};

// What one profile says about a file.
struct Finding {
  std::string profile;
  Cell verdict = Cell::kAccept;  // accept, reject, unsupported, limit
  RuleIndex rule = kNoRule;      // kNoRule if accepted
  std::uint64_t offset = 0;
  std::string detail;
  std::vector<RuleIndex> policies;  // rules accepted under policy, in order

  // Of the rule; of an accepted file the worst of its policies.
  Severity GetSeverity() const;
};

struct FileCheck {
  std::vector<Finding> findings;  // one per profile, in the order asked
  std::uint64_t file_size = 0;
  std::uint64_t checked = 0;  // bytes from the start that were judged
  // split.count of an accepted file; 0 if absent or no unsigned integer.
  std::uint64_t split_count = 0;
  // Asked for, and the file has tensors that could be placed.
  std::optional<DataCheck> data;
  // The two readers differ: an internal error, in words. Empty if they agree.
  std::string disagreement;
};

// Judges bytes of a whole GGUF file. The optimized reader goes first; what a
// profile does not accept is read again by the reference, whose answer counts.
FileCheck CheckBytes(std::span<const std::uint8_t> bytes,
                     const CheckOptions& options);

// The same for a path, guarded against what is not a file and against files
// that change meanwhile.
std::expected<FileCheck, conformance::FileError> CheckFile(
    const std::filesystem::path& path, const CheckOptions& options);

// {verdict,rule,offset,severity,detail,policies}.
Json ToJson(const Finding& finding);
// {"file","format","profiles":{name:{verdict,rule,offset,severity,detail,
// policies}}}; rule and offset are null for an accepted file. With its data
// checked also "data".
Json ToJson(const std::filesystem::path& path, const FileCheck& check);
// {"file","error"}: error is the code ("file-changed", "not-found", ...).
Json ToJson(const std::filesystem::path& path,
            const conformance::FileError& error);

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_CHECK_FILE_H_
