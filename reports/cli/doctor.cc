// weightproof doctor: a smoke check of the harness itself.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "conformance/runner.h"
#include "reports/cli/command.h"
#include "reports/cli/progress.h"
#include "reports/terminal.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

using reports::Ink;
using reports::Printable;

constexpr int kExitUnusable = 3;

class Doctor {
 public:
  explicit Doctor(const Places& places)
      : places_(places), style_(reports::StyleFor(STDOUT_FILENO)) {}

  int Run() {
    Tool("g++ --version", true);
    Tool("clang++-19 --version", false);
    Tool("ninja --version", true);
    Tool("qemu-x86_64 --version", false);
    Limits();
    Host();
    Vectors();
    Canary();
    Implementations();
    Print(broken_ == 0 ? std::string("The harness works.\n")
                       : fmt::format("{} of the harness do not work.\n",
                                     reports::Count(broken_, "part")));
    return broken_ == 0 ? kExitOk : kExitUnusable;
  }

 private:
  void Say(Ink ink, const char* word, const std::string& what) {
    Print(fmt::format("{}  {}\n",
                      reports::Paint(style_, ink, fmt::format("{:<8}", word)),
                      Printable(what)));
  }
  void Good(const std::string& what) { Say(Ink::kGreen, "ok", what); }
  void Absent(const std::string& what) { Say(Ink::kYellow, "absent", what); }
  void Bad(const std::string& what) {
    Say(Ink::kRed, "BROKEN", what);
    ++broken_;
  }

  // The first line that a fixed command prints, or "".
  static std::string FirstLine(const std::string& command) {
    std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
    if (pipe == nullptr) return "";
    std::array<char, 256> line{};
    const bool got = std::fgets(line.data(), line.size(), pipe) != nullptr;
    while (std::fgetc(pipe) != EOF) {
    }
    if (pclose(pipe) != 0 || !got) return "";
    const std::string text = line.data();
    return text.substr(0, text.find('\n'));
  }

  void Tool(const std::string& command, bool needed) {
    const std::string name = command.substr(0, command.find(' '));
    const std::string line = FirstLine(command);
    if (!line.empty()) return Good(name + ": " + line);
    needed ? Bad(name + " does not run") : Absent(name);
  }

  void Limits() {
    rlimit files = {};
    getrlimit(RLIMIT_NOFILE, &files);
    std::error_code error;
    std::filesystem::create_directories(places_.build, error);
    const auto space = std::filesystem::space(places_.build, error);
    const std::string words = fmt::format(
        "limits: {} open files, {} free in the build folder",
        static_cast<std::uint64_t>(files.rlim_cur),
        error ? "unknown space" : reports::ByteCount(space.available));
    if (files.rlim_cur < 64) return Bad(words);
    if (!error && space.available < (std::uint64_t{64} << 20)) {
      return Bad(words);
    }
    Good(words);
  }

  void Host() {
    const auto host = places_.build / "bin" / "weightproof-host";
    const std::string first =
        FirstLine(reports::ShellQuote(host.string()) + " --list");
    if (first.empty()) return Bad(host.string() + " does not run");
    Good("weightproof-host runs");
  }

  void Vectors() {
    const auto vectors = LoadAllVectors(places_);
    if (!vectors) return Bad("vectors: " + vectors.error());
    if (vectors->vectors.empty()) return Bad("vectors: there are none");
    Good(fmt::format("vectors: {}, set {}", vectors->vectors.size(),
                     vectors->version));
  }

  conformance::RunOptions Options() const {
    conformance::RunOptions options;
    options.source_dir = places_.source;
    options.build_dir = places_.build;
    options.vectors_dir = places_.Vectors();
    options.drivers_dir = places_.source / "impls" / "drivers";
    options.journal = places_.build / "runs" / "doctor.jsonl";
    return options;
  }

  // The smallest run: every run starts with the planted bug.
  void Canary() {
    conformance::RunOptions options = Options();
    options.names = {"gguf_view"};
    options.filter = {"gguf.align.value.zero"};
    Progress progress;
    const auto result = conformance::Run(options, progress);
    progress.Clear();
    if (!result) return Bad("a run: " + result.error().message);
    if (!result->canary_caught) {
      return Bad("the planted bug was not caught: " + result->canary_detail);
    }
    if (conformance::ExitCode(*result) != 0) {
      return Bad("a run of gguf_view on one rule did not pass");
    }
    Good("the planted bug is caught: " + result->canary_detail);
  }

  void Implementations() {
    const auto implementations = conformance::ListImplementations(Options());
    if (!implementations) {
      return Bad("implementations: " + implementations.error().message);
    }
    for (const auto& implementation : *implementations) {
      if (implementation.status == conformance::ImplementationStatus::kRan) {
        Good(fmt::format("{} {}", implementation.name, implementation.version));
      } else {
        Absent(fmt::format("{}: {}", implementation.name, implementation.why));
      }
    }
  }

  const Places& places_;
  reports::TerminalStyle style_;
  std::uint64_t broken_ = 0;
};

}  // namespace

void AddDoctor(CLI::App& app, const Places& places, Action& action) {
  CLI::App* doctor = app.add_subcommand(
      "doctor", "Is the harness itself in order, and what can be run here");
  doctor->callback([&places, &action] {
    action = [&places] { return Doctor(places).Run(); };
  });
}

}  // namespace weightproof::cli
