// weightproof check FILE|DIR...
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "reference/gguf/set.h"
#include "reports/cli/check_file.h"
#include "reports/cli/check_portable.h"
#include "reports/cli/check_sarif.h"
#include "reports/cli/check_set.h"
#include "reports/cli/check_words.h"
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
  bool sarif = false;
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
        style_(reports::StyleFor(STDOUT_FILENO)),
        words_(style_) {
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
    if (arguments_.sarif) {
      Print(sarif_.Dump());
    } else if (!arguments_.json && totals_.files > 1) {
      Summary();
    }
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
    if (arguments_.sarif) {
      sarif_.Add(path, *check);
    } else if (arguments_.json) {
      Json json = ToJson(path, *check);
      if (arguments_.portable) json["divergence"] = ToJson(divergence);
      Print(json.dump() + "\n");
    } else {
      Print(words_.File(path, *check, arguments_.data));
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
      if (arguments_.sarif) {
        sarif_.Add(*check);
      } else {
        Print(arguments_.json ? ToJson(*check).dump() + "\n"
                              : words_.Set(*check));
      }
      if (!check->disagreement.empty()) {
        totals_.internal_error = true;
        Fail(kExitInternal,
             "internal error, please report it: " + check->disagreement);
      }
    }
  }

  void Unreadable(const fs::path& path, const conformance::FileError& error) {
    ++totals_.files;
    ++totals_.unreadable;
    if (arguments_.sarif) {
      sarif_.Add(path, error);
    } else if (arguments_.json) {
      Print(ToJson(path, error).dump() + "\n");
    } else {
      Print(fmt::format(
          "{}: {}\n", Printable(path.string()),
          reports::Paint(style_, Ink::kRed,
                         "cannot be checked: " + Printable(error.message))));
    }
  }

  void Summary() {
    Print(fmt::format("\n{}: {} failing, {} unreadable, {} inconclusive\n",
                      reports::Count(totals_.files, "file"), totals_.failing,
                      totals_.unreadable, totals_.inconclusive));
  }

  CheckArguments arguments_;
  const Places& places_;
  reports::TerminalStyle style_;
  CheckWords words_;
  std::vector<conformance::DriverInstance> readers_;
  CheckOptions options_;
  Totals totals_;
  CheckSarif sarif_;
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
  CLI::Option* json =
      check->add_flag("--json", arguments->json, "One JSON object per file");
  check
      ->add_flag("--sarif", arguments->sarif,
                 "A SARIF 2.1.0 log of all files, for code scanning")
      ->excludes(json)
      ->excludes("--portable");
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
