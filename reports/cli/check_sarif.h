// What `weightproof check` found, as SARIF 2.1.0 for hosts that scan code.
#ifndef WEIGHTPROOF_REPORTS_CLI_CHECK_SARIF_H_
#define WEIGHTPROOF_REPORTS_CLI_CHECK_SARIF_H_

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "conformance/mapped_file.h"
#include "reports/cli/check_file.h"
#include "reports/cli/check_set.h"

namespace weightproof::cli {

class CheckSarif {
 public:
  // One result for each rule and byte at which some profile stops, for each
  // point on which readers may differ, and for each finding in the data.
  // The level is that of the rule's severity; "note" if no profile rejects.
  void Add(const std::filesystem::path& path, const FileCheck& check);
  void Add(const SetCheck& check);

  // A file that cannot be checked makes the run itself unsuccessful.
  void Add(const std::filesystem::path& path,
           const conformance::FileError& error);

  std::string Dump() const;

 private:
  void Result(const std::filesystem::path& path, RuleIndex rule, bool rejected,
              std::string_view words, Json region);

  std::set<RuleIndex> rules_;
  Json results_ = Json::array();
  Json notifications_ = Json::array();
};

// A relative path stays relative, to the root of the scan; what a URI may not
// hold is escaped.
std::string UriOf(const std::filesystem::path& path);

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_CHECK_SARIF_H_
