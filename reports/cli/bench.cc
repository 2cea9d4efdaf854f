// weightproof bench: runs the benchmark programs that compare (see
// impls/ratio_bench.h) and shows one table.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "reports/cli/command.h"
#include "reports/terminal.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

using Json = nlohmann::json;
using reports::Ink;
using reports::Printable;

// Programs in bin/ of the build folder, with their own arguments.
constexpr std::array<const char*, 4> kPrograms = {
    "q8_0_bench avx512", "q8_0_bench avx2", "gguf_view_bench",
    "gguf_values_bench"};

struct Options {
  bool json = false;
  bool quick = false;
  std::string filter;
};

// Features on which the kernels depend, of those that the processor names.
Json CpuFlags(const std::string& line) {
  static const std::set<std::string> known = {
      "ssse3",    "sse4_2",   "avx",         "avx2",     "fma",
      "f16c",     "avx512f",  "avx512bw",    "avx512vl", "avx512_vnni",
      "avx_vnni", "amx_int8", "avx512_vbmi", "gfni",     "asimddp",
      "i8mm",     "sve"};
  Json flags = Json::array();
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (known.contains(word)) flags.push_back(word);
  }
  return flags;
}

Json Machine() {
  Json machine = {{"cpu", "unknown"},
                  {"flags", Json::array()},
                  {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
                  {"load", nullptr},
                  {"unix_time", static_cast<std::int64_t>(std::time(nullptr))}};
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(std::min(colon + 2, line.size()));
    if (line.starts_with("model name")) {
      machine["cpu"] = reports::ValidUtf8(value);
    }
    if (line.starts_with("flags") || line.starts_with("Features")) {
      machine["flags"] = CpuFlags(value);
    }
  }
  double load = 0;
  if (getloadavg(&load, 1) == 1) machine["load"] = load;
  return machine;
}

// Runs a shell command; gives its standard error. Nothing if it failed.
std::expected<std::string, std::string> StandardError(
    const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::unexpected("cannot start a shell");
  std::string text;
  std::array<char, 4096> part;
  for (std::size_t got = 1; got > 0;) {
    got = std::fread(part.data(), 1, part.size(), pipe);
    text.append(part.data(), got);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  const std::string last = text.substr(
      text.size() < 2 ? 0 : text.find_last_of('\n', text.size() - 2) + 1);
  return std::unexpected("it failed: " + last);
}

// A row of the table from a result of Google Benchmark; nothing if it compares
// nothing.
std::optional<Json> RowOf(const Json& result) {
  const std::string label = result.value("label", "");
  const std::size_t first = label.find('|'), last = label.rfind('|');
  if (first == last) return std::nullopt;
  Json row = {{"work", label.substr(0, first)},
              {"own", label.substr(first + 1, last - first - 1)},
              {"peer", label.substr(last + 1)},
              {"benchmark", result.value("name", "")},
              {"ratio", nullptr},
              {"ratio_low", nullptr},
              {"ratio_high", nullptr},
              {"target", nullptr},
              {"met", nullptr},
              {"bytes_per_second", nullptr},
              {"turns", result.value("iterations", Json())}};
  for (const char* name :
       {"ratio", "ratio_low", "ratio_high", "target", "bytes_per_second"}) {
    if (result.contains(name)) row[name] = result[name];
  }
  if (row["ratio"].is_number() && row["target"].is_number()) {
    row["met"] = row["ratio"] >= row["target"];
  }
  return row;
}

class Bench {
 public:
  Bench(const Places& places, const Options& options)
      : places_(places), options_(options) {}

  int Run() {
    Json table = {{"format", "weightproof.bench.v1"},
                  {"machine", Machine()},
                  {"rows", Json::array()},
                  {"not_run", Json::array()}};
    for (const std::string program : kPrograms) {
      if (const auto problem = RunProgram(program, table); !problem.empty()) {
        return Fail(kExitInternal, program + ": " + problem);
      }
    }
    const auto path = places_.Report() / "bench.json";
    if (const auto written = WriteFile(path, table.dump(2) + "\n"); !written) {
      return Fail(kExitInternal, written.error());
    }
    Print(options_.json ? table.dump(2) + "\n" : Table(table));
    return kExitOk;
  }

 private:
  std::string Command(const std::string& program,
                      const std::filesystem::path& out) const {
    std::string command =
        reports::ShellQuote((places_.build / "bin").string()) + "/" + program +
        " --benchmark_out_format=json --benchmark_out=" +
        reports::ShellQuote(out.string());
    if (options_.quick) command += " --benchmark_min_time=0.02";
    const std::string filter = !options_.filter.empty() ? options_.filter
                               : options_.quick
                                   ? "-dram|gemma"  // all but these
                                   : "";
    if (!filter.empty()) {
      command += " --benchmark_filter=" + reports::ShellQuote(filter);
    }
    return command + " 2>&1 >/dev/null";
  }

  // Adds the rows of one program. Gives what went wrong, or "".
  std::string RunProgram(const std::string& program, Json& table) {
    const auto out =
        places_.build / "report" / fmt::format(".bench.{}.json", ::getpid());
    std::error_code ignored;
    std::filesystem::create_directories(out.parent_path(), ignored);
    if (::isatty(STDERR_FILENO) != 0) {
      fmt::print(stderr, "weightproof: running {}\n", program);
    }
    const auto said = StandardError(Command(program, out));
    const auto text = said ? ReadFile(out, 64u << 20) : std::string();
    std::filesystem::remove(out, ignored);
    if (!said) return said.error();
    AddNotRun(*said, table);
    // No result file: everything was filtered out.
    const Json results =
        text ? Json::parse(*text, nullptr, false) : Json::object();
    if (results.is_discarded()) return text->empty() ? "" : "unreadable output";
    for (const Json& result : results.value("benchmarks", Json::array())) {
      if (result.value("error_occurred", false)) {
        return result.value("name", "") + ": " +
               result.value("error_message", "");
      }
      if (auto row = RowOf(result)) table["rows"].push_back(std::move(*row));
    }
    return "";
  }

  static void AddNotRun(const std::string& said, Json& table) {
    constexpr std::string_view kMark = ": NOT RUN: ";
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t at = line.find(kMark);
      if (at == std::string::npos) continue;
      table["not_run"].push_back(
          {{"what", reports::ValidUtf8(line.substr(0, at))},
           {"why", reports::ValidUtf8(line.substr(at + kMark.size()))}});
    }
  }

  std::string Line(const Json& row) const {
    const auto text = [&](const char* name) {
      return Printable(row[name].get<std::string>());
    };
    const auto number = [&](const char* name) {
      return row[name].is_number() ? fmt::format("{:.2f}", double{row[name]})
                                   : std::string("-");
    };
    const std::string ratio =
        fmt::format("{:>5} [{}, {}]", number("ratio"), number("ratio_low"),
                    number("ratio_high"));
    std::string verdict;
    if (row["met"].is_boolean()) {
      verdict = row["met"] ? Paint(style_, Ink::kGreen, "met")
                           : Paint(style_, Ink::kRed, "MISSED");
    }
    return fmt::format("{:<28} {:<13} {:<26} {:<20} {:>6}  {}\n", text("work"),
                       text("own"), text("peer"), ratio, number("target"),
                       verdict);
  }

  std::string Table(const Json& table) const {
    const Json& machine = table["machine"];
    std::string flags;
    for (const Json& flag : machine["flags"]) {
      flags += (flags.empty() ? "" : " ") + flag.get<std::string>();
    }
    std::string out = fmt::format(
        "{}, {}, load {}\n{}\n\n", Printable(machine["cpu"].get<std::string>()),
        reports::Count(machine["processors"].get<std::uint64_t>(), "processor"),
        machine["load"].dump(), Printable(flags));
    out += fmt::format("{:<28} {:<13} {:<26} {:<20} {:>6}\n", "work", "own",
                       "against", "ratio [quartiles]", "target");
    std::uint64_t met = 0, judged = 0;
    for (const Json& row : table["rows"]) {
      out += Line(row);
      judged += row["met"].is_boolean() ? 1 : 0;
      met += row["met"] == true ? 1 : 0;
    }
    for (const Json& entry : table["not_run"]) {
      out += fmt::format("{}: {}: {}\n", Paint(style_, Ink::kYellow, "NOT RUN"),
                         Printable(entry["what"].get<std::string>()),
                         Printable(entry["why"].get<std::string>()));
    }
    return out + fmt::format(
                     "\n{} of {} targets met. A ratio is time of the other "
                     "over own time, by turns in one process.\n",
                     met, judged);
  }

  const Places& places_;
  const Options& options_;
  reports::TerminalStyle style_ = reports::StyleFor(STDOUT_FILENO);
};

}  // namespace

void AddBench(CLI::App& app, const Places& places, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* bench = app.add_subcommand(
      "bench", "Speed beside that of others, as ratios taken by turns");
  bench->add_flag("--json", options->json, "The table as JSON");
  bench->add_flag("--quick", options->quick,
                  "A rough figure of each, none beyond the caches");
  bench->add_option("--filter", options->filter,
                    "Only benchmarks whose name matches this expression");
  bench->callback([options, &places, &action] {
    action = [options, &places] { return Bench(places, *options).Run(); };
  });
}

}  // namespace weightproof::cli
