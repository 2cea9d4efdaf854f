#include "conformance/runner.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <mutex>
#include <thread>

#include "conformance/canary.h"
#include "conformance/judge.h"
#include "conformance/run_session.h"
#include "conformance/run_target.h"

namespace weightproof::conformance {
namespace {

using Clock = std::chrono::steady_clock;

std::unexpected<RunError> Error(int exit_code, std::string message) {
  return std::unexpected(RunError{exit_code, std::move(message)});
}

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

std::string Today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

std::vector<std::size_t> SelectVectors(const VectorSet& set,
                                       const RunOptions& options) {
  std::vector<std::size_t> selected;
  for (std::size_t i = 0; i < set.vectors.size(); ++i) {
    const Vector& vector = set.vectors[i];
    const bool wanted =
        options.filter.empty() ||
        std::ranges::any_of(options.filter, [&](const std::string& pattern) {
          return GlobMatches(pattern, vector.id) ||
                 GlobMatches(pattern, vector.rule);
        });
    const auto count = static_cast<std::size_t>(options.shard.count);
    const auto index = static_cast<std::size_t>(options.shard.index);
    if (wanted && i % count == index) selected.push_back(i);
  }
  return selected;
}

// A run in progress.
class Running {
 public:
  Running(RunOptions options, RunObserver& observer)
      : options_(std::move(options)), observer_(observer) {}

  std::expected<RunResult, RunError> Go();

 private:
  std::expected<void, RunError> LoadVectorsToRun();
  std::expected<void, RunError> OpenJournal();
  std::expected<void, RunError> IntroduceTargets();
  std::expected<void, RunError> Resume(const JournalContents& old);
  CanaryVerdict RunCanary();
  void RunAll();
  void RunPart(Participant& participant, std::size_t begin, std::size_t end);
  void CheckFiles(Participant& participant);
  std::expected<void, RunError> TakeRecording();
  void Judge(Participant& participant, RunResult& result);
  void CompareBuiltIns(RunResult& result);
  RunResult Finish(const CanaryVerdict& canary);
  void Note(const std::string& text);

  RunOptions options_;
  RunObserver& observer_;
  VectorSet set_;
  std::vector<std::size_t> selected_;
  std::optional<VectorFiles> files_;
  std::unique_ptr<JournalWriter> journal_;
  std::vector<Participant> participants_;
  std::mutex mutex_;  // observer, notes, counters
  std::vector<std::string> notes_;
  std::uint64_t done_ = 0;
  std::uint64_t to_do_ = 0;
  Clock::time_point begin_ = Clock::now();
  std::time_t started_ = std::time(nullptr);
};

void Running::Note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  notes_.push_back(text);
  observer_.OnNote(text);
}

std::expected<void, RunError> Running::LoadVectorsToRun() {
  auto set = LoadVectors(options_.vectors_dir);
  if (!set) {
    const VectorError& error = set.error();
    return Error(5, fmt::format("{}: {}: {}", error.file.string(),
                                error.pointer, error.message));
  }
  set_ = std::move(*set);
  selected_ = SelectVectors(set_, options_);
  if (selected_.empty()) return Error(2, "no vector is selected");
  return {};
}

std::expected<void, RunError> Running::IntroduceTargets() {
  auto targets = SelectTargets(options_);
  if (!targets) return std::unexpected(targets.error());
  for (Target& target : *targets) {
    if (stop_requested) break;
    Participant participant = Introduce(std::move(target), stop_requested);
    observer_.OnImplementation(participant.implementation);
    if (participant.Runs()) {
      PlanCases(set_, selected_, *files_, options_.variant, participant);
    }
    for (const std::string& note : participant.notes) {
      Note(participant.implementation.name + ": " + note);
    }
    participants_.push_back(std::move(participant));
  }
  return {};
}

std::expected<void, RunError> Running::Resume(const JournalContents& old) {
  const Json digest = old.header.value("digest", Json());
  if (digest != Json(VectorSetDigest(set_))) {
    return Error(2, fmt::format("{}: the vectors have changed since; run "
                                "without --resume",
                                options_.journal.string()));
  }
  for (Participant& participant : participants_) {
    const auto it = old.implementations.find(participant.implementation.name);
    if (it == old.implementations.end()) continue;
    if (it->second.hello != participant.hello_json) {
      return Error(2, fmt::format("{}: {} says another hello now; run without "
                                  "--resume",
                                  options_.journal.string(),
                                  participant.implementation.name));
    }
    for (CaseRecord& record : participant.records) {
      const auto known =
          it->second.records.find({record.vector, record.variant});
      if (known != it->second.records.end()) record = known->second;
    }
  }
  return {};
}

std::expected<void, RunError> Running::OpenJournal() {
  std::uint64_t keep = 0;
  JournalContents old;
  if (options_.resume) {
    auto contents = ReadJournal(options_.journal);
    if (!contents) return Error(2, "--resume: " + contents.error());
    old = std::move(*contents);
    if (auto resumed = Resume(old); !resumed) return resumed;
    keep = old.whole_bytes;
  }
  auto journal = JournalWriter::Open(options_.journal, keep);
  if (!journal) return Error(5, journal.error());
  journal_ = std::move(*journal);
  if (!options_.resume) {
    journal_->Append(Json({{"weightproof_run", 1},
                           {"set_version", set_.version},
                           {"digest", VectorSetDigest(set_)}})
                         .dump());
  }
  for (const Participant& participant : participants_) {
    const std::string& name = participant.implementation.name;
    if (!participant.Runs() || old.implementations.contains(name)) continue;
    journal_->Append(
        Json({{"implementation", name}, {"hello", participant.hello_json}})
            .dump());
  }
  return {};
}

CanaryVerdict Running::RunCanary() {
  const VectorSet& set = CanaryVectors();
  auto files = VectorFiles::Prepare(set, options_.build_dir / "vectors");
  if (!files) return {false, files.error()};
  Participant canary =
      Introduce(HostTarget(options_, "canary"), stop_requested);
  if (!canary.Runs()) return {false, canary.implementation.why};
  std::vector<Case> cases;
  std::vector<CaseRecord> records(set.vectors.size());
  for (std::size_t i = 0; i < set.vectors.size(); ++i)
    cases.push_back({i, "", false});
  CaseEvents events;
  events.on_first = [&](std::size_t i, const CaseRecord& record) {
    records[i] = record;
  };
  events.on_second = [&](std::size_t i, const CaseRecord& record) {
    records[i] = record;
  };
  events.on_sequence = [](const std::vector<std::string>&) {};
  events.on_note = [](const std::string&) {};
  CaseRunner runner(canary.target.spec, set, *files, stop_requested,
                    std::move(events));
  auto ran = runner.Run(cases, records);
  if (!ran) return {false, ran.error()};
  return JudgeCanary(canary.hello, records);
}

void Running::RunPart(Participant& participant, std::size_t begin,
                      std::size_t end) {
  const RunShared shared = {
      set_, *files_, *journal_, stop_requested,
      [&](const std::string& implementation, const std::string& vector) {
        const std::lock_guard lock(mutex_);
        observer_.OnCase(implementation, vector, ++done_, to_do_);
      }};
  const auto start = Clock::now();
  std::uint64_t peak = 0;
  const auto notes = RunCases(shared, participant, begin, end, peak);
  const std::lock_guard lock(mutex_);
  Implementation& about = participant.implementation;
  about.seconds += std::chrono::duration<double>(Clock::now() - start).count();
  about.peak_rss_bytes = std::max(about.peak_rss_bytes, peak);
  if (!notes) {
    about.status = ImplementationStatus::kUnusable;
    about.why = notes.error();
    return;
  }
  for (const std::string& note : *notes) {
    notes_.push_back(about.name + ": " + note);
    observer_.OnNote(notes_.back());
  }
}

void Running::CheckFiles(Participant& participant) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < participant.cases.size(); ++i) {
    if (!files_->RestoreIfModified(set_, participant.cases[i].vector)) continue;
    CaseRecord& record = participant.records[i];
    record.file_modified = true;
    journal_->Append(SecondToLine(participant.implementation.name, record));
  }
}

void Running::RunAll() {
  struct Part {
    Participant* participant;
    std::size_t begin, end;
  };
  std::vector<Part> parts;
  const auto jobs = static_cast<std::size_t>(options_.jobs);
  for (Participant& participant : participants_) {
    if (!participant.Runs()) continue;
    // A lone implementation is cut into as many parts as there are jobs.
    const std::size_t pieces = participants_.size() == 1 ? jobs : 1;
    const std::size_t count = participant.cases.size();
    for (std::size_t k = 0; k < pieces; ++k) {
      parts.push_back(
          {&participant, count * k / pieces, count * (k + 1) / pieces});
    }
  }
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t k; (k = next++) < parts.size() && !stop_requested;) {
      RunPart(*parts[k].participant, parts[k].begin, parts[k].end);
      if (jobs == 1) CheckFiles(*parts[k].participant);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t k = 1; k < std::min(jobs, parts.size()); ++k) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (jobs == 1) return;
  // Side by side, nobody can say who wrote.
  for (Participant& participant : participants_) {
    if (participants_.size() == 1) CheckFiles(participant);
  }
  for (const std::size_t index : selected_) {
    if (files_->RestoreIfModified(set_, index)) {
      Note(set_.vectors[index].id +
           ": its file was modified; run with one job to see by whom");
    }
  }
}

std::expected<void, RunError> Running::TakeRecording() {
  auto contents = ReadJournal(options_.answers);
  if (!contents) return Error(2, contents.error());
  if (contents->implementations.empty()) {
    return Error(2, options_.answers.string() + ": no answers");
  }
  for (auto& [name, recording] : contents->implementations) {
    Participant participant;
    participant.target.name = name;
    participant.target.built_in = IsBuiltIn(name);
    participant.target.repro = fmt::format("./weightproof repro {}", name);
    Implementation& about = participant.implementation;
    about.name = name;
    about.built_in = participant.target.built_in;
    Json hello = recording.hello;
    if (hello.is_object()) hello["id"] = 0;
    auto parsed = ParseHello(hello);
    if (!parsed) {
      about.status = ImplementationStatus::kUnusable;
      about.why = "the recording has no usable hello: " + parsed.error();
      participants_.push_back(std::move(participant));
      continue;
    }
    participant.hello = std::move(*parsed);
    about.status = ImplementationStatus::kRan;
    about.version = participant.hello.version;
    about.language = participant.hello.language;
    about.declared_profile = participant.hello.profile;
    about.operations = participant.hello.operations;
    about.variants = participant.hello.variants;
    PlanCases(set_, selected_, *files_, options_.variant, participant);
    for (CaseRecord& record : participant.records) {
      const auto known =
          recording.records.find({record.vector, record.variant});
      if (known != recording.records.end()) {
        record = known->second;
      } else if (record.not_asked.empty()) {
        record.not_asked = "not in the recording";
      }
    }
    observer_.OnImplementation(about);
    participants_.push_back(std::move(participant));
  }
  return {};
}

void Running::Judge(Participant& participant, RunResult& result) {
  const Target& target = participant.target;
  const Subject subject = {participant.implementation.name, participant.hello,
                           target.built_in, target.repro};
  std::vector<const Vector*> vectors;
  std::vector<const CaseRecord*> records;
  for (std::size_t i = 0; i < participant.cases.size(); ++i) {
    const CaseRecord& record = participant.records[i];
    ++result.total;
    if (record.not_asked.empty() && record.reply.answer.is_null() &&
        !record.reply.fate) {
      continue;  // interrupted before it was asked
    }
    vectors.push_back(&set_.vectors[participant.cases[i].vector]);
    records.push_back(&record);
  }
  std::vector<Row> rows =
      JudgeAll(subject, vectors, records, participant.implementation);
  const bool whole = options_.filter.empty() && options_.shard.count == 1 &&
                     !stop_requested && options_.variant.empty();
  ApplyDeviations(target.deviations, Today(), whole, rows,
                  participant.implementation);
  for (Row& row : rows) {
    if (row.outcome != Outcome::kNotRun) ++result.executed;
    result.rows.push_back(std::move(row));
  }
}

void Running::CompareBuiltIns(RunResult& result) {
  const auto find = [&](std::string_view name) -> const Participant* {
    for (const Participant& participant : participants_) {
      if (participant.implementation.name == name && participant.Runs()) {
        return &participant;
      }
    }
    return nullptr;
  };
  const Participant* reference = find("reference");
  const Participant* view = find("gguf_view");
  if (reference == nullptr || view == nullptr) return;
  std::map<std::string, const CaseRecord*> answers;
  for (const CaseRecord& record : reference->records) {
    if (record.variant.empty()) answers[record.vector] = &record;
  }
  for (std::size_t i = 0; i < view->cases.size(); ++i) {
    const CaseRecord& record = view->records[i];
    const auto it = answers.find(record.vector);
    const bool answered =
        !record.reply.answer.is_null() || record.reply.fate.has_value();
    if (it == answers.end() || !answered) continue;
    const CaseRecord& other = *it->second;
    if (other.reply.answer.is_null() && !other.reply.fate) continue;
    const std::string difference =
        Disagreement(set_.vectors[view->cases[i].vector], other, record);
    if (difference.empty()) continue;
    result.built_ins_disagree = true;
    if (!result.built_ins_detail.empty()) result.built_ins_detail += "\n";
    result.built_ins_detail += difference;
  }
}

RunResult Running::Finish(const CanaryVerdict& canary) {
  RunResult result;
  result.canary_caught = canary.caught;
  result.canary_detail = canary.detail;
  result.interrupted = stop_requested;
  for (Participant& participant : participants_) {
    if (!participant.cases.empty()) Judge(participant, result);
    result.implementations.push_back(participant.implementation);
  }
  result.skipped = result.total - result.executed;
  CompareBuiltIns(result);
  std::ranges::sort(result.implementations, {}, &Implementation::name);
  std::ranges::stable_sort(result.rows, [](const Row& a, const Row& b) {
    return std::tie(a.implementation, a.vector, a.variant) <
           std::tie(b.implementation, b.vector, b.variant);
  });
  utsname host = {};
  uname(&host);
  result.run = {
      {"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(started_))},
      {"seconds", std::chrono::duration<double>(Clock::now() - begin_).count()},
      {"host", host.nodename},
      {"system",
       fmt::format("{} {} {}", host.sysname, host.release, host.machine)},
      {"journal", options_.journal},
      {"set_version", set_.version},
      {"set_digest", VectorSetDigest(set_)},
      {"jobs", options_.jobs},
      {"notes", notes_}};
  return result;
}

std::expected<RunResult, RunError> Running::Go() {
  const StopOnSignal signals;
  if (auto loaded = LoadVectorsToRun(); !loaded) {
    return std::unexpected(loaded.error());
  }
  auto files = VectorFiles::Prepare(set_, options_.build_dir / "vectors");
  if (!files) return Error(5, files.error());
  files_.emplace(std::move(*files));
  CanaryVerdict canary;
  if (!options_.answers.empty()) {
    canary = JudgeCanary(RecordedCanaryHello(), RecordedCanary());
    observer_.OnCanary(canary.caught, canary.detail);
    if (auto taken = TakeRecording(); !taken) {
      return std::unexpected(taken.error());
    }
  } else {
    canary = RunCanary();
    observer_.OnCanary(canary.caught, canary.detail);
    if (auto introduced = IntroduceTargets(); !introduced) {
      return std::unexpected(introduced.error());
    }
    if (auto opened = OpenJournal(); !opened) {
      return std::unexpected(opened.error());
    }
    for (const Participant& participant : participants_) {
      for (std::size_t i = 0; i < participant.cases.size(); ++i) {
        const CaseRecord& record = participant.records[i];
        to_do_ += record.not_asked.empty() && record.reply.answer.is_null() &&
                  !record.reply.fate;
      }
    }
    observer_.OnStart(participants_.size(), to_do_);
    RunAll();
    if (!journal_->Good()) {
      return Error(5, options_.journal.string() + ": cannot be written");
    }
  }
  RunResult result = Finish(canary);
  const bool unusable = std::ranges::any_of(
      result.implementations, [](const Implementation& implementation) {
        return implementation.status == ImplementationStatus::kUnusable;
      });
  if (result.executed > 0 || unusable || result.interrupted) return result;
  std::string message = "no case was run";
  int exit_code = 2;
  for (const Implementation& implementation : result.implementations) {
    if (implementation.why.empty()) continue;
    message += "\n" + implementation.name + ": " + implementation.why;
    exit_code = 3;
  }
  return Error(exit_code, message);
}

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
  return Running(WithDefaults(options), observer).Go();
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
