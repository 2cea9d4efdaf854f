#include "fuzzers/campaign.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "fuzzers/corpus_folder.h"
#include "fuzzers/engine_commands.h"
#include "fuzzers/finding_store.h"
#include "fuzzers/job.h"
#include "fuzzers/shared_statistics.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Result = std::expected<void, std::string>;

constexpr int kProgramBroken = 5, kNoProgram = 127;

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const std::atomic<bool>& stop,
           const std::function<void(const std::string&)>& line)
      : options_(options), stop_(stop), line_(line) {}

  std::expected<CampaignResult, std::string> Run() {
    if (auto prepared = Prepare(); !prepared) {
      return std::unexpected(prepared.error());
    }
    Result watched = StartAll();
    if (watched) watched = Watch();
    for (const Job& job : jobs_) {
      if (job.pid > 0) EndJob(job.pid);
    }
    // What was found before an error counts all the same.
    if (watched) watched = AdoptIncoming();
    if (watched) watched = AdoptQueue();
    Totals add;
    add.runs = 1;
    result_.seconds = Seconds();
    add.seconds = result_.seconds * static_cast<double>(jobs_.size());
    result_.statistics = Sum();
    auto totals = FoldJobs(options_.state, add);
    if (!watched) return std::unexpected(watched.error());
    if (!totals) return std::unexpected(totals.error());
    result_.totals = *totals;
    CountFindings();
    result_.interrupted = stop_;
    return result_;
  }

 private:
  struct Job {
    pid_t pid = 0;
    int number = 0;
    int starts = 0;
    int fruitless = 0;             // starts in a row that ran nothing
    std::uint64_t executions = 0;  // at the last start
    fs::path statistics, log;
  };

  fs::path Program() const {
    return options_.programs / ("fuzz_" + options_.target);
  }
  fs::path Incoming() const { return options_.state / "incoming"; }

  Result Prepare() {
    std::error_code error;
    fs::create_directories(Incoming(), error);
    if (error) {
      return std::unexpected(
          fmt::format("{}: {}", options_.state.string(), error.message()));
    }
    auto folded = FoldJobs(options_.state);
    if (!folded) return std::unexpected(folded.error());
    auto store = FindingStore::Open(options_.state / "findings");
    if (!store) return std::unexpected(store.error());
    before_ = store->size();
    known_ = before_;
    if (auto adopted = AdoptIncoming(); !adopted) return adopted;
    return CopySeeds();
  }

  Result CopySeeds() {
    const fs::path corpus = options_.state / "corpus";
    std::error_code error;
    fs::create_directories(corpus, error);
    if (error) {
      return std::unexpected(
          fmt::format("{}: {}", corpus.string(), error.message()));
    }
    if (!fs::is_empty(corpus, error)) return {};
    if (options_.seeds.empty()) {
      // AFL++ wants one input at least.
      const Bytes nothing(1);
      return options_.engine == "afl"
                 ? StoreFile(corpus / CorpusName(nothing), nothing, false)
                 : Result();
    }
    auto seeds = LoadCorpus(options_.seeds);
    if (!seeds) return std::unexpected(seeds.error());
    for (const CorpusInput& seed : *seeds) {
      auto stored = StoreFile(corpus / seed.name, seed.bytes, false);
      if (!stored) return stored;
    }
    return {};
  }

  std::uint64_t SecondsLeft() const {
    const double left = static_cast<double>(options_.seconds) - Seconds();
    return left <= 0 ? 0 : static_cast<std::uint64_t>(left + 0.999);
  }
  double Seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  Result StartAll() {
    begin_ = Clock::now();
    for (int i = 0; i < options_.jobs; ++i) {
      Job job;
      job.number = i;
      job.statistics = options_.state / "jobs" /
                       fmt::format("{}-{}-{}", std::time(nullptr), getpid(), i);
      job.log = options_.state / "log" / fmt::format("job-{}.log", i);
      auto counters = SharedStatistics::Open(job.statistics);
      if (!counters) return std::unexpected(counters.error());
      counters_.push_back(std::move(*counters));
      jobs_.push_back(std::move(job));
      if (auto started = Start(jobs_.back()); !started) return started;
    }
    return {};
  }

  Result Start(Job& job) {
    const std::uint64_t seed = options_.seed +
                               static_cast<std::uint64_t>(job.number) * 1000 +
                               static_cast<std::uint64_t>(job.starts++);
    const EngineCommand command =
        CommandOf(options_, job.number, seed, SecondsLeft(), job.statistics);
    auto pid = StartJob(command.argv, command.environment, job.log);
    if (!pid) return std::unexpected(pid.error());
    job.pid = *pid;
    return {};
  }

  Result Watch() {
    auto next_line = begin_ + Interval();
    while (!stop_) {
      bool running = false;
      for (Job& job : jobs_) {
        if (job.pid == 0) continue;
        const auto status = JobEnded(job.pid);
        if (!status) {
          running = true;
          continue;
        }
        job.pid = 0;
        if (auto handled = HandleEnd(job, *status); !handled) return handled;
        running |= job.pid != 0;
      }
      if (!running) return {};
      if (Clock::now() >= next_line) {
        next_line += Interval();
        if (auto adopted = AdoptIncoming(); !adopted) return adopted;
        PrintLine();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return {};
  }

  Clock::duration Interval() const {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(
            std::max(0.2, options_.interval_seconds)));
  }

  // A job ended: by itself, or by what it ran.
  Result HandleEnd(Job& job, int status) {
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == kNoProgram ||
        (options_.engine == "builtin" && code == kProgramBroken)) {
      return std::unexpected(LastLine(job.log));
    }
    // AFL++ itself goes on after crashes.
    if (options_.engine == "afl" && code != 0) {
      return std::unexpected(fmt::format("afl-fuzz ended early ({}): {}",
                                         job.log.string(), LastLine(job.log)));
    }
    auto& counters = counters_[static_cast<std::size_t>(job.number)];
    const auto current = counters.Current();
    counters.ClearCurrent();
    const std::uint64_t executions = counters.Read().executions;
    job.fruitless =
        current || executions > job.executions ? 0 : job.fruitless + 1;
    job.executions = executions;
    const bool crashed = options_.engine == "builtin" && code != 0 && code != 1;
    if (crashed && current) {
      auto stored =
          StoreFile(Incoming() / ("crash-" + CorpusName(*current)), *current);
      if (!stored) return stored;
    }
    if (auto adopted = AdoptIncoming(); !adopted) return adopted;
    if (code == 0 || SecondsLeft() == 0 || stop_) return {};
    // One that ends before its first input would be started for ever.
    if (job.fruitless > 20) {
      return std::unexpected(fmt::format("job {} ends again and again: {}",
                                         job.number, LastLine(job.log)));
    }
    return code == 1 && options_.engine == "builtin" ? Result() : Start(job);
  }

  // Confirms, minimises and stores what the engines left.
  Result AdoptIncoming() {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator it(Incoming(), error), end; !error && it != end;
         it.increment(error)) {
      if (it->path().extension() != ".part") files.push_back(it->path());
    }
    for (const auto& folder :
         fs::directory_iterator(options_.state / "afl", error)) {
      for (const char* name : {"crashes", "hangs"}) {
        std::error_code none;
        for (const auto& crash :
             fs::directory_iterator(folder.path() / name, none)) {
          const bool input = crash.path().filename().string().starts_with("id");
          if (input && !adopted_.contains(crash.path())) {
            files.push_back(crash.path());
          }
        }
      }
    }
    for (const fs::path& file : files) {
      adopted_.insert(file);
      SetAside(file);
      if (auto adopted = AdoptOne(file); !adopted) return adopted;
      if (file.parent_path() == Incoming()) fs::remove(file, error);
    }
    return ReportNew();
  }

  // What AFL++ keeps, for a later run by any engine.
  Result AdoptQueue() {
    std::error_code error;
    for (const auto& folder :
         fs::directory_iterator(options_.state / "afl", error)) {
      std::error_code none;
      for (const auto& entry :
           fs::directory_iterator(folder.path() / "queue", none)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("id") || name.find("src:") == name.npos) continue;
        const auto input = LoadInput(entry.path());
        if (!input) continue;
        const fs::path stored = options_.state / "corpus" / CorpusName(*input);
        if (fs::exists(stored, none)) continue;
        if (auto done = StoreFile(stored, *input, false); !done) return done;
      }
    }
    return {};
  }

  // An input of the corpus that ends the process would end every job that
  // starts with this corpus.
  void SetAside(const fs::path& crash) {
    const auto input = LoadInput(crash);
    if (!input) return;
    std::error_code error;
    const fs::path aside = options_.state / "crashing";
    for (fs::directory_iterator it(options_.state / "corpus", error), end;
         !error && it != end; it.increment(error)) {
      std::error_code none;
      if (it->file_size(none) != input->size() || none) continue;
      const auto entry = LoadInput(it->path());
      if (!entry || *entry != *input) continue;
      fs::create_directories(aside, none);
      fs::rename(it->path(), aside / it->path().filename(), none);
    }
  }

  Result AdoptOne(const fs::path& file) {
    const fs::path log = options_.state / "log" / "adopt.log";
    std::vector<std::string> argv = {Program().string(),
                                     "--adopt",
                                     file.string(),
                                     "--state",
                                     options_.state.string(),
                                     "--commit",
                                     options_.commit,
                                     "--engine",
                                     options_.engine,
                                     "--seed",
                                     std::to_string(options_.seed)};
    if (!options_.tested.empty()) {
      argv.push_back("--tested");
      argv.push_back(options_.tested);
    }
    auto pid = StartJob(argv, {}, log);
    if (!pid) return std::unexpected(pid.error());
    std::optional<int> status;
    while (!(status = JobEnded(*pid))) {
      if (stop_) {
        EndJob(*pid);
        return {};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const int code = WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
    if (code == kNoProgram || code == kProgramBroken) {
      return std::unexpected(LastLine(log));
    }
    return {};
  }

  Result ReportNew() {
    auto store = FindingStore::Open(options_.state / "findings");
    if (!store) return std::unexpected(store.error());
    if (store->size() == known_) return {};
    known_ = store->size();
    for (const StoredFinding& found : store->List()) {
      if (!shown_.insert(found.bucket).second) continue;
      line_(fmt::format("finding: {} ({})", found.bucket, found.file.string()));
    }
    return {};
  }

  Statistics Sum() const {
    Statistics sum;
    for (const SharedStatistics& counters : counters_) {
      sum.Add(counters.Read());
    }
    return sum;
  }

  void PrintLine() {
    CountFindings();
    line_(fmt::format("{:.0f} s: {}, findings {} new, {} in all", Seconds(),
                      Describe(Sum(), Seconds()), result_.new_findings,
                      result_.findings));
  }

  void CountFindings() {
    const auto store = FindingStore::Open(options_.state / "findings");
    if (!store) return;
    result_.findings = store->size();
    result_.new_findings = store->size() - std::min(before_, store->size());
  }

  const CampaignOptions& options_;
  const std::atomic<bool>& stop_;
  const std::function<void(const std::string&)>& line_;
  std::vector<Job> jobs_;
  std::vector<SharedStatistics> counters_;
  std::set<fs::path> adopted_;
  std::set<std::string> shown_;
  std::size_t before_ = 0, known_ = 0;
  Clock::time_point begin_ = Clock::now();
  CampaignResult result_;
};

}  // namespace

std::expected<CampaignResult, std::string> RunCampaign(
    const CampaignOptions& options, const std::atomic<bool>& stop,
    const std::function<void(const std::string&)>& line) {
  return Campaign(options, stop, line).Run();
}

}  // namespace weightproof::fuzzers
