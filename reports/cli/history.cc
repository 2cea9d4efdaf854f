// weightproof history: which public bugs the vectors would have found.
#include "conformance/history.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "conformance/run_past.h"
#include "reports/cli/command.h"
#include "reports/cli/past.h"
#include "reports/cli/progress.h"
#include "reports/terminal.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

using Json = nlohmann::json;
using conformance::HistoryBug;
using conformance::HistoryRow;

struct HistoryArguments {
  bool json = false;
  bool offline = std::getenv("WEIGHTPROOF_OFFLINE") != nullptr;
  std::string report;
};

std::string Words(const HistoryRow& row) {
  const HistoryBug& bug = row.bug;
  std::string out = fmt::format("{}  {}\n    {}\n", bug.report,
                                bug.implementation, bug.vector);
  if (!bug.what.empty()) out += "    " + bug.what + "\n";
  if (!bug.why_not.empty()) {
    return out + fmt::format("    not shown: {}\n", bug.why_not);
  }
  return out + fmt::format("    {}: {}; {}: {}{}\n", bug.before, row.before,
                           bug.after, row.after,
                           row.shown ? ""
                           : row.ran ? "  NOT AS THE TABLE SAYS"
                                     : "  NOT RUN");
}

Json ToJson(const HistoryRow& row) {
  const HistoryBug& bug = row.bug;
  return {{"report", bug.report},
          {"implementation", bug.implementation},
          {"vector", bug.vector},
          {"before", {{"version", bug.before}, {"did", row.before}}},
          {"after", {{"version", bug.after}, {"did", row.after}}},
          {"ran", row.ran},
          {"shown", row.shown},
          {"why_not", bug.why_not}};
}

int History(const Places& places, const HistoryArguments& arguments) {
  auto bugs = conformance::LoadHistory(places.source / "conformance" /
                                       "history" / "history.json");
  if (!bugs) return Fail(kExitInternal, bugs.error());
  if (!arguments.report.empty()) {
    std::erase_if(*bugs, [&](const HistoryBug& bug) {
      return bug.report != arguments.report;
    });
    if (bugs->empty()) {
      return Fail(kExitUsage, "no such report: " + arguments.report);
    }
  }
  conformance::RunOptions options;
  options.source_dir = places.source;
  options.build_dir = places.build;
  options.vectors_dir = places.Vectors();
  options.drivers_dir = places.source / "impls" / "drivers";
  options.journal = places.build / "runs" / "history.jsonl";
  options.jobs = 2;
  std::vector<std::string> names;
  for (const HistoryBug& bug : *bugs) {
    if (!bug.why_not.empty()) continue;
    names.push_back(bug.implementation + "@" + bug.before);
    names.push_back(bug.implementation + "@" + bug.after);
  }
  if (auto done = InstallPast(options, names, arguments.offline); !done) {
    return Fail(kExitUsage, done.error());
  }
  Progress progress;
  const auto rows = conformance::RunHistory(*bugs, options, progress);
  progress.Clear();
  if (!rows) return Fail(rows.error().exit_code, rows.error().message);
  std::size_t shown = 0, wrong = 0, not_run = 0, unfixed = 0;
  for (const HistoryRow& row : *rows) {
    shown += row.shown;
    wrong += row.ran && !row.shown;
    not_run += row.bug.why_not.empty() && !row.ran;
    unfixed += row.bug.why_not.starts_with("no release");
    Print(arguments.json ? ToJson(row).dump() + "\n" : Words(row));
  }
  if (!arguments.json) {
    const std::size_t fixed = rows->size() - unfixed;
    Print(fmt::format(
        "\n{} of {} public bugs that one release has and a later one has not "
        "are shown ({} %); {} more without a later release that has it not; {} "
        "not as the "
        "table says, {} not run here\n",
        shown, fixed, fixed == 0 ? 0 : shown * 100 / fixed, unfixed, wrong,
        not_run));
  }
  return wrong > 0 ? kExitFindings : kExitOk;
}

}  // namespace

void AddHistory(CLI::App& app, const Places& places, Action& action) {
  auto arguments = std::make_shared<HistoryArguments>();
  CLI::App* history = app.add_subcommand(
      "history",
      "Public bugs that vectors show, in a release with the bug and in one "
      "without; installs both");
  history->add_option("REPORT", arguments->report, "Only this one");
  history->add_flag("--json", arguments->json, "One JSON object per bug");
  history->add_flag("--offline", arguments->offline, "Install nothing");
  history->callback([arguments, &places, &action] {
    action = [arguments, &places] { return History(places, *arguments); };
  });
}

}  // namespace weightproof::cli
