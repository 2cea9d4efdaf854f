// weightproof minimise FILE
#include <fmt/format.h>

#include <memory>

#include "reports/cli/finding_input.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

struct MinimiseArguments {
  FindingArguments finding;
  std::string out;
};

int Minimise(const MinimiseArguments& arguments) {
  const auto file = ReadFinding(arguments.finding);
  if (!file) return Fail(kExitUsage, file.error());
  const auto shown = HowShown(arguments.finding);
  if (!shown) return Fail(kExitUsage, shown.error());
  const fuzzers::Bytes small = MinimiseFinding(*file, *shown);
  const std::string out =
      arguments.out.empty() ? arguments.finding.file + ".min" : arguments.out;
  const auto written = WriteFile(
      out, {reinterpret_cast<const char*>(small.data()), small.size()});
  if (!written) return Fail(kExitInternal, written.error());
  Print(fmt::format("{}\n{} from {} bytes\n{}\n", reports::Printable(out),
                    small.size(), file->size(),
                    reports::Printable((*shown)(small))));
  return kExitOk;
}

}  // namespace

void AddMinimise(CLI::App& app, const Places&, Action& action) {
  auto arguments = std::make_shared<MinimiseArguments>();
  CLI::App* command = app.add_subcommand(
      "minimise", "A smaller file that shows the same as this one");
  AddFindingOptions(*command, arguments->finding);
  command->add_option("-o,--out", arguments->out, "Default: FILE.min");
  command->callback([arguments, &action] {
    action = [arguments] { return Minimise(*arguments); };
  });
}

}  // namespace weightproof::cli
