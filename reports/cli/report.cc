// weightproof report
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "conformance/runner.h"
#include "reports/cli/command.h"
#include "reports/cli/outputs.h"
#include "reports/cli/progress.h"
#include "reports/model.h"

namespace weightproof::cli {
namespace {

struct ReportArguments {
  std::string file;
  std::string format = "terminal";
  std::string out;
  std::vector<std::string> only;
};

struct Failure {
  int exit_code;
  std::string message;
};

// A report from a journal: its answers are judged again.
std::expected<Json, Failure> FromJournal(const Places& places,
                                         const std::filesystem::path& path) {
  conformance::RunOptions options;
  options.answers = path;
  options.source_dir = places.source;
  options.build_dir = places.build;
  options.vectors_dir = places.Vectors();
  options.drivers_dir = places.source / "impls" / "drivers";
  Progress progress;
  const auto result = conformance::Run(options, progress);
  progress.Clear();
  if (!result) {
    return std::unexpected(
        Failure{result.error().exit_code, result.error().message});
  }
  const auto vectors = LoadAllVectors(places);
  if (!vectors) {
    return std::unexpected(Failure{kExitInternal, vectors.error()});
  }
  return reports::BuildReport(*result, *vectors);
}

std::expected<Json, Failure> Load(const Places& places,
                                  const std::filesystem::path& path) {
  if (path.extension() == ".jsonl") return FromJournal(places, path);
  auto report = ReadReport(path);
  if (report) return std::move(*report);
  return std::unexpected(Failure{kExitFindings, report.error()});
}

// Drops the other implementations and their rows. The error names who is not
// there.
std::expected<void, std::string> KeepOnly(const std::vector<std::string>& names,
                                          Json& report) {
  const auto drop = [&](const char* list, const char* key) {
    Json kept = Json::array();
    for (Json& item : report[list]) {
      const auto name = item.at(key).get<std::string>();
      if (std::ranges::find(names, name) != names.end()) {
        kept.push_back(std::move(item));
      }
    }
    report[list] = std::move(kept);
  };
  for (const std::string& name : names) {
    const auto& list = report["implementations"];
    if (std::ranges::none_of(
            list, [&](const Json& item) { return item.at("name") == name; })) {
      return std::unexpected("--only " + name + ": not in this report");
    }
  }
  drop("implementations", "name");
  drop("rows", "implementation");
  return {};
}

int Report(const Places& places, const ReportArguments& arguments) {
  const std::filesystem::path path =
      arguments.file.empty() ? places.ReportJson()
                             : std::filesystem::path(arguments.file);
  auto report = Load(places, path);
  if (!report) {
    return Fail(report.error().exit_code, report.error().message);
  }
  if (!arguments.only.empty()) {
    const auto kept = KeepOnly(arguments.only, *report);
    if (!kept) return Fail(kExitUsage, kept.error());
  }
  if (!arguments.out.empty()) {
    const auto written = WriteReports(*report, arguments.out);
    return written ? kExitOk : Fail(kExitInternal, written.error());
  }
  Print(RenderReport(*report, arguments.format));
  return kExitOk;
}

}  // namespace

void AddReport(CLI::App& app, const Places& places, Action& action) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* report = app.add_subcommand(
      "report", "Render a report again, in any of its formats");
  report->add_option("FILE", arguments->file,
                     "report.json, or a journal (.jsonl); default the last "
                     "run's");
  report->add_option("--format", arguments->format, "What to print")
      ->check(CLI::IsMember(ReportFormats()))
      ->capture_default_str();
  report->add_option("--only", arguments->only,
                     "Only these implementations, with every row");
  report->add_option("--out", arguments->out,
                     "Write all formats into this folder instead");
  report->callback([arguments, &places, &action] {
    action = [arguments, &places] { return Report(places, *arguments); };
  });
}

}  // namespace weightproof::cli
