#include "conformance/run_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "conformance/one_shot.h"

namespace weightproof::conformance {
namespace {

// The operations of one file format belong together: an implementation that
// has one of them is asked about all.
std::string_view Family(std::string_view operation) {
  return operation.starts_with("gguf.") ? "gguf" : "numeric";
}

bool HasFamily(const Hello& hello, std::string_view family) {
  return std::ranges::any_of(hello.operations, [&](const auto& operation) {
    return Family(operation) == family;
  });
}

std::string WhyNotAsked(const Vector& vector, const Hello& hello,
                        const std::string& problem, bool obey_permissions) {
  if (!hello.Offers(vector.operation)) {
    return fmt::format("does not offer {}", vector.operation);
  }
  if (!problem.empty()) return problem;
  if (obey_permissions && !CanEnforcePermissions()) {
    return "root may write everywhere here";
  }
  return "";
}

std::vector<std::string> VariantsFor(const Vector& vector, const Hello& hello,
                                     const std::string& only) {
  if (Family(vector.operation) == "gguf") {
    if (only.empty()) return {""};
    return {};
  }
  if (!only.empty()) return {only};
  std::vector<std::string> variants = {""};
  variants.insert(variants.end(), hello.variants.begin(), hello.variants.end());
  return variants;
}

Reply OneShotReply(const RunShared& shared, const Target& target,
                   const Case& one, bool large) {
  const std::string command =
      OneShotCommand(target.one_shot, shared.files.File(one.vector).string());
  return RunOneShot(command, target.spec, large, one.obey_permissions,
                    shared.stop);
}

void RunOneShots(const RunShared& shared, Participant& participant,
                 std::size_t begin, std::size_t end) {
  const Target& target = participant.target;
  for (std::size_t i = begin; i < end && !shared.stop; ++i) {
    const Case& one = participant.cases[i];
    CaseRecord& record = participant.records[i];
    const bool small = shared.files.InputBytes(one.vector) < kSmallInput;
    if (IsComplete(record, small)) continue;
    CaseRecord fresh;
    fresh.vector = record.vector;
    fresh.reply = OneShotReply(shared, target, one, !small);
    if (shared.stop) break;
    if (fresh.reply.fate && fresh.reply.fate->verdict == "hang") {
      // Confirmed once.
      fresh.reply = OneShotReply(shared, target, one, !small);
    }
    if (!fresh.reply.fate && small) {
      fresh.second = OneShotReply(shared, target, one, !small);
    }
    if (shared.stop) break;
    record = std::move(fresh);
    shared.journal.Append(
        RecordToLine(participant.implementation.name, record));
    if (record.second) {
      shared.journal.Append(
          SecondToLine(participant.implementation.name, record));
    }
    shared.on_case(participant.implementation.name, record.vector);
  }
}

}  // namespace

bool IsComplete(const CaseRecord& record, bool small) {
  if (!record.not_asked.empty() || record.reply.fate) return true;
  if (record.reply.answer.is_null()) return false;
  return !small || record.second.has_value();
}

Participant Introduce(Target target, const std::atomic<bool>& stop) {
  Participant participant;
  Implementation& about = participant.implementation;
  about.name = target.name;
  about.version = target.version;
  about.language = target.language;
  about.built_in = target.built_in;
  participant.target = std::move(target);
  const Target& is = participant.target;
  if (!is.why_not.empty()) {
    about.status = ImplementationStatus::kNotRun;
    about.why = is.why_not;
    return participant;
  }
  if (!is.one_shot.empty()) {
    participant.hello = OneShotHello(is.one_shot);
    about.name = participant.hello.name;
  } else {
    auto session = DriverSession::Start(is.spec, &stop);
    if (!session) {
      about.status = ImplementationStatus::kUnusable;
      about.why = session.error();
      return participant;
    }
    participant.hello = (*session)->hello();
    participant.hello_json = (*session)->hello_json();
    if (const auto complaint = (*session)->Finish()) {
      participant.notes.push_back(*complaint);
    }
    if (is.name == "driver") about.name = participant.hello.name;
  }
  about.status = ImplementationStatus::kRan;
  about.version = participant.hello.version;
  about.language = participant.hello.language;
  about.declared_profile = participant.hello.profile;
  about.operations = participant.hello.operations;
  about.variants = participant.hello.variants;
  return participant;
}

void PlanCases(const VectorSet& set, const std::vector<std::size_t>& selected,
               const VectorFiles& files, const std::string& variant,
               Participant& participant) {
  const Hello& hello = participant.hello;
  for (const std::size_t index : selected) {
    const Vector& vector = set.vectors[index];
    if (!HasFamily(hello, Family(vector.operation))) continue;
    for (const std::string& name : VariantsFor(vector, hello, variant)) {
      Case one;
      one.vector = index;
      one.variant = name;
      one.obey_permissions = vector.rule == "gguf.io.open.readonly";
      CaseRecord record;
      record.vector = vector.id;
      record.variant = name;
      record.not_asked = WhyNotAsked(vector, hello, files.Problem(index),
                                     one.obey_permissions);
      const auto& most = participant.target.spec.limits.input_bytes;
      if (record.not_asked.empty() && most && files.InputBytes(index) > *most) {
        record.not_asked = fmt::format(
            "given no file above {} MiB (input_bytes of its driver.json)",
            *most >> 20);
      }
      participant.cases.push_back(std::move(one));
      participant.records.push_back(std::move(record));
    }
  }
}

std::expected<std::vector<std::string>, std::string> RunCases(
    const RunShared& shared, Participant& participant, std::size_t begin,
    std::size_t end, std::uint64_t& peak_memory) {
  std::vector<std::string> notes;
  if (!participant.target.one_shot.empty()) {
    RunOneShots(shared, participant, begin, end);
    return notes;
  }
  const std::string& name = participant.implementation.name;
  CaseEvents events;
  events.on_first = [&](std::size_t index, const CaseRecord& record) {
    shared.journal.Append(RecordToLine(name, record));
    participant.records[begin + index] = record;
    shared.on_case(name, record.vector);
  };
  events.on_second = [&](std::size_t index, const CaseRecord& record) {
    shared.journal.Append(SecondToLine(name, record));
    participant.records[begin + index].second = record.second;
  };
  events.on_sequence = [&](const std::vector<std::string>& requests) {
    shared.journal.Append(
        Json({{"implementation", name}, {"sequence", requests}}).dump());
  };
  events.on_note = [&](const std::string& note) {
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  };
  const std::vector<Case> cases(
      participant.cases.begin() + static_cast<long>(begin),
      participant.cases.begin() + static_cast<long>(end));
  std::vector<CaseRecord> known(
      participant.records.begin() + static_cast<long>(begin),
      participant.records.begin() + static_cast<long>(end));
  CaseRunner runner(participant.target.spec, shared.set, shared.files,
                    shared.stop, std::move(events));
  auto ran = runner.Run(cases, std::move(known));
  peak_memory = std::max(peak_memory, runner.peak_memory_bytes());
  if (!ran) return std::unexpected(ran.error());
  return notes;
}

}  // namespace weightproof::conformance
