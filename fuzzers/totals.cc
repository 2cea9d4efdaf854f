#include "fuzzers/totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

#include "fuzzers/corpus_folder.h"
#include "fuzzers/finding_store.h"
#include "fuzzers/shared_statistics.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;

fs::path FileOf(const fs::path& state) { return state / "totals.json"; }

Json ReadTotals(const fs::path& state) {
  std::ifstream in(FileOf(state), std::ios::binary);
  return in ? Json::parse(in, nullptr, false) : Json::object();
}

std::expected<void, std::string> WriteTotals(const fs::path& state,
                                             const Totals& totals,
                                             const std::string& folded) {
  const Json json = {{"format", "weightproof.fuzz-totals.v1"},
                     {"runs", totals.runs},
                     {"seconds", totals.seconds},
                     {"executions", totals.statistics.executions},
                     {"accepted", totals.statistics.accepted},
                     {"refused", totals.statistics.refused},
                     {"known", totals.statistics.known},
                     {"folded", folded}};
  const std::string text = json.dump(2) + "\n";
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  return StoreFile(FileOf(state), {bytes, text.size()});
}

std::vector<fs::path> JobFiles(const fs::path& state) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(state / "jobs", error), end;
       !error && it != end; it.increment(error)) {
    out.push_back(it->path());
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::expected<Totals, std::string> LoadTotals(const fs::path& state) {
  const Json json = ReadTotals(state);
  Totals out;
  if (json.is_object() && json.empty()) return out;
  try {
    out.runs = json.at("runs");
    out.seconds = json.at("seconds");
    out.statistics.executions = json.at("executions");
    out.statistics.accepted = json.at("accepted");
    for (const auto& [name, count] : json.at("refused").items()) {
      out.statistics.refused[name] = count;
    }
    for (const auto& [name, count] : json.at("known").items()) {
      out.statistics.known[name] = count;
    }
  } catch (const Json::exception&) {
    return std::unexpected(
        fmt::format("{}: holds no totals", FileOf(state).string()));
  }
  return out;
}

std::expected<void, std::string> StoreTotals(const fs::path& state,
                                             const Totals& totals) {
  return WriteTotals(state, totals, "");
}

std::expected<Totals, std::string> FoldJobs(const fs::path& state,
                                            const Totals& add) {
  auto totals = LoadTotals(state);
  if (!totals) return totals;
  const std::vector<fs::path> files = JobFiles(state);
  // The names of what went into the sums are stored with them: if the process
  // ends before the files are removed, they are not added again.
  const std::string done = ReadTotals(state).value("folded", "");
  std::string folded;
  for (const fs::path& file : files) {
    const std::string name = file.filename().string() + "\n";
    folded += name;
    if (done.find(name) != done.npos) continue;
    auto counters = SharedStatistics::Open(file);
    if (!counters) return std::unexpected(counters.error());
    totals->statistics.Add(counters->Read());
  }
  totals->runs += add.runs;
  totals->seconds += add.seconds;
  totals->statistics.Add(add.statistics);
  auto written = WriteTotals(state, *totals, folded);
  if (!written) return std::unexpected(written.error());
  std::error_code ignored;
  for (const fs::path& file : files) fs::remove(file, ignored);
  return totals;
}

std::string Describe(const Statistics& statistics, double seconds) {
  const double all =
      static_cast<double>(std::max<std::uint64_t>(statistics.executions, 1));
  const auto share = [&](std::uint64_t count) {
    return 100 * static_cast<double>(count) / all;
  };
  std::string out = fmt::format(
      "executions {} ({:.0f}/s), accepted {:.1f} %", statistics.executions,
      seconds > 0 ? static_cast<double>(statistics.executions) / seconds : 0.0,
      share(statistics.accepted));
  std::vector<std::pair<std::uint64_t, std::string>> stages;
  for (const auto& [stage, count] : statistics.refused) {
    stages.push_back({count, stage.empty() ? "-" : stage});
  }
  std::ranges::sort(stages, std::greater());
  if (!stages.empty()) out += ", refused";
  for (const auto& [count, stage] : stages) {
    out += fmt::format(" {} {:.1f} %", stage, share(count));
  }
  std::uint64_t known = 0;
  for (const auto& [rule, count] : statistics.known) known += count;
  if (known > 0) {
    out += fmt::format(", known deviations {} ({} rules)", known,
                       statistics.known.size());
  }
  return out;
}

}  // namespace weightproof::fuzzers
