// weightproof check FILE|DIR...
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <system_error>

#include "reference/gguf/rules.h"
#include "reference/gguf/set.h"
#include "reports/cli/check_file.h"
#include "reports/cli/check_portable.h"
#include "reports/cli/check_set.h"
#include "reports/cli/command.h"
#include "reports/terminal.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;
using reports::Ink;
using reports::Printable;

struct CheckArguments {
  std::vector<std::string> paths;
  std::string profile;
  std::string fail_on = "nonconforming";
  bool json = false;
  bool trusted = false;
  bool data = false;
  bool portable = false;
};

struct Totals {
  std::uint64_t files = 0;
  std::uint64_t failing = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t inconclusive = 0;
  std::uint64_t not_portable = 0;
  bool internal_error = false;
};

Severity FailOn(const std::string& name) {
  if (name == "hazard") return Severity::kHazard;
  if (name == "ambiguous") return Severity::kAmbiguous;
  return Severity::kNonconforming;
}

Ink InkOf(Severity severity) {
  if (severity == Severity::kHazard) return Ink::kRed;
  if (severity == Severity::kNonconforming) return Ink::kYellow;
  return Ink::kBlue;
}

// Whether a finding is reason enough to fail. Unsupported and limit are never:
// a healthy file of a new type is not called bad.
bool Reaches(const Finding& finding, Severity fail_on) {
  const bool judged =
      finding.verdict == Cell::kReject || finding.verdict == Cell::kAccept;
  return judged && finding.GetSeverity() >= fail_on;
}

bool Inconclusive(const Finding& finding) {
  return finding.verdict == Cell::kUnsupported ||
         finding.verdict == Cell::kLimit;
}

class Checker {
 public:
  Checker(const CheckArguments& arguments, const Places& places)
      : arguments_(arguments),
        places_(places),
        style_(reports::StyleFor(STDOUT_FILENO)) {
    if (!arguments.profile.empty()) options_.profiles = {arguments.profile};
    options_.trusted = arguments.trusted;
    options_.data = arguments.data;
  }

  int Run() {
    if (arguments_.portable) {
      auto readers =
          conformance::LoadDrivers(places_.source / "impls" / "drivers",
                                   {places_.source, places_.build});
      if (!readers) return Fail(kExitInternal, readers.error());
      readers_ = std::move(*readers);
    }
    for (const std::string& path : arguments_.paths) Path(path);
    Sets();
    if (!arguments_.json && totals_.files > 1) Summary();
    if (totals_.internal_error) return kExitInternal;
    if (totals_.failing + totals_.unreadable + totals_.not_portable > 0) {
      return kExitFindings;
    }
    return totals_.inconclusive > 0 ? kExitInconclusive : kExitOk;
  }

 private:
  void Path(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return File(path);
    std::vector<fs::path> files;
    fs::recursive_directory_iterator at(path, error);
    for (; !error && at != fs::recursive_directory_iterator();
         at.increment(error)) {
      std::error_code ignored;
      if (at->path().extension() == ".gguf" && !at->is_directory(ignored)) {
        files.push_back(at->path());
      }
    }
    if (error) Unreadable(path, {"unreadable", error.message()});
    if (!error && files.empty()) {
      Unreadable(path, {"no-files", "holds no file named *.gguf"});
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) File(file);
  }

  void File(const fs::path& path) {
    const auto check = CheckFile(path, options_);
    if (!check) return Unreadable(path, check.error());
    ++totals_.files;
    Count(check->findings, check->data);
    NoteSet(path, *check);
    std::vector<DivergingRule> divergence;
    if (arguments_.portable) {
      const auto mapped = conformance::MappedFile::Open(path);
      if (!mapped) return Unreadable(path, mapped.error());
      divergence = FindDivergence(mapped->bytes(), readers_);
      totals_.not_portable += !divergence.empty();
    }
    if (arguments_.json) {
      Json json = ToJson(path, *check);
      if (arguments_.portable) json["divergence"] = ToJson(divergence);
      Print(json.dump() + "\n");
    } else {
      Human(path, *check);
      if (arguments_.portable) Print(PortableWords(divergence, style_));
    }
    if (!check->disagreement.empty()) {
      totals_.internal_error = true;
      Fail(kExitInternal,
           fmt::format("{}: internal error, please report it: {}",
                       path.string(), check->disagreement));
    }
  }

  void Count(const std::vector<Finding>& findings,
             const std::optional<DataCheck>& data = std::nullopt) {
    const Severity fail_on = FailOn(arguments_.fail_on);
    const bool bad_data =
        data && std::ranges::any_of(data->findings, [&](const auto& found) {
          return Rules()[found.rule].severity >= fail_on;
        });
    if (bad_data || std::ranges::any_of(findings, [&](const Finding& finding) {
          return Reaches(finding, fail_on);
        })) {
      ++totals_.failing;
    } else if (Inconclusive(findings.front())) {
      ++totals_.inconclusive;
    }
  }

  // A file that is a shard, by its name or by its own count.
  void NoteSet(const fs::path& path, const FileCheck& check) {
    const auto name = path.filename().string();
    const auto shard = gguf::ParseShardName(name);
    if (check.split_count < 2 && (!shard || shard->count < 2)) return;
    std::vector<fs::path> files = ShardsOf(path);
    if (std::ranges::find(sets_, files) == sets_.end()) {
      sets_.push_back(std::move(files));
    }
  }

  void Sets() {
    for (const std::vector<fs::path>& files : sets_) {
      const auto check = CheckSet(files, options_);
      if (!check) {
        Unreadable(check.error().first, check.error().second);
        continue;
      }
      std::vector<Finding> findings;
      for (const SetFinding& item : check->findings) {
        findings.push_back(item.finding);
      }
      Count(findings);
      Print(arguments_.json ? ToJson(*check).dump() + "\n" : SetWords(*check));
      if (!check->disagreement.empty()) {
        totals_.internal_error = true;
        Fail(kExitInternal,
             "internal error, please report it: " + check->disagreement);
      }
    }
  }

  std::string SetWords(const SetCheck& check) const {
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

  void Unreadable(const fs::path& path, const conformance::FileError& error) {
    ++totals_.files;
    ++totals_.unreadable;
    if (arguments_.json) {
      Print(ToJson(path, error).dump() + "\n");
    } else {
      Print(fmt::format(
          "{}: {}\n", Printable(path.string()),
          reports::Paint(style_, Ink::kRed,
                         "cannot be checked: " + Printable(error.message))));
    }
  }

  void Human(const fs::path& path, const FileCheck& check) {
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
        !arguments_.data ? std::string()
        : !check.data
            ? std::string("; no data, because it cannot be placed")
            : fmt::format("; the data, {} of {}", check.data->bytes,
                          reports::Count(check.data->tensors, "tensor")));
    Print(out);
  }

  // Each rule once, with the first tensors it is found in.
  std::string DataWords(const DataCheck& data) const {
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
                                Printable(found.name), found.block,
                                found.offset, found.count));
      }
      if (list.size() > kShown) {
        out += Indented(fmt::format("and {} more tensors; --json has them all",
                                    list.size() - kShown));
      }
    }
    return out;
  }

  std::string FindingWords(const FileCheck& check, const Finding& finding) {
    const Rule& rule = Rules()[finding.rule];
    std::string who;
    for (const Finding& other : check.findings) {
      if (other.rule != finding.rule || other.offset != finding.offset) {
        continue;
      }
      who += fmt::format("{}{} {}", who.empty() ? "" : ", ", other.profile,
                         ToString(other.verdict));
    }
    std::string out = fmt::format(
        "  {}  {}  at byte {}\n",
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

  std::string PolicyWords(const FileCheck& check) {
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
      out +=
          fmt::format("  {}  {}\n",
                      reports::Paint(style_, Ink::kBlue, "readers may differ"),
                      reports::Paint(style_, Ink::kBold, Rules()[policy].id));
      out += Indented(std::string(Rules()[policy].statement) + ".");
    }
    return out;
  }

  std::string Indented(const std::string& text) const {
    std::string out;
    for (const std::string& line : reports::Wrap(
             text, std::clamp<std::size_t>(style_.width, 60, 100) - 4)) {
      out += "    " + line + "\n";
    }
    return out;
  }

  void Summary() {
    Print(fmt::format("\n{}: {} failing, {} unreadable, {} inconclusive\n",
                      reports::Count(totals_.files, "file"), totals_.failing,
                      totals_.unreadable, totals_.inconclusive));
  }

  CheckArguments arguments_;
  const Places& places_;
  reports::TerminalStyle style_;
  std::vector<conformance::DriverInstance> readers_;
  CheckOptions options_;
  Totals totals_;
  std::vector<std::vector<fs::path>> sets_;
};

}  // namespace

void AddCheck(CLI::App& app, const Places& places, Action& action) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* check = app.add_subcommand(
      "check", "What is wrong with a model file, by rule and byte");
  check
      ->add_option("PATH", arguments->paths,
                   "GGUF files; of a folder, every *.gguf in it")
      ->required();
  check->add_flag("--data", arguments->data,
                  "Read the data of all tensors too: scales that are NaN or "
                  "infinite, tensors that hold nothing");
  check->add_flag("--portable", arguments->portable,
                  "Say which known readers read the file in another way; exit "
                  "1 if any does");
  check->add_flag("--json", arguments->json, "One JSON object per file");
  check
      ->add_option("--profile", arguments->profile,
                   "Judge by this profile alone")
      ->check(CLI::IsMember({"spec", "ggml", "candle"}));
  check
      ->add_option("--fail-on", arguments->fail_on,
                   "Exit 1 from this severity on")
      ->check(CLI::IsMember({"hazard", "nonconforming", "ambiguous"}))
      ->capture_default_str();
  check->add_flag("--trusted", arguments->trusted,
                  "Read by the plain reference reader alone");
  check->callback([arguments, &places, &action] {
    action = [arguments, &places] { return Checker(*arguments, places).Run(); };
  });
}

}  // namespace weightproof::cli
