#include "fuzzers/foreign_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "conformance/case_runner.h"
#include "conformance/run_session.h"
#include "conformance/vector_files.h"
#include "reference/rule.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;
using conformance::CaseRecord;
using conformance::Outcome;
using conformance::Row;
using conformance::Vector;
using Clock = std::chrono::steady_clock;

std::string StageOf(const std::string& rule) {
  const auto index = FindRule(rule);
  return index ? std::string(Rules()[*index].stage) : "";
}

// One record per case, with what was seen while it was asked.
struct Asked {
  CaseRecord record;
  double seconds = 0;
  std::uint64_t peak_bytes = 0;
};

}  // namespace

std::string PathClass(std::string_view difference) {
  std::string out;
  for (const char c : difference.substr(0, difference.find(": "))) {
    if (c < '0' || c > '9') out += c;
  }
  return out;
}

std::expected<void, std::string> ForeignJudge::Open() {
  if (!implementation_.why_not.empty()) {
    return std::unexpected(implementation_.why_not);
  }
  const auto participant = conformance::Introduce(implementation_, stop_);
  if (!participant.Runs()) {
    return std::unexpected(participant.implementation.why);
  }
  subject_.name = participant.implementation.name;
  subject_.hello = participant.hello;
  subject_.built_in = implementation_.built_in;
  return {};
}

std::expected<void, std::string> ForeignJudge::Ask(
    const std::vector<Bytes>& inputs,
    const std::function<void(std::size_t, const Judged&)>& each) {
  conformance::VectorSet set;
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Vector vector;
    if (!target_.as_vector(inputs[i], vector)) continue;
    // Equal inputs in one batch are different cases.
    vector.id += fmt::format(".{}", i);
    set.vectors.push_back(std::move(vector));
    index.push_back(i);
  }
  const auto files = conformance::VectorFiles::Prepare(set, scratch_);
  if (!files) return std::unexpected(files.error());
  std::vector<conformance::Case> cases(set.vectors.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].vector = i;
    if (!files->Problem(i).empty()) return std::unexpected(files->Problem(i));
  }
  std::vector<Asked> asked(cases.size());
  Clock::time_point last = Clock::now();
  const conformance::CaseRunner* live = nullptr;
  conformance::CaseEvents events;
  events.on_first = [&](std::size_t i, const CaseRecord& record) {
    const auto now = Clock::now();
    asked[i] = {record, std::chrono::duration<double>(now - last).count(),
                live->peak_memory_bytes()};
    last = now;
  };
  events.on_second = [&](std::size_t i, const CaseRecord& record) {
    asked[i].record.second = record.second;
  };
  events.on_sequence = [](const std::vector<std::string>&) {};
  events.on_note = [](const std::string&) {};
  // A driver that hangs on everything must not hold up the end.
  std::atomic<bool> cut = false;
  std::jthread watch([this, &cut](std::stop_token done) {
    while (!done.stop_requested()) {
      if (stop_ || Clock::now() >= deadline_) cut = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  conformance::CaseRunner runner(implementation_.spec, set, *files, cut,
                                 std::move(events));
  live = &runner;
  auto ran = runner.Run(cases, std::vector<CaseRecord>(cases.size()));
  watch.request_stop();
  watch.join();
  std::error_code ignored;
  fs::remove_all(scratch_ / files->digest(), ignored);
  if (!ran) return std::unexpected(ran.error());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const CaseRecord& record = asked[i].record;
    if (record.reply.answer.is_null() && !record.reply.fate) continue;
    Judged judged;
    judged.row = JudgeCase(subject_, set.vectors[i], record, {});
    const auto& spec = set.vectors[i].expect.at("spec");
    judged.spec_rule = spec.rule.value_or("");
    if (spec.verdict != "accept" && spec.verdict != "policy") {
      judged.stage = StageOf(judged.spec_rule);
    }
    judged.seconds = asked[i].seconds;
    judged.peak_bytes = asked[i].peak_bytes;
    AttributeRow(target_.rules_of(inputs[index[i]]), implementation_.deviations,
                 subject_.name, subject_.hello.version, judged.row);
    each(index[i], judged);
  }
  return {};
}

std::string RuleOf(const conformance::Deviation& deviation) {
  // Ids of vectors are the rule, a hyphen and a word.
  std::string rule = deviation.rule.empty() ? deviation.vector : deviation.rule;
  while (!rule.empty() && !FindRule(rule)) {
    const std::size_t hyphen = rule.rfind('-');
    rule.resize(hyphen == rule.npos ? 0 : hyphen);
  }
  return rule;
}

namespace {

bool Accepts(Cell cell) {
  return cell == Cell::kAccept || cell == Cell::kPolicy;
}

// Whether a rule can be what a row failed for: a reader that accepts breaks
// one that nobody accepts, a reader that refuses one that everybody accepts.
bool CanExplain(const std::string& id, const Row& row) {
  const auto index = FindRule(id);
  if (!index) return false;
  const Rule& rule = Rules()[*index];
  const int accepting = int{Accepts(rule.spec)} + int{Accepts(rule.ggml)} +
                        int{Accepts(rule.candle)};
  if (row.verdict == "accept" && row.difference.empty()) return accepting == 0;
  if (row.verdict == "reject" || row.verdict == "unsupported" ||
      row.verdict == "limit") {
    return accepting == 3;
  }
  const bool dead = row.verdict == "crash" || row.verdict == "hang" ||
                    row.verdict == "out-of-memory";
  return !dead || rule.severity == Severity::kHazard;
}

}  // namespace

void AttributeRow(std::vector<std::string> rules,
                  const std::vector<conformance::Deviation>& deviations,
                  std::string_view implementation, std::string_view version,
                  Row& row) {
  if (row.outcome != Outcome::kFail || rules.empty()) return;
  std::vector<std::string> others;
  std::erase_if(rules, [&](const std::string& rule) {
    if (CanExplain(rule, row)) return false;
    others.push_back(rule);
    return true;
  });
  rules.insert(rules.end(), others.begin(), others.end());
  // A file with faults of which each is accepted by some profile: whoever
  // accepts all of them takes a side on each, and breaks no rule.
  if (row.verdict == "accept" && row.difference.empty() &&
      !CanExplain(rules.front(), row)) {
    row.outcome = Outcome::kPolicy;
    row.reason = "the profiles differ on more than one point";
    return;
  }
  // What was read differently says more than any rule that the file is about.
  row.rule = row.difference.empty() ? rules.front() : "";
  for (const std::string& rule : rules) {
    Row as = row;
    as.rule = rule;
    for (conformance::Deviation entry : deviations) {
      entry.rule = RuleOf(entry);
      entry.vector.clear();
      if (!AppliesTo(entry, implementation, version) || !Foresees(entry, as)) {
        continue;
      }
      row.rule = rule;
      row.outcome = Outcome::kExpectedDeviation;
      row.reason += "; expected: " + Describe(entry);
      return;
    }
  }
}

Finding ToFinding(const Row& row) {
  Finding finding;
  finding.implementation = row.implementation;
  finding.rule = row.rule;
  finding.behaviour = row.verdict;
  if (!row.signal.empty()) finding.behaviour += " " + row.signal;
  finding.kind = FindingKind::kVerdict;
  if (row.verdict == "crash") finding.kind = FindingKind::kCrash;
  if (row.verdict == "hang") finding.kind = FindingKind::kHang;
  if (row.verdict == "out-of-memory") finding.kind = FindingKind::kAllocation;
  if (row.verdict == "protocol-error") finding.kind = FindingKind::kContract;
  if (row.verdict == "nondeterministic") {
    finding.kind = FindingKind::kNondeterminism;
  }
  if (!row.difference.empty()) {
    finding.kind = FindingKind::kDump;
    finding.behaviour += ", differs in " + PathClass(row.difference);
  }
  finding.description = row.reason;
  if (!row.difference.empty()) finding.description += "; " + row.difference;
  return finding;
}

}  // namespace weightproof::fuzzers
