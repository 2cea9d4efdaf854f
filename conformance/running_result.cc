// From answers to the result of a run.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <tuple>

#include "conformance/judge.h"
#include "conformance/running.h"

namespace weightproof::conformance {
namespace {

std::string Today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace

std::expected<void, RunError> Running::TakeRecording() {
  auto contents = ReadJournal(options_.answers);
  if (!contents) return Failed(2, contents.error());
  if (contents->implementations.empty()) {
    return Failed(2, options_.answers.string() + ": no answers");
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
        ++unrecorded_;
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
                     !stop_ && options_.variant.empty();
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
  result.interrupted = stop_;
  result.unrecorded = unrecorded_;
  for (Participant& participant : participants_) {
    if (!participant.cases.empty()) Judge(participant, result);
    result.implementations.push_back(participant.implementation);
  }
  result.skipped = result.total - result.executed;
  CompareBuiltIns(result);
  std::ranges::sort(result.implementations, {}, &Implementation::name);
  std::ranges::sort(result.rows, [](const Row& a, const Row& b) {
    return std::tie(a.implementation, a.vector, a.variant) <
           std::tie(b.implementation, b.vector, b.variant);
  });
  utsname host = {};
  uname(&host);
  result.run = {
      {"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(started_))},
      {"seconds",
       std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_)
           .count()},
      {"host", host.nodename},
      {"system",
       fmt::format("{} {} {}", host.sysname, host.release, host.machine)},
      {"journal", options_.journal},
      {"set_version", set_.version},
      {"set_digest", files_->digest()},
      {"jobs", options_.jobs},
      {"notes", notes_}};
  return result;
}

std::expected<RunResult, RunError> Running::Go() {
  if (auto loaded = LoadVectorsToRun(); !loaded) {
    return std::unexpected(loaded.error());
  }
  auto files = VectorFiles::Prepare(set_, options_.build_dir / "vectors");
  if (!files) return Failed(5, files.error());
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
      return Failed(5, options_.journal.string() + ": cannot be written");
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
  return Failed(exit_code, message);
}

}  // namespace weightproof::conformance
