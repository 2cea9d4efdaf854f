// weightproof fuzz TARGET | --driver CMD|NAME
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/run_target.h"
#include "fuzzers/campaign.h"
#include "fuzzers/finding_store.h"
#include "fuzzers/foreign.h"
#include "fuzzers/target.h"
#include "reports/cli/command.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;

struct FuzzArguments {
  std::string target, driver, tested, engine = "builtin", time = "60s", state;
  std::vector<std::string> replay;
  std::uint64_t seed = 1;
  int jobs = 1;
  double interval = 10;
  bool list = false, empty = false;
};

std::atomic<bool> stop = false;

// "90", "90s", "15m", "8h".
std::optional<std::uint64_t> ParseTime(std::string_view text) {
  std::uint64_t unit = 1;
  if (text.ends_with('h')) unit = 3600;
  if (text.ends_with('m')) unit = 60;
  if (text.ends_with('h') || text.ends_with('m') || text.ends_with('s')) {
    text.remove_suffix(1);
  }
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 ||
      value > 10'000'000) {
    return std::nullopt;
  }
  return value * unit;
}

std::string Commit(const Places& places) {
  const std::string command =
      fmt::format("git -C '{}' rev-parse --short=12 HEAD 2>/dev/null",
                  places.source.string());
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "unknown";
  char text[64] = {};
  const std::size_t size = std::fread(text, 1, sizeof text - 1, pipe);
  pclose(pipe);
  std::string commit(text, size);
  while (!commit.empty() && commit.back() == '\n') commit.pop_back();
  return commit.empty() ? "unknown" : commit;
}

int List() {
  for (const fuzzers::Target& target : fuzzers::Targets()) {
    Print(fmt::format("{:<16} {:<6} {}\n", target.name, target.format,
                      target.about));
  }
  return kExitOk;
}

// The program takes over: its output and its exit code are the command's.
int Replay(const Places& places, const FuzzArguments& arguments) {
  const fs::path program = places.build / "bin" / ("fuzz_" + arguments.target);
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.replay.begin(), arguments.replay.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  return Fail(kExitInternal,
              fmt::format("{} cannot be started", program.string()));
}

// Where an engine's programs are: in the build that was made for it.
std::expected<fs::path, std::string> EnginePrograms(const Places& places,
                                                    const std::string& engine,
                                                    const std::string& target) {
  if (engine == "builtin") return places.build / "bin";
  const fs::path& folder = engine;
  for (const fs::path& bin :
       {places.build / folder / "bin", places.build / "bin"}) {
    if (fs::exists(bin / (engine + "_" + target))) return bin;
  }
  return std::unexpected(fmt::format(
      "{}_{} is not built: ./weightproof fuzz {} --engine {} builds it where "
      "clang 19{} can be had",
      engine, target, target, engine, engine == "afl" ? " and AFL++" : ""));
}

fuzzers::CampaignOptions Options(const Places& places,
                                 const FuzzArguments& arguments,
                                 const fs::path& engine_programs,
                                 std::uint64_t seconds) {
  const fuzzers::Target& target = *fuzzers::FindTarget(arguments.target);
  fuzzers::CampaignOptions options;
  options.target = arguments.target;
  options.engine = arguments.engine;
  options.engine_programs = engine_programs;
  // Findings are confirmed by the same build that found them.
  options.programs = fs::exists(engine_programs / ("fuzz_" + options.target))
                         ? engine_programs
                         : places.build / "bin";
  options.state = arguments.state.empty()
                      ? places.build / "fuzz" / arguments.target
                      : fs::path(arguments.state);
  const fs::path room = places.source / "fuzzers";
  if (!arguments.empty && fs::exists(room / "corpus" / options.target)) {
    options.seeds = room / "corpus" / options.target;
  }
  const std::string format(target.format);
  const fs::path dictionary = room / format / (format + ".dict");
  if (target.extension == format && fs::exists(dictionary)) {
    options.dictionary = dictionary;
  }
  const fs::path mutator =
      places.build / "lib" / ("afl_mutator_" + options.target + ".so");
  if (fs::exists(mutator)) options.afl_mutator = mutator;
  options.seconds = seconds;
  options.seed = arguments.seed;
  options.jobs = arguments.jobs;
  options.interval_seconds = arguments.interval;
  options.commit = Commit(places);
  options.tested = arguments.tested;
  return options;
}

int Campaign(const Places& places, const FuzzArguments& arguments,
             std::uint64_t seconds) {
  const auto programs =
      EnginePrograms(places, arguments.engine, arguments.target);
  if (!programs) return Fail(kExitInternal, programs.error());
  const auto options = Options(places, arguments, *programs, seconds);
  Print(fmt::format("fuzz {}: engine {}, seed {}, state {}\n", options.target,
                    options.engine, options.seed, options.state.string()));
  const auto result =
      fuzzers::RunCampaign(options, stop, [](const std::string& line) {
        Print(reports::PrintableLines(line) + "\n");
      });
  if (!result) return Fail(kExitInternal, result.error());
  const fuzzers::Totals& totals = result->totals;
  Print(fmt::format("this run: {}, findings {} new\n",
                    fuzzers::Describe(result->statistics, result->seconds),
                    result->new_findings));
  Print(fmt::format("all {} runs, {:.0f} s of jobs: {}, findings {}\n",
                    totals.runs, totals.seconds,
                    fuzzers::Describe(totals.statistics, totals.seconds),
                    result->findings));
  return result->findings == 0 ? kExitOk : kExitFindings;
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

std::string Joined(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += "\n  " + word;
  return out;
}

// A name of `list`, or a command line.
std::expected<conformance::Target, conformance::RunError> Implementation(
    const Places& places, const std::string& driver) {
  conformance::RunOptions options;
  options.source_dir = places.source;
  options.build_dir = places.build;
  options.names = {driver};
  options = conformance::WithDefaults(options);
  auto named = conformance::SelectTargets(options);
  if (!named) {
    options.names.clear();
    options.driver_command = driver;
    named = conformance::SelectTargets(options);
  }
  if (!named) return std::unexpected(named.error());
  return named->front();
}

int FuzzDriver(const Places& places, const FuzzArguments& arguments,
               std::uint64_t seconds) {
  auto implementation = Implementation(places, arguments.driver);
  if (!implementation) {
    return Fail(implementation.error().exit_code,
                implementation.error().message);
  }
  fuzzers::ForeignOptions options;
  std::string folder = implementation->name;
  std::ranges::replace(folder, '/', '_');
  options.implementation = std::move(*implementation);
  options.state = arguments.state.empty()
                      ? places.build / "fuzz" / "driver" / folder
                      : fs::path(arguments.state);
  if (!arguments.target.empty()) options.target = arguments.target;
  options.seconds = seconds;
  options.seed = arguments.seed;
  options.interval_seconds = arguments.interval;
  options.commit = Commit(places);
  options.today = Today();
  Print(fmt::format("fuzz --driver {}: seed {}, state {}\n",
                    options.implementation.name, options.seed,
                    options.state.string()));
  const auto result =
      fuzzers::FuzzForeign(options, stop, [](const std::string& line) {
        Print(reports::PrintableLines(line) + "\n");
      });
  if (!result) return Fail(3, result.error());
  std::set<std::string> missing;
  std::ranges::set_difference(result->known_all, result->known_met,
                              std::inserter(missing, missing.end()));
  Print(fmt::format(
      "this run: {}, findings {} new\nall {} runs: {}, findings {}\n",
      fuzzers::Describe(result->statistics, static_cast<double>(seconds)),
      result->new_findings, result->totals.runs,
      fuzzers::Describe(result->totals.statistics, result->totals.seconds),
      result->findings));
  if (!result->known_all.empty()) {
    Print(fmt::format("known deviations met: {} of {} rules{}{}\n",
                      result->known_all.size() - missing.size(),
                      result->known_all.size(),
                      missing.empty() ? "" : "; not met:", Joined(missing)));
  }
  return result->findings == 0 ? kExitOk : kExitFindings;
}

int Fuzz(const Places& places, const FuzzArguments& arguments) {
  if (arguments.list) return List();
  if (arguments.target.empty() && arguments.driver.empty()) {
    return Fail(kExitUsage, "TARGET, --driver or --list?");
  }
  if (!arguments.target.empty() &&
      fuzzers::FindTarget(arguments.target) == nullptr) {
    return Fail(kExitUsage, fmt::format("there is no target {}; --list names "
                                        "them",
                                        arguments.target));
  }
  if (!arguments.replay.empty()) return Replay(places, arguments);
  const auto seconds = ParseTime(arguments.time);
  if (!seconds) {
    return Fail(kExitUsage, fmt::format("--time {}: expected 60s, 15m or 8h",
                                        arguments.time));
  }
  struct sigaction action = {};
  action.sa_handler = [](int) { stop = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return arguments.driver.empty() ? Campaign(places, arguments, *seconds)
                                  : FuzzDriver(places, arguments, *seconds);
}

}  // namespace

void AddFuzz(CLI::App& app, const Places& places, Action& action) {
  auto arguments = std::make_shared<FuzzArguments>();
  CLI::App* fuzz = app.add_subcommand(
      "fuzz", "Fuzz a target in process, or an implementation by its driver");
  fuzz->add_option("TARGET", arguments->target, "See --list");
  fuzz->add_option("--driver", arguments->driver,
                   "An implementation of `list`, or a command that speaks the "
                   "protocol");
  fuzz->add_flag("--list", arguments->list, "Name the targets");
  fuzz->add_option("--time", arguments->time, "60s, 15m, 8h");
  fuzz->add_option("--state", arguments->state,
                   "Folder that a later run goes on from (build/fuzz/TARGET)");
  fuzz->add_option("--seed", arguments->seed, "Of the random choices");
  fuzz->add_option("--engine", arguments->engine)
      ->check(CLI::IsMember({"builtin", "libfuzzer", "afl"}));
  fuzz->add_option("--jobs", arguments->jobs)->check(CLI::Range(1, 256));
  fuzz->add_option("--interval", arguments->interval,
                   "Seconds between two lines of statistics")
      ->check(CLI::Range(0.2, 3600.0));
  fuzz->add_flag("--empty", arguments->empty,
                 "Start from nothing instead of the committed corpus");
  fuzz->add_option("--tested", arguments->tested,
                   "Compare this implementation, by name or .so, with the "
                   "reference");
  fuzz->add_option("--replay", arguments->replay,
                   "Only run these files and folders through every oracle");
  fuzz->callback([arguments, &places, &action] {
    action = [arguments, &places] { return Fuzz(places, *arguments); };
  });
}

}  // namespace weightproof::cli
