// weightproof repro IMPLEMENTATION VECTOR|FILE, or FILE [IMPLEMENTATION]
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "conformance/runner.h"
#include "conformance/vector_json.h"
#include "fuzzers/life/emit.h"
#include "fuzzers/life/file_vector.h"
#include "reference/rule.h"
#include "reports/cli/command.h"
#include "reports/cli/progress.h"
#include "reports/excerpt.h"
#include "reports/model.h"
#include "reports/terminal.h"
#include "reports/text.h"
#include "reports/view.h"

namespace weightproof::cli {
namespace {

using conformance::Vector;
using reports::Ink;
using reports::Json;
using reports::Printable;
using reports::Text;

struct ReproArguments {
  std::string implementation;
  std::string vector;
  std::string driver;
  std::string one_shot;
  std::string variant;
  std::string cpu;
  std::string emit;
  // Of a file: the folder with the one vector that was made of it.
  std::filesystem::path vectors;
};

class Reproduction {
 public:
  Reproduction(const Places& places, const ReproArguments& arguments)
      : places_(places),
        arguments_(arguments),
        style_(reports::StyleFor(STDOUT_FILENO)) {}

  int Run() {
    const auto vectors = arguments_.vectors.empty()
                             ? LoadAllVectors(places_)
                             : LoadVectorsFrom(arguments_.vectors);
    if (!vectors) return Fail(kExitInternal, vectors.error());
    const Vector* vector = nullptr;
    for (const Vector& candidate : vectors->vectors) {
      if (candidate.id == arguments_.vector) vector = &candidate;
    }
    if (vector == nullptr) {
      return Fail(kExitUsage,
                  fmt::format("VECTOR: there is no vector {}; list names "
                              "them all",
                              arguments_.vector));
    }
    Progress progress;
    const auto result = conformance::Run(Options(), progress);
    progress.Clear();
    if (!result) return Fail(result.error().exit_code, result.error().message);
    const Json report = reports::BuildReport(*result, *vectors);
    Show(report, *vector);
    return conformance::ExitCode(*result);
  }

 private:
  conformance::RunOptions Options() const {
    conformance::RunOptions options;
    if (!arguments_.implementation.empty()) {
      options.names = {arguments_.implementation};
    }
    options.driver_command = arguments_.driver;
    options.one_shot = arguments_.one_shot;
    options.variant = arguments_.variant;
    options.cpu = arguments_.cpu;
    options.filter = {arguments_.vector};
    options.source_dir = places_.source;
    options.build_dir = places_.build;
    options.vectors_dir =
        arguments_.vectors.empty() ? places_.Vectors() : arguments_.vectors;
    options.drivers_dir = places_.source / "impls" / "drivers";
    options.journal = places_.build / "runs" / "repro.jsonl";
    return options;
  }

  void Line(std::string_view label, const std::string& text) {
    if (text.empty()) return;
    Print(fmt::format("{:<10} {}\n", label, text));
  }

  void Show(const Json& report, const Vector& vector) {
    const reports::ReportView view(report);
    const Json& rule = view.rule(vector.rule);
    Line("vector", Printable(vector.id));
    Line("rule", fmt::format("{}: {} ({})", Printable(vector.rule),
                             Text(rule, "statement"), Text(rule, "severity")));
    Line("notes", Printable(vector.notes));
    WriteInput(vector);
    const Json& excerpt = view.vector(vector.id).value("excerpt", Json());
    if (!excerpt.is_null()) {
      for (const std::string& line : reports::ExcerptLines(excerpt)) {
        Print("  " + line + "\n");
      }
    }
    Line("request", Printable(Text(view.vector(vector.id), "request")));
    for (const Json& implementation : report.at("implementations")) {
      if (Text(implementation, "status") == "ran") continue;
      Line(Printable(Text(implementation, "name")),
           fmt::format("{}: {}", Text(implementation, "status"),
                       Printable(Text(implementation, "why"))));
    }
    for (const Json& row : report.at("rows")) ShowRow(view, row);
    if (!report.at("summary").at("canary").at("caught").get<bool>()) {
      Print("VOID: the planted bug was not caught\n");
    }
  }

  // The input as a file, for other tools.
  void WriteInput(const Vector& vector) {
    if (vector.bytes.chunks.empty()) return;
    const std::filesystem::path path =
        places_.build / "repro" / (vector.id + "." + vector.format);
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    const auto written = vector.bytes.WriteFile(path);
    Line("file", Printable(written ? path.string() : written.error()));
  }

  void ShowRow(const reports::ReportView& view, const Json& row) {
    const std::string outcome = Text(row, "outcome");
    const Ink ink = outcome == "fail" ? Ink::kRed : Ink::kGreen;
    std::string name = Printable(Text(row, "implementation"));
    if (!Text(row, "variant").empty()) {
      name += " (" + Printable(Text(row, "variant")) + ")";
    }
    Print("\n" + reports::Paint(style_, Ink::kBold, name) + "\n");
    Line("outcome", reports::Paint(style_, ink, outcome));
    Line("expected", Printable(Text(row, "expected")));
    Line("got", Printable(reports::GotWords(row)));
    Line("reason", Printable(Text(row, "reason")));
    Line("difference", Printable(Text(row, "difference")));
    Line("says", Printable(view.DetailOf(row)));
    Line("answer", Printable(Text(row, "answer")));
    const std::string err = view.StderrOf(row);
    if (!err.empty()) Print("stderr\n" + reports::PrintableLines(err) + "\n");
  }

  const Places& places_;
  const ReproArguments& arguments_;
  reports::TerminalStyle style_;
};

std::expected<Vector, std::string> FindVector(const Places& places,
                                              const std::string& id) {
  const auto vectors = LoadAllVectors(places);
  if (!vectors) return std::unexpected(vectors.error());
  for (const Vector& vector : vectors->vectors) {
    if (vector.id == id) return vector;
  }
  return std::unexpected(fmt::format("there is no vector or file {}", id));
}

// A file as a vector of its own: what must come back is what the trusted
// reader says.
std::expected<Vector, std::string> VectorOfFile(const std::string& path) {
  const auto text = ReadFile(path, std::uint64_t{64} << 20);
  if (!text) return std::unexpected(text.error());
  return fuzzers::FileVector({text->begin(), text->end()});
}

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// The case as a test in the language of somebody else's project.
int Emit(const Places& places, const std::string& what,
         const std::string& language) {
  const auto vector =
      IsFile(what) ? VectorOfFile(what) : FindVector(places, what);
  if (!vector) return Fail(kExitUsage, vector.error());
  const auto spec = vector->expect.find("spec");
  if (vector->format != "gguf" || vector->bytes.chunks.empty() ||
      spec == vector->expect.end()) {
    return Fail(kExitUsage, what + ": only a single GGUF file can be emitted");
  }
  if (spec->second.verdict == "policy") {
    return Fail(kExitUsage,
                what + ": the text leaves it open; no test can demand it");
  }
  fuzzers::EmitCase about;
  about.name = vector->id;
  about.rule = vector->rule;
  if (const auto rule = FindRule(vector->rule)) {
    about.statement = Rules()[*rule].statement;
  }
  about.notes = vector->notes;
  about.accept = spec->second.verdict == "accept";
  auto bytes = vector->bytes.Materialize(64 << 20);
  if (!bytes) return Fail(kExitUsage, bytes.error());
  about.file = std::move(*bytes);
  const auto test = fuzzers::EmitTest(about, language);
  if (!test) return Fail(kExitUsage, test.error());
  Print(*test);
  return kExitOk;
}

int ReproFile(const Places& places, ReproArguments arguments) {
  const auto vector = VectorOfFile(arguments.implementation);
  if (!vector) return Fail(kExitUsage, vector.error());
  conformance::VectorSet set;
  set.version = "0.0.0";
  set.vectors = {*vector};
  arguments.vectors = places.build / "repro" / "file";
  const auto written = WriteFile(arguments.vectors / "file.json",
                                 conformance::VectorFileText(set));
  if (!written) return Fail(kExitInternal, written.error());
  arguments.implementation = arguments.vector;
  arguments.vector = vector->id;
  if (arguments.implementation.empty() && arguments.driver.empty() &&
      arguments.one_shot.empty()) {
    arguments.implementation = "gguf_view";
  }
  return Reproduction(places, arguments).Run();
}

// "IMPLEMENTATION VECTOR", or with a driver command just "VECTOR"; a file may
// stand for the vector, on either side, or alone.
int Repro(const Places& places, ReproArguments arguments) {
  if (!arguments.emit.empty()) {
    return Emit(
        places,
        arguments.vector.empty() ? arguments.implementation : arguments.vector,
        arguments.emit);
  }
  if (IsFile(arguments.vector)) {
    std::swap(arguments.vector, arguments.implementation);
  }
  if (IsFile(arguments.implementation)) return ReproFile(places, arguments);
  const bool command = !arguments.driver.empty() || !arguments.one_shot.empty();
  if (arguments.vector.empty()) {
    std::swap(arguments.vector, arguments.implementation);
    if (!command) {
      return Fail(kExitUsage,
                  "VECTOR is missing (or give --driver or --one-shot)");
    }
  } else if (command) {
    return Fail(kExitUsage,
                "IMPLEMENTATION cannot be given together with --driver or "
                "--one-shot");
  }
  return Reproduction(places, arguments).Run();
}

}  // namespace

void AddRepro(CLI::App& app, const Places& places, Action& action) {
  auto arguments = std::make_shared<ReproArguments>();
  CLI::App* repro =
      app.add_subcommand("repro", "One case again, alone, with its bytes");
  repro
      ->add_option("IMPLEMENTATION", arguments->implementation,
                   "Its name in the report, left out with --driver; or a GGUF "
                   "file, and then its name")
      ->required();
  repro->add_option("VECTOR", arguments->vector, "Id of the vector, or a file");
  CLI::Option* driver = repro->add_option("--driver", arguments->driver,
                                          "A command that speaks the protocol");
  repro
      ->add_option("--one-shot", arguments->one_shot,
                   "A command on {file} (default: its last word): exit 0 "
                   "accepts, 1 rejects")
      ->excludes(driver);
  repro->add_option("--variant", arguments->variant, "Only this code path");
  repro->add_option("--cpu", arguments->cpu,
                    "Run the driver under qemu-user with this CPU model");
  repro
      ->add_option("--emit", arguments->emit,
                   "Print the case as a test: cpp, rust, go, py, ts")
      ->check(CLI::IsMember(fuzzers::EmitLanguages()));
  repro->callback([arguments, &places, &action] {
    action = [arguments, &places] { return Repro(places, *arguments); };
  });
}

}  // namespace weightproof::cli
