// weightproof promote CRASH
#include "fuzzers/life/promote.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/vector_json.h"
#include "fuzzers/corpus_folder.h"
#include "fuzzers/finding_store.h"
#include "reports/cli/finding_input.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct PromoteArguments {
  FindingArguments finding;
  std::string into;
  std::string rule;
  std::string notes;
  bool as_it_is = false;
};

std::expected<void, std::string> Append(const fs::path& path,
                                        std::string_view header,
                                        const std::string& text) {
  std::string all(header);
  if (fs::exists(path)) {
    auto old = ReadFile(path, 64 << 20);
    if (!old) return std::unexpected(old.error());
    all = std::move(*old);
  }
  if (all.find(text) != std::string::npos) return {};  // promoted before
  return WriteFile(path, all + "\n" + text);
}

// How it was found, from the sidecar that the fuzzer leaves beside a finding.
Json SidecarOf(const fs::path& file) {
  for (const fs::path& beside : {fs::path(file.string() + ".json"),
                                 fs::path(file).replace_extension(".json")}) {
    if (const auto text = ReadFile(beside, 1 << 20)) {
      Json sidecar = Json::parse(*text, nullptr, false);
      if (sidecar.is_object()) return sidecar;
    }
  }
  return nullptr;
}

std::string NotesOf(const PromoteArguments& arguments, const Json& sidecar) {
  std::string notes = arguments.notes;
  if (!sidecar.is_object()) return notes;
  const std::string target = sidecar.value("target", "");
  if (target.empty() || !notes.empty()) return notes;
  return fmt::format("Found by fuzzing ({}).", target);
}

// What was promoted and how it came about, for whoever asks later.
Json Record(const fuzzers::Promoted& promoted, const Json& sidecar,
            const std::string& shows) {
  return {{"id", promoted.id},
          {"rule", promoted.rule},
          {"shows", shows},
          {"found", sidecar},
          {"cpu", fuzzers::DescribeCpu()},
          {"vector", conformance::VectorToJson(promoted.vector)}};
}

int Promote(const Places& places, const PromoteArguments& arguments) {
  const auto set = LoadAllVectors(places);
  if (!set) return Fail(kExitInternal, set.error());
  const auto file = ReadFinding(arguments.finding);
  if (!file) return Fail(kExitUsage, file.error());
  const auto shown = HowShown(arguments.finding);
  if (!shown) return Fail(kExitUsage, shown.error());
  const fuzzers::Bytes small =
      arguments.as_it_is ? *file : MinimiseFinding(*file, *shown);
  const Json sidecar = SidecarOf(arguments.finding.file);
  const auto promoted = fuzzers::Promote(
      small, *set, {arguments.rule, NotesOf(arguments, sidecar)});
  if (!promoted) {
    return Fail(kExitFindings,
                "no recipe can be made of it: " + promoted.error());
  }
  const bool elsewhere = !arguments.into.empty();
  const fs::path into = elsewhere ? fs::path(arguments.into)
                                  : places.source / "corpus/recipes/gguf";
  const fs::path recipes =
      into / (elsewhere ? promoted->id + ".recipe" : "90_promoted.recipe");
  const fs::path input = elsewhere
                             ? into / (promoted->id + ".gguf")
                             : places.source / "fuzzers/corpus/gguf_diff" /
                                   fuzzers::CorpusName(small);
  const fs::path record =
      (elsewhere ? into : places.build / "promoted") / (promoted->id + ".json");
  auto written =
      Append(recipes, "# Crashes and disagreements that were found.\n",
             promoted->recipe);
  if (written) written = fuzzers::StoreFile(input, small);
  if (written) {
    written = WriteFile(
        record, Record(*promoted, sidecar, (*shown)(small)).dump(1) + "\n");
  }
  if (!written) return Fail(kExitInternal, written.error());
  Print(fmt::format(
      "{}\n{} bytes, from {}\nrecipe      {}\nregression  {}\n"
      "record      {}\n",
      promoted->id, small.size(), file->size(),
      reports::Printable(recipes.string()), reports::Printable(input.string()),
      reports::Printable(record.string())));
  if (!elsewhere) {
    Print(
        "Next: build/bin/build_vectors corpus/recipes/gguf "
        "conformance/vectors\n");
  }
  return kExitOk;
}

}  // namespace

void AddPromote(CLI::App& app, const Places& places, Action& action) {
  auto arguments = std::make_shared<PromoteArguments>();
  CLI::App* command = app.add_subcommand(
      "promote", "Make of a crash a recipe, a vector and a regression");
  AddFindingOptions(*command, arguments->finding);
  command->add_option("--into", arguments->into,
                      "A folder for all of it, instead of the source tree");
  command->add_option("--rule", arguments->rule,
                      "The rule it exercises; default: the one spec finds");
  command->add_option("--notes", arguments->notes, "Why it matters");
  command->add_flag("--as-it-is", arguments->as_it_is, "Do not minimise");
  command->callback([arguments, &places, &action] {
    action = [arguments, &places] { return Promote(places, *arguments); };
  });
}

}  // namespace weightproof::cli
