// weightproof writers: are the files of known writers healthy, and does check
// say so?
#include "conformance/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <system_error>

#include "reports/cli/check_file.h"
#include "reports/cli/command.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;
using conformance::WriteRow;

struct WritersArguments {
  std::vector<std::string> names;
  bool json = false;
};

std::string FoundIn(const WriteRow& row) {
  if (!row.judged) return row.did;
  const conformance::WrittenFile& judged = *row.judged;
  if (judged.verdict != "accept") {
    return fmt::format("{} by {} at byte {}", judged.verdict,
                       Rules()[judged.rule].id, judged.offset);
  }
  std::string text = judged.difference;
  for (const auto* rules : {&judged.policies, &judged.values}) {
    for (const RuleIndex rule : *rules) {
      text += (text.empty() ? "" : "; ") + std::string(Rules()[rule].id);
    }
  }
  return text;
}

// The worst severity that check finds in a file, its data included.
Severity WorstIn(const fs::path& path, bool* readable) {
  CheckOptions options;
  options.data = true;
  const auto check = CheckFile(path, options);
  *readable = check.has_value();
  Severity worst = Severity::kNone;
  if (!check) return worst;
  for (const Finding& finding : check->findings) {
    if (finding.profile == "spec") {
      worst = std::max(worst, finding.GetSeverity());
    }
  }
  if (check->data) {
    for (const DataFinding& found : check->data->findings) {
      worst = std::max(worst, Rules()[found.rule].severity);
    }
  }
  return worst;
}

struct Count {
  int written = 0, healthy = 0, explained = 0, open = 0, refused = 0;
};

struct Totals {
  int healthy = 0, writers = 0, real = 0, false_alarms = 0, open = 0;
};

void CheckHealthy(const fs::path& file, Totals* totals) {
  bool readable = false;
  const Severity worst = WorstIn(file, &readable);
  if (!readable || worst == Severity::kHazard ||
      worst == Severity::kNonconforming) {
    ++totals->false_alarms;
    Print(fmt::format("  check calls {} {}\n",
                      reports::Printable(file.filename().string()),
                      readable ? ToString(worst) : "unreadable"));
  }
}

int Writers(const Places& places, const WritersArguments& arguments) {
  const fs::path folder = places.source / "conformance" / "writing";
  const auto contents = conformance::LoadContents(folder / "contents.json");
  if (!contents) return Fail(kExitInternal, contents.error());
  const auto explanations =
      conformance::LoadExplanations(folder / "explained.json");
  if (!explanations) return Fail(kExitInternal, explanations.error());
  conformance::RunOptions options;
  options.names = arguments.names;
  options.source_dir = places.source;
  options.build_dir = places.build;
  options.drivers_dir = places.source / "impls" / "drivers";
  const auto rows = conformance::RunWriters(*contents, options);
  if (!rows) return Fail(rows.error().exit_code, rows.error().message);
  std::map<std::string, Count> counts;
  Totals totals;
  for (const WriteRow& row : *rows) {
    if (row.content.empty()) continue;
    Count& count = counts[row.implementation];
    const std::string why = conformance::Explain(row, *explanations);
    if (!row.judged) {
      ++count.refused;
    } else {
      ++count.written;
      count.healthy += row.Healthy();
      const bool open = !row.Healthy() && why.empty();
      count.explained += !row.Healthy() && !open;
      count.open += open;
      totals.open += open;
    }
    if (arguments.json) {
      Print(Json({{"implementation", row.implementation},
                  {"version", row.version},
                  {"content", row.content},
                  {"did", reports::ValidUtf8(row.did)},
                  {"healthy", row.Healthy()},
                  {"found", reports::ValidUtf8(FoundIn(row))},
                  {"explained", why}})
                .dump() +
            "\n");
    } else if (!row.Healthy()) {
      Print(fmt::format("  {} {}: {}{}\n", row.implementation, row.content,
                        reports::Printable(FoundIn(row)),
                        !row.judged   ? ""
                        : why.empty() ? "  UNEXPLAINED"
                                      : ": " + why));
    }
    if (row.Healthy()) {
      ++totals.healthy;
      CheckHealthy(row.file, &totals);
    }
  }
  for (const auto& [name, count] : counts) {
    totals.writers += count.written > 0;
    if (arguments.json) continue;
    Print(fmt::format(
        "{}: {} written, {} healthy, {} explained, {} unexplained, {} not "
        "written\n",
        name, count.written, count.healthy, count.explained, count.open,
        count.refused));
  }
  for (const WriteRow& row : *rows) {
    if (row.content.empty() && !arguments.json) {
      Print(fmt::format("{}: NOT RUN: {}\n", row.implementation,
                        reports::Printable(row.did)));
    }
  }
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(places.build / "models", error)) {
    if (entry.path().extension() != ".gguf") continue;
    ++totals.real;
    CheckHealthy(entry.path(), &totals);
  }
  if (!arguments.json) {
    const int all = totals.healthy + totals.real;
    Print(fmt::format(
        "false positives: {} of {} healthy files ({:.1f} %), {} of them from "
        "{} writers, {} real models\n",
        totals.false_alarms, all,
        all == 0 ? 0.0 : 100.0 * totals.false_alarms / all, totals.healthy,
        totals.writers, totals.real));
  }
  if (totals.healthy + totals.real == 0) {
    return Fail(kExitUsage, "no writer ran and there are no models");
  }
  return totals.false_alarms + totals.open > 0 ? kExitFindings : kExitOk;
}

}  // namespace

void AddWriters(CLI::App& app, const Places& places, Action& action) {
  auto arguments = std::make_shared<WritersArguments>();
  CLI::App* writers = app.add_subcommand(
      "writers",
      "Let known writers write files, judge them, and count false alarms");
  writers->add_option("NAME", arguments->names,
                      "Driver instances (globs); default all");
  writers->add_flag("--json", arguments->json, "One JSON object per file");
  writers->callback([arguments, &places, &action] {
    action = [arguments, &places] { return Writers(places, *arguments); };
  });
}

}  // namespace weightproof::cli
