// Would all known readers read this file, and the same way?
#ifndef WEIGHTPROOF_REPORTS_CLI_CHECK_PORTABLE_H_
#define WEIGHTPROOF_REPORTS_CLI_CHECK_PORTABLE_H_

#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "conformance/driver_data.h"
#include "reference/rule.h"
#include "reports/terminal.h"

namespace weightproof::cli {

using Json = nlohmann::json;

// A reader that is known to go its own way.
struct DivergingReader {
  std::string name;                   // of the folder's instances, as a glob
  std::vector<std::string> verdicts;  // what it does
  std::string reason;
};

// A rule the file meets on which readers part.
struct DivergingRule {
  RuleIndex rule = kNoRule;
  bool profiles_differ = false;
  std::vector<DivergingReader> readers;
};

// The rules that a file meets, whether it breaks them or not, by rule. Those of
// a file that spec refuses end where reading stops.
std::vector<RuleIndex> RulesMet(std::span<const std::uint8_t> bytes);

// Those of them on which the profiles differ or a driver has an expected
// deviation. Empty: no known reader differs.
std::vector<DivergingRule> FindDivergence(
    std::span<const std::uint8_t> bytes,
    const std::vector<conformance::DriverInstance>& readers);

// For people, indented below the file they belong to.
std::string PortableWords(const std::vector<DivergingRule>& rules,
                          const reports::TerminalStyle& style);

// [{rule,profiles:{spec,ggml,candle},readers:[{name,verdicts,reason}]}].
Json ToJson(const std::vector<DivergingRule>& rules);

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_CHECK_PORTABLE_H_
