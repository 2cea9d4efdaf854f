// weightproof run
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>

#include "conformance/runner.h"
#include "reports/cli/command.h"
#include "reports/cli/outputs.h"
#include "reports/cli/past.h"
#include "reports/cli/progress.h"
#include "reports/kills.h"
#include "reports/model.h"

namespace weightproof::cli {
namespace {

struct RunArguments {
  conformance::RunOptions run;
  std::string answers;
  std::string shard;
  std::string vectors;
  std::string drivers;
  std::string journal;
  std::string out;
  bool quiet = false;
  bool offline = std::getenv("WEIGHTPROOF_OFFLINE") != nullptr;
};

// Whether a usage error was found; message then names the option.
bool Resolve(const Places& places, RunArguments* arguments,
             std::string* message) {
  conformance::RunOptions& run = arguments->run;
  run.source_dir = places.source;
  run.build_dir = places.build;
  run.vectors_dir = arguments->vectors.empty()
                        ? places.Vectors()
                        : std::filesystem::path(arguments->vectors);
  run.drivers_dir = arguments->drivers.empty()
                        ? places.source / "impls" / "drivers"
                        : std::filesystem::path(arguments->drivers);
  run.journal = arguments->journal.empty()
                    ? places.build / "runs" / "last.jsonl"
                    : std::filesystem::path(arguments->journal);
  run.answers = arguments->answers;
  if (!arguments->shard.empty()) {
    const auto shard = conformance::ParseShard(arguments->shard);
    if (!shard) {
      *message = fmt::format("--shard: {} is not K/N with 1 <= K <= N",
                             arguments->shard);
      return true;
    }
    run.shard = *shard;
  }
  return false;
}

int RunCommand(const Places& places, RunArguments arguments) {
  std::string message;
  if (Resolve(places, &arguments, &message)) return Fail(kExitUsage, message);
  if (const auto installed =
          InstallPast(arguments.run, arguments.run.names, arguments.offline);
      !installed) {
    return Fail(kExitUsage, installed.error());
  }
  Progress progress;
  const auto result = conformance::Run(arguments.run, progress);
  progress.Clear();
  if (!result) return Fail(result.error().exit_code, result.error().message);
  const auto vectors = conformance::LoadVectors(arguments.run.vectors_dir);
  Json report = reports::BuildReport(
      *result, vectors ? *vectors : conformance::VectorSet{});
  if (const auto matrix =
          ReadFile(places.Report() / "mutants.json", 64 << 20)) {
    reports::AddKills(Json::parse(*matrix, nullptr, false), report);
  }
  const std::filesystem::path folder =
      arguments.out.empty() ? places.Report()
                            : std::filesystem::path(arguments.out);
  if (const auto written = WriteReports(report, folder); !written) {
    return Fail(kExitInternal, written.error());
  }
  if (!arguments.quiet) Print(RenderReport(report, "terminal"));
  Print(fmt::format("\nreport: {}\n", (folder / "report.html").string()));
  return conformance::ExitCode(*result);
}

}  // namespace

void AddRun(CLI::App& app, const Places& places, Action& action) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* run = app.add_subcommand(
      "run", "Run the vectors on implementations and report");
  conformance::RunOptions& options = arguments->run;
  CLI::Option* names = run->add_option(
      "NAME", options.names,
      "Built-in implementations and driver instances (globs), past releases "
      "as NAME@VERSION or NAME@FIRST..LAST; default all that are current");
  CLI::Option* driver =
      run->add_option("--driver", options.driver_command,
                      "A command that speaks the driver protocol");
  CLI::Option* one_shot =
      run->add_option("--one-shot", options.one_shot,
                      "A command on {file} (default: its last word): exit 0 "
                      "accepts, 1 rejects");
  CLI::Option* answers = run->add_option(
      "--answers", arguments->answers,
      "Judge answers recorded elsewhere (a journal), without any driver");
  driver->excludes(names)->excludes(one_shot)->excludes(answers);
  one_shot->excludes(names)->excludes(answers);
  run->add_option("--filter", options.filter,
                  "Only vectors or rules that match these globs");
  run->add_option("--variant", options.variant, "Only this code path");
  run->add_option("--cpu", options.cpu,
                  "Run drivers under qemu-user with this CPU model");
  run->add_option("--shard", arguments->shard, "K/N: part K of N");
  options.jobs =
      static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 4u));
  run->add_option("--jobs", options.jobs, "Implementations at a time")
      ->check(CLI::Range(1, 256));
  run->add_flag("--offline", arguments->offline, "Install no past release");
  run->add_flag("--resume", options.resume, "Go on from the journal");
  run->add_option("--journal", arguments->journal,
                  "Where answers are recorded");
  run->add_option("--vectors", arguments->vectors, "Folder of vector files");
  run->add_option("--drivers", arguments->drivers, "Folder of drivers");
  run->add_option("--out", arguments->out,
                  "Folder for the report; default build/report");
  run->add_flag("--quiet", arguments->quiet, "No summary on the terminal");
  run->callback([arguments, &places, &action] {
    action = [arguments, &places] { return RunCommand(places, *arguments); };
  });
}

}  // namespace weightproof::cli
