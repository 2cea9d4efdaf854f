// The command line of Weightproof: parses it and hands over to one command.
#include <csignal>
#include <exception>
#include <string>

#include "reports/cli/command.h"

namespace weightproof::cli {
namespace {

int Main(int argc, char** argv) {
  CLI::App app{
      "Tells which rules of a quantized-weight format an implementation or a "
      "file breaks, with the bytes that show it.\n"
      "Exit codes: 0 conforming, 1 not, 2 usage, 3 driver unusable, 4 void, "
      "5 internal error, 6 inconclusive.",
      "weightproof"};
  app.require_subcommand(1);
  const Places places = FindPlaces();
  Action action;
  AddRun(app, places, action);
  AddCheck(app, places, action);
  AddExplain(app, places, action);
  AddRepro(app, places, action);
  AddList(app, places, action);
  AddReport(app, places, action);
  AddDiff(app, places, action);
  AddAsm(app, places, action);
  AddDisasm(app, places, action);
  AddExport(app, places, action);
  AddBench(app, places, action);
  AddMinimise(app, places, action);
  AddPromote(app, places, action);
  AddMutants(app, places, action);
  AddHistory(app, places, action);
  AddWriters(app, places, action);
  AddFuzz(app, places, action);
  AddDoctor(app, places, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::string name;
    for (const CLI::App* chosen : app.get_subcommands()) {
      name = chosen->get_name();
    }
    Print(name.empty() ? app.help() : app.get_subcommand(name)->help());
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    return Fail(kExitUsage,
                std::string(error.what()) + "\nRun with --help for usage.");
  }
  return action();
}

}  // namespace
}  // namespace weightproof::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return weightproof::cli::Main(argc, argv);
  } catch (const std::exception& error) {
    return weightproof::cli::Fail(
        weightproof::cli::kExitInternal,
        std::string("internal error: ") + error.what());
  }
}
