// What the commands of the program share. Each command is one file that adds
// itself to the parser and says what to do when it was chosen.
#ifndef WEIGHTPROOF_REPORTS_CLI_COMMAND_H_
#define WEIGHTPROOF_REPORTS_CLI_COMMAND_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "conformance/vector.h"

namespace weightproof::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFindings = 1;  // not conforming, or unreadable
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInternal = 5;
inline constexpr int kExitInconclusive = 6;

// Where things are.
struct Places {
  std::filesystem::path source;  // WEIGHTPROOF_ROOT, else where it was built
  std::filesystem::path build;   // WEIGHTPROOF_BUILD, else where it was built

  std::filesystem::path Report() const { return build / "report"; }
  std::filesystem::path ReportJson() const { return Report() / "report.json"; }
  std::filesystem::path Vectors() const {
    return source / "conformance" / "vectors";
  }
};
Places FindPlaces();

// Set by the command that was chosen; returns the exit code.
using Action = std::function<int()>;

void AddRun(CLI::App& app, const Places& places, Action& action);
void AddCheck(CLI::App& app, const Places& places, Action& action);
void AddExplain(CLI::App& app, const Places& places, Action& action);
void AddRepro(CLI::App& app, const Places& places, Action& action);
void AddList(CLI::App& app, const Places& places, Action& action);
void AddReport(CLI::App& app, const Places& places, Action& action);
void AddDiff(CLI::App& app, const Places& places, Action& action);
void AddAsm(CLI::App& app, const Places& places, Action& action);
void AddDisasm(CLI::App& app, const Places& places, Action& action);
void AddExport(CLI::App& app, const Places& places, Action& action);
void AddBench(CLI::App& app, const Places& places, Action& action);
void AddMinimise(CLI::App& app, const Places& places, Action& action);
void AddPromote(CLI::App& app, const Places& places, Action& action);
void AddMutants(CLI::App& app, const Places& places, Action& action);
void AddHistory(CLI::App& app, const Places& places, Action& action);
void AddWriters(CLI::App& app, const Places& places, Action& action);
void AddFuzz(CLI::App& app, const Places& places, Action& action);
void AddDoctor(CLI::App& app, const Places& places, Action& action);

// "weightproof: message" on standard error, made printable. Returns code.
int Fail(int code, std::string_view message);

// Standard output. Nothing is lost silently: a failed write ends the program
// with kExitInternal, a closed pipe quietly.
void Print(std::string_view text);

// A whole file of at most max bytes. The error names the path.
std::expected<std::string, std::string> ReadFile(
    const std::filesystem::path& path, std::uint64_t max);
// Writes a file by way of a temporary one beside it, so that a reader never
// sees half of it. Creates the folder. The error names the path.
std::expected<void, std::string> WriteFile(const std::filesystem::path& path,
                                           std::string_view contents);

// The vectors under places, or an error that names the file and the place.
std::expected<conformance::VectorSet, std::string> LoadAllVectors(
    const Places& places);

// The vectors of another folder.
std::expected<conformance::VectorSet, std::string> LoadVectorsFrom(
    const std::filesystem::path& folder);

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_COMMAND_H_
