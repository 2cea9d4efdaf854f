// The command line of Weightproof: parses it and hands over to one command.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <string>

#include "reports/cli/command.h"

namespace weightproof::cli {
namespace {

// A value that is empty is a variable that was not set, in a script that would
// otherwise do something else than it says. Returns the option, or "".
std::string EmptyValue(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& value : option->results()) {
        if (value.empty()) return option->get_name();
      }
    }
  }
  return "";
}

// Started without standard streams, as some daemons do: a file that is opened
// later must not take their numbers.
void OpenStandardStreams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) == -1) (void)open("/dev/null", O_RDWR);
  }
}

int Main(int argc, char** argv) {
  CLI::App app{
      "Tells which rules of a quantized-weight format an implementation or a "
      "file breaks, with the bytes that show it.\n"
      "Exit codes: 0 conforming, 1 not, 2 usage, 3 driver unusable, 4 void, "
      "5 internal error, 6 inconclusive or incomplete.",
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
  if (const std::string option = EmptyValue(app); !option.empty()) {
    return Fail(kExitUsage, option + " has an empty value");
  }
  return action();
}

}  // namespace
}  // namespace weightproof::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  weightproof::cli::OpenStandardStreams();
  try {
    return weightproof::cli::Main(argc, argv);
  } catch (const std::exception& error) {
    return weightproof::cli::Fail(
        weightproof::cli::kExitInternal,
        std::string("internal error: ") + error.what());
  }
}
