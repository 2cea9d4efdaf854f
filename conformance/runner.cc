#include "conformance/runner.h"

#include <signal.h>

#include <atomic>
#include <charconv>

#include "conformance/run_target.h"
#include "conformance/running.h"

namespace weightproof::conformance {
namespace {

std::atomic<bool> stop_requested = false;

// Turns SIGINT and SIGTERM into a flag as long as it lives.
class StopOnSignal {
 public:
  StopOnSignal() {
    stop_requested = false;
    struct sigaction action = {};
    action.sa_handler = [](int) { stop_requested = true; };
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~StopOnSignal() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  struct sigaction old_int_ = {};
  struct sigaction old_term_ = {};
};

}  // namespace

std::optional<Shard> ParseShard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  Shard shard;
  const char* end = text.data() + text.size();
  const auto first =
      std::from_chars(text.data(), text.data() + slash, shard.index);
  const auto second =
      std::from_chars(text.data() + slash + 1, end, shard.count);
  if (first.ec != std::errc() || first.ptr != text.data() + slash ||
      second.ec != std::errc() || second.ptr != end || shard.index < 1 ||
      shard.index > shard.count) {
    return std::nullopt;
  }
  --shard.index;
  return shard;
}

std::expected<RunResult, RunError> Run(const RunOptions& options,
                                       RunObserver& observer) {
  const StopOnSignal signals;
  return Running(WithDefaults(options), observer, stop_requested).Go();
}

std::expected<std::vector<Implementation>, RunError> ListImplementations(
    const RunOptions& options) {
  auto targets = AllTargets(WithDefaults(options));
  if (!targets) return std::unexpected(targets.error());
  std::vector<Implementation> all;
  for (const Target& target : *targets) {
    Implementation about;
    about.name = target.name;
    about.version = target.version;
    about.language = target.language;
    about.built_in = target.built_in;
    about.why = target.why_not;
    about.status = target.why_not.empty() ? ImplementationStatus::kRan
                                          : ImplementationStatus::kNotRun;
    all.push_back(std::move(about));
  }
  return all;
}

}  // namespace weightproof::conformance
