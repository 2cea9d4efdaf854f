// weightproof disasm
#include <fmt/format.h>

#include <memory>

#include "conformance/mapped_file.h"
#include "corpus/disassembler.h"
#include "reports/cli/command.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;

struct DisasmArguments {
  std::string file;
  std::string out;
  std::uint64_t base = 0;
};

// Where the recipe goes decides where its side file goes.
std::expected<void, std::string> WriteSide(
    std::span<const std::uint8_t> bytes, const corpus::Disassembly& disassembly,
    const fs::path& recipe, const std::string& name) {
  if (disassembly.side.empty()) return {};
  const fs::path folder =
      recipe.has_parent_path() ? recipe.parent_path() : fs::path(".");
  return corpus::WriteSideFile(bytes, disassembly, folder / name);
}

int Disasm(const DisasmArguments& arguments) {
  const auto file = conformance::MappedFile::Open(arguments.file);
  if (!file) {
    return Fail(kExitFindings,
                fmt::format("{}: {}", arguments.file, file.error().message));
  }
  corpus::DisassembleOptions options;
  options.base = arguments.base;
  options.holes = corpus::FindHoles(arguments.file);
  const fs::path out = arguments.out;
  options.side_name =
      (out.empty() ? fs::path(arguments.file).filename() : out.filename())
          .string() +
      ".side";
  const corpus::Disassembly disassembly =
      corpus::Disassemble(file->bytes(), options);
  if (out.empty()) {
    if (!disassembly.side.empty()) {
      return Fail(kExitUsage,
                  "--out is needed: this file has more bytes than a text can "
                  "show, and they go to a file beside the recipe");
    }
    if (file->Changed()) {
      return Fail(kExitFindings,
                  fmt::format("{}: {}", arguments.file,
                              conformance::MappedFile::ChangedError().message));
    }
    Print(disassembly.text);
    return kExitOk;
  }
  const auto side =
      WriteSide(file->bytes(), disassembly, out, options.side_name);
  if (!side) return Fail(kExitInternal, side.error());
  if (file->Changed()) {
    return Fail(kExitFindings,
                fmt::format("{}: {}", arguments.file,
                            conformance::MappedFile::ChangedError().message));
  }
  const auto written = WriteFile(out, disassembly.text);
  return written ? kExitOk : Fail(kExitInternal, written.error());
}

}  // namespace

void AddDisasm(CLI::App& app, const Places&, Action& action) {
  auto arguments = std::make_shared<DisasmArguments>();
  CLI::App* command = app.add_subcommand(
      "disasm", "A file as a recipe that assembles to the same bytes");
  command->add_option("FILE", arguments->file, "A GGUF file, broken or not")
      ->required();
  command->add_option("-o,--out", arguments->out,
                      "The recipe; default standard output");
  command->add_option("--base", arguments->base,
                      "The GGUF starts at this byte");
  command->callback([arguments, &action] {
    action = [arguments] { return Disasm(*arguments); };
  });
}

}  // namespace weightproof::cli
