// What `weightproof check` found, in words for a terminal.
#ifndef WEIGHTPROOF_REPORTS_CLI_CHECK_WORDS_H_
#define WEIGHTPROOF_REPORTS_CLI_CHECK_WORDS_H_

#include <filesystem>
#include <string>

#include "reports/cli/check_file.h"
#include "reports/cli/check_set.h"
#include "reports/terminal.h"

namespace weightproof::cli {

class CheckWords {
 public:
  explicit CheckWords(const reports::TerminalStyle& style) : style_(style) {}

  // data: that of the tensors was asked for.
  std::string File(const std::filesystem::path& path, const FileCheck& check,
                   bool data) const;
  std::string Set(const SetCheck& check) const;

 private:
  std::string DataWords(const DataCheck& data) const;
  std::string FindingWords(const FileCheck& check,
                           const Finding& finding) const;
  std::string PolicyWords(const FileCheck& check) const;
  std::string Indented(const std::string& text) const;

  reports::TerminalStyle style_;
};

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_CHECK_WORDS_H_
