#include "reports/sample_run.h"

#include <fmt/format.h>

#include "reference/rule.h"

namespace weightproof::reports {
namespace {

using conformance::Implementation;
using conformance::ImplementationStatus;
using conformance::Outcome;
using conformance::Row;
using conformance::Vector;

// A file of one u32 key with alignment value.
corpus::Bytes AlignmentFile(std::uint8_t value) {
  std::vector<std::uint8_t> bytes = {'G', 'G', 'U', 'F', 3, 0, 0, 0};
  bytes.resize(16, 0);
  bytes.insert(bytes.end(), {1, 0, 0, 0, 0, 0, 0, 0});
  bytes.insert(bytes.end(), {17, 0, 0, 0, 0, 0, 0, 0});
  for (const char c : std::string("general.alignment")) {
    bytes.push_back(static_cast<std::uint8_t>(c));
  }
  bytes.insert(bytes.end(), {4, 0, 0, 0, value, 0, 0, 0});
  return {{corpus::Literal{bytes}}};
}

Vector FileVector(const std::string& id, const std::string& rule,
                  std::uint8_t alignment, const std::string& verdict) {
  Vector vector;
  vector.id = id;
  vector.format = "gguf";
  vector.operation = "gguf.parse";
  vector.rule = rule;
  vector.bytes = AlignmentFile(alignment);
  for (const char* profile : {"spec", "ggml", "candle"}) {
    conformance::Expectation want;
    want.verdict = verdict;
    if (verdict == "reject") {
      want.rule = rule;
      want.offset = 53;
    }
    vector.expect[profile] = want;
  }
  return vector;
}

Row MakeRow(const std::string& implementation, const Vector& vector,
            Outcome outcome, const std::string& verdict) {
  Row row;
  row.implementation = implementation;
  row.vector = vector.id;
  row.rule = vector.rule;
  row.operation = vector.operation;
  row.outcome = outcome;
  row.verdict = verdict;
  row.expected = vector.expect.at("spec").verdict;
  row.repro =
      fmt::format("./weightproof repro {} {}", implementation, vector.id);
  return row;
}

Implementation MakeImplementation(const std::string& name) {
  Implementation implementation;
  implementation.name = name;
  implementation.version = "1.2.3";
  implementation.language = "C++";
  implementation.status = ImplementationStatus::kRan;
  implementation.operations = {"gguf.parse", "q8_0.quantize"};
  implementation.profile_points = {
      {"spec", {5, 8}}, {"ggml", {8, 8}}, {"candle", {2, 8}}};
  implementation.seconds = 1.25;
  implementation.peak_rss_bytes = 12 << 20;
  return implementation;
}

void AddBetaRows(Sample* sample) {
  const auto& vectors = sample->vectors.vectors;
  const std::string hostile =
      std::string(kHostileMarkup) + kHostileEscape + "\nline two";
  Row crash = MakeRow("beta/full", vectors[0], Outcome::kFail, "crash");
  crash.reason = "the driver died";
  crash.signal = "SIGFPE";
  crash.stderr_tail = "boom " + hostile;
  sample->result.rows.push_back(crash);

  Row differs = MakeRow("beta/full", vectors[1], Outcome::kFail, "accept");
  differs.reason = "accepted but read differently";
  differs.difference = "kv[0].value: expected 32, got " + hostile;
  differs.answer = {{"verdict", "accept"}, {"detail", "pid 4711"}};
  sample->result.rows.push_back(differs);

  Row policy = MakeRow("beta/full", vectors[2], Outcome::kPolicy, "reject");
  policy.expected = "accept or reject (policy)";
  policy.reason = "as candle";
  policy.profiles = {"candle"};
  sample->result.rows.push_back(policy);

  Row foreseen =
      MakeRow("beta/full", vectors[3], Outcome::kExpectedDeviation, "accept");
  foreseen.reason = "known upstream, issue 12";
  sample->result.rows.push_back(foreseen);

  Row not_compared =
      MakeRow("beta/full", vectors[4], Outcome::kNotCompared, "accept");
  not_compared.reason = "does not report alignment";
  sample->result.rows.push_back(not_compared);

  Row not_run = MakeRow("beta/full", vectors[5], Outcome::kNotRun, "");
  not_run.reason = "needs AVX-512";
  not_run.variant = "avx512";
  sample->result.rows.push_back(not_run);
}

}  // namespace

Sample SampleRun() {
  Sample sample;
  sample.vectors.version = "1.0.0";
  auto& vectors = sample.vectors.vectors;
  vectors = {
      FileVector("gguf.align.value.zero-1", "gguf.align.value.zero", 0,
                 "reject"),
      FileVector("gguf.align.value.default-1", "gguf.align.value.default", 32,
                 "accept"),
      FileVector("gguf.align.value.multiple_of_8-1",
                 "gguf.align.value.multiple_of_8", 24, "accept"),
      FileVector("gguf.align.value.pow2_below_8-1",
                 "gguf.align.value.pow2_below_8", 4, "reject"),
      FileVector("gguf.align.value.honoured-1", "gguf.align.value.honoured", 64,
                 "accept"),
      FileVector("gguf.align.value.huge-1", "gguf.align.value.huge", 128,
                 "accept"),
  };
  vectors[0].notes = "SIGFPE in readers that divide by it";
  for (const Vector& vector : vectors) {
    sample.result.rows.push_back(MakeRow("alpha", vector, Outcome::kPass,
                                         vector.expect.at("spec").verdict));
    if (vector.expect.at("spec").verdict == "reject") {
      sample.result.rows.back().rule_matches = true;
      sample.result.rows.back().offset_matches = true;
    }
  }
  AddBetaRows(&sample);

  Implementation beta = MakeImplementation("beta/full");
  beta.language = std::string("C") + kHostileMarkup;
  beta.arithmetic = {{"q8_0.quantize", "equals ggml-avx2 on 40 of 40"}};
  beta.stale_deviations = {"gguf.kv.bool.range: no vector matches"};
  beta.overdue_deviations = {"gguf.kv.key.empty: until 2026-01-01"};
  Implementation gamma = MakeImplementation("gamma");
  gamma.status = ImplementationStatus::kNotRun;
  gamma.why = "not installed";
  gamma.profile_points.clear();
  sample.result.implementations = {MakeImplementation("alpha"), beta, gamma};
  sample.result.executed = 11;
  sample.result.skipped = 1;
  sample.result.total = 12;
  sample.result.canary_caught = true;
  sample.result.canary_detail = "5 vectors, 1 planted bug caught";
  sample.result.run = {{"started", "2026-01-01T00:00:00Z"},
                       {"command", "weightproof run"}};
  return sample;
}

Sample LargeRun(int implementations, int vectors) {
  Sample sample;
  sample.vectors.version = "1.0.0";
  sample.result.canary_caught = true;
  for (int i = 0; i < vectors; ++i) {
    const Rule& rule = Rules()[i % Rules().size()];
    sample.vectors.vectors.push_back(
        FileVector(fmt::format("{}-{}", rule.id, i), std::string(rule.id),
                   static_cast<std::uint8_t>(i), "reject"));
  }
  constexpr Outcome kOutcomes[] = {
      Outcome::kPass, Outcome::kPass,   Outcome::kFail, Outcome::kPolicy,
      Outcome::kFail, Outcome::kNotRun, Outcome::kPass, Outcome::kPass};
  for (int n = 0; n < implementations; ++n) {
    const std::string name = fmt::format("implementation-{:02}", n);
    sample.result.implementations.push_back(MakeImplementation(name));
    for (int i = 0; i < vectors; ++i) {
      const Outcome outcome =
          n == 0 ? Outcome::kPass : kOutcomes[(i * 7 + n * 3 + i / 9) % 8];
      Row row = MakeRow(name, sample.vectors.vectors[i], outcome,
                        outcome == Outcome::kPass     ? "reject"
                        : outcome == Outcome::kNotRun ? ""
                                                      : "accept");
      if (outcome != Outcome::kPass) row.reason = "accepted, must be refused";
      if (outcome == Outcome::kFail) {
        row.stderr_tail = std::string(500, 'e');
        if (i % 3 == 0) {
          row.verdict = "crash";
          row.signal = "SIGSEGV";
        }
      }
      if (outcome == Outcome::kPolicy) row.profiles = {"ggml", "candle"};
      sample.result.rows.push_back(row);
      ++sample.result.total;
      ++sample.result.executed;
    }
  }
  return sample;
}

}  // namespace weightproof::reports
