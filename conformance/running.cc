#include "conformance/running.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "conformance/deviations.h"

namespace weightproof::conformance {
namespace {

using Clock = std::chrono::steady_clock;

bool Matches(const std::string& pattern, const Vector& vector) {
  return GlobMatches(pattern, vector.id) || GlobMatches(pattern, vector.rule);
}

std::vector<std::size_t> SelectVectors(const VectorSet& set,
                                       const RunOptions& options) {
  std::vector<std::size_t> selected;
  for (std::size_t i = 0; i < set.vectors.size(); ++i) {
    const Vector& vector = set.vectors[i];
    const bool wanted =
        options.filter.empty() ||
        std::ranges::any_of(options.filter, [&](const std::string& pattern) {
          return Matches(pattern, vector);
        });
    const auto count = static_cast<std::size_t>(options.shard.count);
    const auto index = static_cast<std::size_t>(options.shard.index);
    if (wanted && i % count == index) selected.push_back(i);
  }
  return selected;
}

}  // namespace

void Running::Note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  notes_.push_back(text);
  observer_.OnNote(text);
}

std::expected<void, RunError> Running::LoadVectorsToRun() {
  auto set = LoadVectors(options_.vectors_dir);
  if (!set) {
    const VectorError& error = set.error();
    return Failed(5, fmt::format("{}: {}: {}", error.file.string(),
                                 error.pointer, error.message));
  }
  set_ = std::move(*set);
  for (const std::string& pattern : options_.filter) {
    if (std::ranges::none_of(set_.vectors, [&](const Vector& vector) {
          return Matches(pattern, vector);
        })) {
      return Failed(
          2, fmt::format("--filter: no vector or rule matches {}", pattern));
    }
  }
  selected_ = SelectVectors(set_, options_);
  if (selected_.empty()) return Failed(2, "no vector is selected");
  return {};
}

std::expected<void, RunError> Running::IntroduceTargets() {
  auto targets = SelectTargets(options_);
  if (!targets) return std::unexpected(targets.error());
  for (Target& target : *targets) {
    if (stop_) break;
    Participant participant = Introduce(std::move(target), stop_);
    if (stop_) break;
    // A driver may call itself what it likes.
    std::string& name = participant.implementation.name;
    while (std::ranges::any_of(participants_, [&](const Participant& other) {
      return other.implementation.name == name;
    })) {
      name += " (driver)";
    }
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
  if (digest != Json(files_->digest())) {
    return Failed(2, fmt::format("{}: the vectors have changed since; run "
                                 "without --resume",
                                 options_.journal.string()));
  }
  for (Participant& participant : participants_) {
    const auto it = old.implementations.find(participant.implementation.name);
    if (it == old.implementations.end()) continue;
    if (it->second.hello != participant.hello_json) {
      return Failed(2, fmt::format("{}: {} says another hello now; run without "
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
    if (!contents) return Failed(2, "--resume: " + contents.error());
    old = std::move(*contents);
    if (auto resumed = Resume(old); !resumed) return resumed;
    keep = old.whole_bytes;
  }
  auto journal = JournalWriter::Open(options_.journal, keep);
  if (!journal) return Failed(5, journal.error());
  journal_ = std::move(*journal);
  if (!options_.resume) {
    journal_->Append(Json({{"weightproof_run", 1},
                           {"set_version", set_.version},
                           {"digest", files_->digest()}})
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
  Participant canary = Introduce(HostTarget(options_, "canary"), stop_);
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
  CaseRunner runner(canary.target.spec, set, *files, stop_, std::move(events));
  auto ran = runner.Run(cases, records);
  if (!ran) return {false, ran.error()};
  return JudgeCanary(canary.hello, records);
}

void Running::RunPart(Participant& participant, std::size_t begin,
                      std::size_t end) {
  const RunShared shared = {
      set_, *files_, *journal_, stop_,
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
    for (std::size_t k; (k = next++) < parts.size() && !stop_;) {
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

}  // namespace weightproof::conformance
