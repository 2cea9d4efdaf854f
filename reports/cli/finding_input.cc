#include "reports/cli/finding_input.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "fuzzers/finding.h"
#include "fuzzers/guarded.h"
#include "fuzzers/life/classify.h"
#include "fuzzers/life/reduce.h"
#include "fuzzers/target.h"
#include "impls/registry.h"

namespace weightproof::cli {
namespace {

using fuzzers::ByteSpan;

std::string ClassLine(ByteSpan file) {
  const fuzzers::FileClass kind = fuzzers::ClassOf(file);
  std::string out;
  for (std::size_t i = 0; i < kind.profiles.size(); ++i) {
    const auto& profile = kind.profiles[i];
    out += fmt::format("{}{}: {}{}{}", i == 0 ? "" : "; ",
                       fuzzers::kClassProfiles[i], profile.verdict,
                       profile.rule.empty() ? "" : " ", profile.rule);
  }
  return out;
}

std::string InProcess(const wp_implementation& implementation, ByteSpan file) {
  const fuzzers::Target* const target = fuzzers::FindTarget("gguf_diff");
  const fuzzers::Subjects subjects = {impls::FindBuiltIn("reference"),
                                      {&implementation}};
  const auto finding =
      fuzzers::RunGuarded(*target, subjects, file, fuzzers::Depth::kAll);
  if (!finding) return "not run: " + finding.error();
  return *finding ? BucketOf(**finding) : std::string("agrees");
}

// A file that is gone with the program.
class Scratch {
 public:
  Scratch() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "findingXXXXXX").string();
    const int descriptor = mkstemp(pattern.data());
    if (descriptor >= 0) close(descriptor);
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string Quoted(const std::string& path) {
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// Ten seconds of processor time, and its output is not ours.
std::string OneShot(const std::string& command, const Scratch& scratch,
                    ByteSpan file) {
  const auto text =
      std::string_view(reinterpret_cast<const char*>(file.data()), file.size());
  if (auto written = WriteFile(scratch.path(), text); !written) {
    return "not run: " + written.error();
  }
  std::string line = command;
  for (std::size_t at = 0; (at = line.find("{file}", at)) != line.npos;) {
    const std::string path = Quoted(scratch.path().string());
    line.replace(at, 6, path);
    at += path.size();
  }
  const int status = std::system(
      ("ulimit -t 10; ( " + line + "\n) >/dev/null 2>&1 </dev/null").c_str());
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit {}", WEXITSTATUS(status));
}

}  // namespace

void AddFindingOptions(CLI::App& command, FindingArguments& arguments) {
  command
      .add_option("FILE", arguments.file, "A GGUF file that shows something")
      ->required();
  CLI::Option* implementation = command.add_option(
      "--implementation", arguments.implementation,
      "A built-in reader or PATH.so whose behaviour must stay the same");
  command
      .add_option("--one-shot", arguments.one_shot,
                  "A command with {file} whose exit must stay the same")
      ->excludes(implementation);
}

std::expected<fuzzers::Bytes, std::string> ReadFinding(
    const FindingArguments& arguments) {
  const auto text = ReadFile(arguments.file, std::uint64_t{64} << 20);
  if (!text) return std::unexpected(text.error());
  return fuzzers::Bytes(text->begin(), text->end());
}

std::expected<ShownBy, std::string> HowShown(
    const FindingArguments& arguments) {
  if (!arguments.implementation.empty()) {
    const auto implementation =
        fuzzers::OpenImplementation(arguments.implementation);
    if (!implementation) return std::unexpected(implementation.error());
    if ((*implementation)->gguf_parse == nullptr) {
      return std::unexpected(arguments.implementation +
                             ": does not read GGUF files");
    }
    return [reader = *implementation](ByteSpan file) {
      return ClassLine(file) + " | " + InProcess(*reader, file);
    };
  }
  if (!arguments.one_shot.empty()) {
    return [command = arguments.one_shot,
            scratch = std::make_shared<Scratch>()](ByteSpan file) {
      return ClassLine(file) + " | " + OneShot(command, *scratch, file);
    };
  }
  return [](ByteSpan file) { return ClassLine(file); };
}

fuzzers::Bytes MinimiseFinding(const fuzzers::Bytes& file,
                               const ShownBy& shown) {
  const std::string wanted = shown(file);
  return fuzzers::ReduceGguf(
      file, [&](ByteSpan candidate) { return shown(candidate) == wanted; });
}

}  // namespace weightproof::cli
