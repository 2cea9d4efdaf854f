// weightproof asm
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <system_error>

#include "corpus/assembler.h"
#include "reports/cli/command.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMaxRecipe = 64 << 20;

struct AsmArguments {
  std::string recipe;
  std::string out;
};

std::string Named(const corpus::Assembly& assembly, const fs::path& recipe) {
  return assembly.recipe.id.empty() ? recipe.stem().string()
                                    : assembly.recipe.id;
}

// Writes one file, or a set into a folder of the recipe's name. Names come
// from the recipe: none may lead out of the folder.
std::expected<void, std::string> Write(const corpus::Assembly& assembly,
                                       const fs::path& folder,
                                       const std::string& name) {
  const auto write =
      [](const corpus::Bytes& bytes,
         const fs::path& path) -> std::expected<void, std::string> {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    auto written = bytes.WriteFile(path);
    if (!written) return std::unexpected(written.error());
    Print(fmt::format("{}  {}\n", reports::Printable(path.string()),
                      reports::ByteCount(bytes.Size())));
    return {};
  };
  const auto plain = [](const std::string& text) {
    return !text.empty() && text.find('/') == text.npos && text != "." &&
           text != "..";
  };
  if (!plain(name)) return std::unexpected(name + ": not a file name");
  if (assembly.files.empty()) {
    return write(assembly.bytes, folder / (name + ".gguf"));
  }
  for (const corpus::AssembledFile& file : assembly.files) {
    if (!plain(file.name)) {
      return std::unexpected(file.name + ": not a file name");
    }
    if (auto done = write(file.bytes, folder / name / file.name); !done) {
      return done;
    }
  }
  return {};
}

int Asm(const AsmArguments& arguments) {
  const fs::path path = arguments.recipe;
  const auto text = ReadFile(path, kMaxRecipe);
  if (!text) return Fail(kExitUsage, text.error());
  corpus::AssembleOptions options;
  options.folder = path.has_parent_path() ? path.parent_path() : ".";
  const auto assemblies = corpus::AssembleAll(*text, options);
  if (!assemblies) {
    return Fail(
        kExitFindings,
        fmt::format("{}:{}:{}: {}", path.string(), assemblies.error().line,
                    assemblies.error().column, assemblies.error().message));
  }
  const fs::path out = arguments.out;
  // One recipe and the name of a file: exactly that file.
  if (assemblies->size() == 1 && assemblies->front().files.empty() &&
      out.has_extension()) {
    const auto written = assemblies->front().bytes.WriteFile(out);
    return written ? kExitOk : Fail(kExitInternal, written.error());
  }
  for (const corpus::Assembly& assembly : *assemblies) {
    const auto written =
        Write(assembly, out.empty() ? "." : out, Named(assembly, path));
    if (!written) return Fail(kExitInternal, written.error());
  }
  return kExitOk;
}

}  // namespace

void AddAsm(CLI::App& app, const Places&, Action& action) {
  auto arguments = std::make_shared<AsmArguments>();
  CLI::App* command = app.add_subcommand(
      "asm", "Assemble recipes into the files they describe");
  command->add_option("RECIPE", arguments->recipe, "A text of recipes")
      ->required();
  command->add_option("-o,--out", arguments->out,
                      "The file (one recipe), or a folder; default here");
  command->callback([arguments, &action] {
    action = [arguments] { return Asm(*arguments); };
  });
}

}  // namespace weightproof::cli
