#include "fuzzers/engine_commands.h"

#include <fmt/format.h>

#include <algorithm>

namespace weightproof::fuzzers {
namespace {

// A stack for each allocation costs more than the target does, and freed memory
// that waits long costs page faults.
constexpr const char* kAddressSanitizer =
    "malloc_context_size=0:detect_leaks=0:quarantine_size_mb=8:"
    "thread_local_quarantine_size_kb=256";

void AddBuiltIn(const CampaignOptions& options, std::uint64_t seed,
                std::uint64_t seconds, const std::string& statistics,
                EngineCommand& out) {
  out.argv = {(options.programs / ("fuzz_" + options.target)).string(),
              "--fuzz",
              "--seconds",
              std::to_string(seconds),
              "--seed",
              std::to_string(seed),
              "--state",
              options.state.string(),
              "--statistics",
              statistics,
              "--commit",
              options.commit};
  if (options.tested.empty()) return;
  out.argv.push_back("--tested");
  out.argv.push_back(options.tested);
}

void AddLibFuzzer(const CampaignOptions& options, std::uint64_t seed,
                  std::uint64_t seconds, EngineCommand& out) {
  out.environment.push_back({"ASAN_OPTIONS", kAddressSanitizer});
  out.argv = {
      (options.engine_programs / ("libfuzzer_" + options.target)).string(),
      (options.state / "corpus").string(),
      fmt::format("-max_total_time={}", seconds),
      fmt::format("-seed={}", seed % 0xffffffff),
      fmt::format("-artifact_prefix={}/",
                  (options.state / "incoming").string()),
      "-max_len=4096",
      "-timeout=10",
      "-rss_limit_mb=4096",
      "-print_final_stats=1",
      "-detect_leaks=0",
      "-reload=1"};
  if (!options.dictionary.empty()) {
    out.argv.push_back("-dict=" + options.dictionary.string());
  }
}

void AddAfl(const CampaignOptions& options, int number, std::uint64_t seed,
            std::uint64_t seconds, EngineCommand& out) {
  for (const char* name :
       {"AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "AFL_SKIP_CPUFREQ",
        "AFL_NO_UI", "AFL_NO_AFFINITY", "AFL_AUTORESUME"}) {
    out.environment.push_back({name, "1"});
  }
  out.environment.push_back(
      {"ASAN_OPTIONS",
       fmt::format("abort_on_error=1:symbolize=0:{}", kAddressSanitizer)});
  if (!options.afl_mutator.empty()) {
    out.environment.push_back(
        {"AFL_CUSTOM_MUTATOR_LIBRARY", options.afl_mutator.string()});
  }
  out.argv = {"/usr/bin/afl-fuzz", "-i", (options.state / "corpus").string(),
              "-o", (options.state / "afl").string(), "-V",
              std::to_string(seconds), "-s", std::to_string(seed % 0x7fffffff),
              "-t", "10000", "-m", "none", "-G", "4096",
              // One main instance; the others sync with it.
              number == 0 ? "-M" : "-S",
              number == 0 ? "main" : fmt::format("second{}", number)};
  if (!options.dictionary.empty()) {
    out.argv.push_back("-x");
    out.argv.push_back(options.dictionary.string());
  }
  out.argv.push_back("--");
  out.argv.push_back(
      (options.engine_programs / ("afl_" + options.target)).string());
}

}  // namespace

EngineCommand CommandOf(const CampaignOptions& options, int number,
                        std::uint64_t seed, std::uint64_t seconds,
                        const std::filesystem::path& statistics) {
  seconds = std::max<std::uint64_t>(1, seconds);
  EngineCommand out;
  out.environment = {{"WEIGHTPROOF_FUZZ_STATISTICS", statistics.string()}};
  if (!options.tested.empty()) {
    out.environment.push_back({"WEIGHTPROOF_FUZZ_TESTED", options.tested});
  }
  if (options.engine == "libfuzzer") {
    AddLibFuzzer(options, seed, seconds, out);
  } else if (options.engine == "afl") {
    AddAfl(options, number, seed, seconds, out);
  } else {
    AddBuiltIn(options, seed, seconds, statistics.string(), out);
  }
  return out;
}

}  // namespace weightproof::fuzzers
