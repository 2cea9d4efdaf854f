// weightproof mutants [--layers L,..] [--json] [NAME...]
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "conformance/deviations.h"
#include "fuzzers/proof/kill_matrix.h"
#include "reports/cli/command.h"

namespace weightproof::cli {
namespace {

using fuzzers::KillMatrix;
using fuzzers::LayerResult;
using fuzzers::Mutant;

struct MutantsArguments {
  std::vector<std::string> names;
  std::vector<std::string> layers = {"vectors", "replay", "properties",
                                     "fuzzing"};
  std::uint64_t executions = 30000;
  bool json = false;
};

LayerResult MakeLayer(const std::string& name, const Places& places,
                      const conformance::VectorSet& set,
                      const MutantsArguments& arguments) {
  if (name == "vectors") return fuzzers::MakeVectorLayer(set);
  if (name == "replay") {
    return fuzzers::MakeReplayLayer(places.source / "fuzzers" / "corpus", set);
  }
  if (name == "properties") return fuzzers::MakePropertyLayer();
  return fuzzers::MakeFuzzLayer(arguments.executions);
}

// The mutants that match a name or glob; all if there is none.
std::expected<std::vector<Mutant>, std::string> Choose(
    std::vector<Mutant> all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<Mutant> chosen;
  for (const Mutant& mutant : all) {
    if (std::ranges::any_of(names, [&mutant](const std::string& name) {
          return conformance::GlobMatches(name, mutant.name);
        })) {
      chosen.push_back(mutant);
    }
  }
  if (chosen.empty()) return std::unexpected("NAME: no mutant is called so");
  return chosen;
}

void ShowProgress(std::string_view layer, std::string_view mutant,
                  std::size_t done, std::size_t total) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{}: {} {}/{}", layer,
             mutant.empty() ? "the unmutated source" : mutant, done, total);
}

// Vectors must kill every mutant that ran, fuzzing nine of ten; no case may
// fail without a bug.
int Verdict(const KillMatrix& matrix) {
  const std::size_t ran = matrix.Ran();
  if (ran == 0) return kExitInconclusive;
  for (const fuzzers::LayerRow& layer : matrix.layers) {
    const std::size_t killed = matrix.Killed(layer.name);
    if (!layer.unsound.empty()) return kExitFindings;
    if (layer.name == "vectors" && killed < ran) return kExitFindings;
    if (layer.name == "fuzzing" && 10 * killed < 9 * ran) return kExitFindings;
  }
  return kExitOk;
}

int Mutants(const Places& places, const MutantsArguments& arguments) {
  const auto set = LoadAllVectors(places);
  if (!set) return Fail(kExitInternal, set.error());
  auto all = fuzzers::LoadMutants(places.build / "lib" / "mutants");
  if (!all) {
    return Fail(kExitInternal,
                all.error() + " (built by the target wp_mutants)");
  }
  const auto mutants = Choose(std::move(*all), arguments.names);
  if (!mutants) return Fail(kExitUsage, mutants.error());
  std::vector<std::unique_ptr<fuzzers::Layer>> layers;
  for (const std::string& name : arguments.layers) {
    auto layer = MakeLayer(name, places, *set, arguments);
    if (!layer) return Fail(kExitInternal, layer.error());
    layers.push_back(std::move(*layer));
  }
  const KillMatrix matrix =
      fuzzers::RunKillMatrix(*mutants, layers, ShowProgress);
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  const auto json = ToJson(matrix, *set);
  const std::string text =
      json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  // Some mutants say nothing of what all of them leave idle.
  const bool whole = arguments.names.empty();
  if (whole) {
    auto written = WriteFile(places.Report() / "mutants.json", text);
    if (!written) return Fail(kExitInternal, written.error());
  }
  Print(arguments.json ? text
                       : ToText(matrix) + (whole ? IdleToText(matrix, *set)
                                                 : std::string()));
  return Verdict(matrix);
}

}  // namespace

void AddMutants(CLI::App& app, const Places& places, Action& action) {
  auto arguments = std::make_shared<MutantsArguments>();
  CLI::App* mutants = app.add_subcommand(
      "mutants", "Which layer of tests kills which planted bug");
  mutants->add_option("NAME", arguments->names,
                      "Mutants, or globs over their names; default all");
  mutants
      ->add_option("--layers", arguments->layers,
                   "vectors, replay, properties, fuzzing; default all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"vectors", "replay", "properties", "fuzzing"}));
  mutants->add_option("--executions", arguments->executions,
                      "Of the layer fuzzing: inputs for each target and seed");
  mutants->add_flag("--json", arguments->json,
                    "What is left in report/mutants.json, too");
  mutants->callback([arguments, &places, &action] {
    action = [arguments, &places] { return Mutants(places, *arguments); };
  });
}

}  // namespace weightproof::cli
