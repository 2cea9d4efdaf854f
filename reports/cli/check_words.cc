#include "reports/cli/check_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "reference/gguf/rules.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;
using reports::Ink;
using reports::Printable;

Ink InkOf(Severity severity) {
  if (severity == Severity::kHazard) return Ink::kRed;
  if (severity == Severity::kNonconforming) return Ink::kYellow;
  return Ink::kBlue;
}

}  // namespace

std::string CheckWords::Set(const SetCheck& check) const {
  std::string out = fmt::format(
      "{}: {}\n",
      reports::Paint(style_, Ink::kBold,
                     "set of " + Printable(check.files.front().string())),
      reports::Count(check.files.size(), "file"));
  for (const SetFinding& item : check.findings) {
    const Finding& finding = item.finding;
    std::string words = std::string(ToString(finding.verdict));
    if (finding.rule != kNoRule) {
      const Rule& rule = Rules()[finding.rule];
      words += fmt::format(" by {} in {} at byte {}: {}", rule.id,
                           Printable(check.files[item.file].string()),
                           finding.offset, rule.statement);
    }
    out += Indented(finding.profile + ": " + words + ".");
  }
  return out;
}

std::string CheckWords::File(const fs::path& path, const FileCheck& check,
                             bool data) const {
  std::string accepting;
  for (const Finding& finding : check.findings) {
    if (finding.verdict != Cell::kAccept) continue;
    accepting += (accepting.empty() ? "" : ", ") + finding.profile;
  }
  const std::string name =
      reports::Paint(style_, Ink::kBold, Printable(path.string()));
  std::string out =
      accepting.empty()
          ? fmt::format("{}\n", name)
          : fmt::format("{}: {}\n", name,
                        reports::Paint(style_, Ink::kGreen,
                                       "accepted by " + accepting));
  // Profiles that stop at the same rule and byte are one finding.
  std::vector<const Finding*> shown;
  for (const Finding& finding : check.findings) {
    if (finding.verdict == Cell::kAccept) continue;
    const bool repeated = std::ranges::any_of(shown, [&](const Finding* f) {
      return f->rule == finding.rule && f->offset == finding.offset;
    });
    if (repeated) continue;
    shown.push_back(&finding);
    out += FindingWords(check, finding);
  }
  out += PolicyWords(check);
  if (check.data) out += DataWords(*check.data);
  out += fmt::format(
      "  checked: {}, {} of {}{}\n",
      accepting.empty() ? "up to where reading stops" : "the header",
      check.checked, reports::ByteCount(check.file_size),
      !data ? std::string()
      : !check.data
          ? std::string("; no data, because it cannot be placed")
          : fmt::format("; the data, {} of {}", check.data->bytes,
                        reports::Count(check.data->tensors, "tensor")));
  return out;
}

// Each rule once, with the first tensors it is found in.
std::string CheckWords::DataWords(const DataCheck& data) const {
  constexpr std::size_t kShown = 10;
  std::map<RuleIndex, std::vector<const DataFinding*>> by_rule;
  for (const DataFinding& found : data.findings) {
    by_rule[found.rule].push_back(&found);
  }
  std::string out;
  for (const auto& [index, list] : by_rule) {
    const Rule& rule = Rules()[index];
    out += fmt::format("  {}  {}\n",
                       reports::Paint(style_, InkOf(rule.severity),
                                      std::string(ToString(rule.severity))),
                       reports::Paint(style_, Ink::kBold, rule.id));
    out += Indented(std::string(rule.statement) + ".");
    for (std::size_t i = 0; i < std::min(list.size(), kShown); ++i) {
      const DataFinding& found = *list[i];
      const bool whole = index == gguf::rules::kValuesTensorZero ||
                         index == gguf::rules::kValuesTensorConstant;
      out += Indented(
          whole ? fmt::format("{} at byte {}", Printable(found.name),
                              found.offset)
                : fmt::format("{}, block {}, at byte {}; {} of its scales",
                              Printable(found.name), found.block, found.offset,
                              found.count));
    }
    if (list.size() > kShown) {
      out += Indented(fmt::format("and {} more tensors; --json has them all",
                                  list.size() - kShown));
    }
  }
  return out;
}

std::string CheckWords::FindingWords(const FileCheck& check,
                                     const Finding& finding) const {
  const Rule& rule = Rules()[finding.rule];
  std::string who;
  for (const Finding& other : check.findings) {
    if (other.rule != finding.rule || other.offset != finding.offset) {
      continue;
    }
    who += fmt::format("{}{} {}", who.empty() ? "" : ", ", other.profile,
                       ToString(other.verdict));
  }
  std::string out =
      fmt::format("  {}  {}  at byte {}\n",
                  reports::Paint(style_, InkOf(rule.severity),
                                 fmt::format("{}", ToString(rule.severity))),
                  reports::Paint(style_, Ink::kBold, rule.id), finding.offset);
  out += Indented(std::string(rule.statement) + ".");
  if (!finding.detail.empty()) out += Indented(Printable(finding.detail));
  out += Indented("By profile: " + who + ".");
  if (!rule.notes.empty()) {
    out += Indented("Known: " + std::string(rule.notes) + ".");
  }
  return out;
}

std::string CheckWords::PolicyWords(const FileCheck& check) const {
  std::vector<RuleIndex> policies;
  for (const Finding& finding : check.findings) {
    for (const RuleIndex policy : finding.policies) {
      if (std::ranges::find(policies, policy) == policies.end()) {
        policies.push_back(policy);
      }
    }
  }
  std::string out;
  for (const RuleIndex policy : policies) {
    out += fmt::format("  {}  {}\n",
                       reports::Paint(style_, Ink::kBlue, "readers may differ"),
                       reports::Paint(style_, Ink::kBold, Rules()[policy].id));
    out += Indented(std::string(Rules()[policy].statement) + ".");
  }
  return out;
}

std::string CheckWords::Indented(const std::string& text) const {
  std::string out;
  for (const std::string& line : reports::Wrap(
           text, std::clamp<std::size_t>(style_.width, 60, 100) - 4)) {
    out += "    " + line + "\n";
  }
  return out;
}

}  // namespace weightproof::cli
