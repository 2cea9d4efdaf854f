#include "conformance/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "conformance/judge_internal.h"

namespace weightproof::conformance {
namespace {

using judge::ColumnFit;
using judge::Context;
using judge::Fit;

constexpr std::array<const char*, 3> kProfiles = {"spec", "ggml", "candle"};
constexpr std::size_t kShownAnswer = 4096;

// The columns that make a claim.
std::vector<std::string> Columns(const Vector& vector) {
  std::vector<std::string> columns;
  for (const char* profile : kProfiles) {
    const auto it = vector.expect.find(profile);
    if (it != vector.expect.end() && it->second.verdict != "n/a") {
      columns.push_back(profile);
    }
  }
  return columns;
}

bool SameColumn(const Vector& vector, const Expectation& a,
                const Expectation& b) {
  if (a.verdict != b.verdict) return false;
  if (judge::IsNumeric(vector))
    return a.answer == b.answer || b.answer.is_null();
  const bool accepts = a.verdict != "reject" && a.verdict != "unsupported";
  return !accepts || (judge::DumpOf(vector, a) == judge::DumpOf(vector, b) &&
                      a.answer == b.answer);
}

bool Differ(const Vector& vector, const std::vector<std::string>& columns) {
  return std::ranges::any_of(columns, [&](const std::string& profile) {
    return !SameColumn(vector, vector.expect.at(columns.front()),
                       vector.expect.at(profile));
  });
}

std::string CellInWords(const std::string& cell) {
  if (cell == "policy") return "accept or reject (policy)";
  if (cell == "limit") return "limit or accept";
  if (cell == "bound") return "accept within the error bound";
  return cell;
}

std::string Expected(const Vector& vector,
                     const std::vector<std::string>& columns) {
  if (columns.size() == 1) {
    return CellInWords(vector.expect.at(columns.front()).verdict);
  }
  std::string text;
  for (const std::string& profile : columns) {
    if (!text.empty()) text += "; ";
    text += profile + ": " + CellInWords(vector.expect.at(profile).verdict);
  }
  return text;
}

Json Abbreviated(const Json& answer) {
  const auto dump = [](const Json& json) {
    return json.dump(-1, ' ', true, Json::error_handler_t::replace);
  };
  if (!answer.is_object() || dump(answer).size() <= kShownAnswer) return answer;
  Json shown = Json::object();
  for (const auto& [name, value] : answer.items()) {
    const std::string text = dump(value);
    shown[name] =
        text.size() <= 256 ? value : Json(text.substr(0, 253) + "...");
  }
  return shown;
}

// The columns that decide about this subject.
std::vector<std::string> Deciding(const Subject& subject, const Vector& vector,
                                  const std::vector<std::string>& columns,
                                  bool differ) {
  if (!differ) return {columns.front()};
  const auto& declared = subject.hello.profile;
  if (declared && std::ranges::find(columns, *declared) != columns.end()) {
    return {*declared};
  }
  (void)vector;
  return columns;
}

void ScoreFinding(const Vector& vector, const Observation& seen,
                  const std::vector<std::string>& columns, Row& row) {
  if (seen.verdict != "reject" && seen.verdict != "unsupported" &&
      seen.verdict != "limit") {
    return;
  }
  for (const std::string& profile : columns) {
    const Expectation& expected = vector.expect.at(profile);
    if (expected.rule && seen.rule) {
      row.rule_matches =
          row.rule_matches.value_or(false) || *expected.rule == *seen.rule;
    }
    if (expected.offset && seen.offset) {
      const Json file = seen.answer.value("file", Json());
      const bool same_file =
          !expected.file || file.is_null() || file == Json(*expected.file);
      row.offset_matches = row.offset_matches.value_or(false) ||
                           (*expected.offset == *seen.offset && same_file);
    }
  }
}

Outcome OutcomeOf(Fit fit, bool policy) {
  switch (fit) {
    case Fit::kYes:
      return policy ? Outcome::kPolicy : Outcome::kPass;
    case Fit::kNotCompared:
      return Outcome::kNotCompared;
    default:
      return Outcome::kFail;
  }
}

// Rows that never come to a comparison. True if this is one.
bool JudgeWithoutComparison(const Observation& seen, Row& row) {
  if (seen.not_run) {
    row.outcome = Outcome::kNotRun;
    row.reason = seen.why;
    return true;
  }
  constexpr std::array<std::string_view, 4> kVerdicts = {
      "accept", "reject", "unsupported", "limit"};
  if (std::ranges::find(kVerdicts, seen.verdict) != kVerdicts.end()) {
    return false;
  }
  row.outcome = Outcome::kFail;
  row.reason = fmt::format("expected {}, got {}", row.expected, seen.verdict);
  if (!seen.signal.empty()) row.reason += " (" + seen.signal + ")";
  if (!seen.why.empty()) row.reason += ": " + seen.why;
  return true;
}

// Why no column fits: each reason once.
std::string Reasons(const std::vector<std::string>& columns,
                    std::map<std::string, ColumnFit>& fits) {
  std::vector<std::string> seen;
  std::string text;
  for (const std::string& profile : columns) {
    const std::string& reason = fits[profile].reason;
    if (reason.empty() || std::ranges::find(seen, reason) != seen.end()) {
      continue;
    }
    seen.push_back(reason);
    if (!text.empty()) text += "; ";
    text += columns.size() == 1 ? reason : profile + ": " + reason;
  }
  return text;
}

void Decide(const Context& context, const std::vector<std::string>& columns,
            bool differ, Row& row) {
  const Subject& subject = context.subject;
  const Vector& vector = context.vector;
  const auto deciding = Deciding(subject, vector, columns, differ);
  std::map<std::string, ColumnFit> fits;
  for (const std::string& profile : columns) {
    fits[profile] = judge::IsNumeric(vector)
                        ? judge::FitNumeric(context, profile)
                        : judge::FitGguf(context, profile);
    if (fits[profile].fit == Fit::kYes) row.profiles.push_back(profile);
  }
  const std::string best = *std::ranges::max_element(
      deciding, {},
      [&](const std::string& profile) { return fits[profile].fit; });
  const ColumnFit& fit = fits[best];
  const bool policy =
      deciding.size() > 1 || vector.expect.at(best).verdict == "policy";
  row.outcome = OutcomeOf(fit.fit, policy);
  row.without_reason = fit.without_reason;
  row.difference = fit.difference;
  row.reason =
      fit.fit < Fit::kNotCompared ? Reasons(deciding, fits) : fit.reason;
  if (row.outcome == Outcome::kPolicy && row.reason.empty()) {
    row.reason =
        deciding.size() > 1 ? "the profiles differ" : "the text leaves it open";
  }
  ScoreFinding(
      vector, context.observation,
      fit.fit == Fit::kYes && !row.profiles.empty() ? row.profiles : deciding,
      row);
}

}  // namespace

Row JudgeCase(const Subject& subject, const Vector& vector,
              const CaseRecord& record, const Classified& classified) {
  Row row;
  row.implementation = subject.name;
  row.vector = vector.id;
  row.rule = vector.rule;
  row.operation = vector.operation;
  row.variant = record.variant;
  row.repro = subject.repro + " " + vector.id;
  const auto columns = Columns(vector);
  const bool differ = !columns.empty() && Differ(vector, columns);
  if (!columns.empty()) {
    row.expected = Expected(vector, Deciding(subject, vector, columns, differ));
  }
  const Observation seen = Observe(vector, record);
  row.verdict = seen.verdict;
  row.late = seen.late;
  row.answer = Abbreviated(seen.answer);
  row.signal = seen.signal;
  row.stderr_tail = seen.stderr_tail;
  if (JudgeWithoutComparison(seen, row)) return row;
  if (columns.empty()) {
    row.outcome = Outcome::kNotCompared;
    row.reason = "no profile makes a claim";
    return row;
  }
  Decide({subject, vector, record, seen, classified}, columns, differ, row);
  if (record.file_modified) {
    row.outcome = Outcome::kFail;
    row.reason = "the vector's file was modified";
  }
  const auto leak = seen.answer.find("fp_leak");
  if (leak != seen.answer.end()) {
    row.outcome = Outcome::kFail;
    row.reason = "build.fp.leak: " + leak->dump();
  }
  return row;
}

namespace {

// Policy points: rows on which the profiles differ, and with which of them an
// answer agrees.
void CountPoints(const Vector& vector, const Row& row,
                 Implementation& implementation) {
  const auto columns = Columns(vector);
  if (row.outcome == Outcome::kNotRun || columns.size() < 2 ||
      !Differ(vector, columns)) {
    return;
  }
  for (const std::string& profile : columns) {
    auto& [agree, all] = implementation.profile_points[profile];
    ++all;
    if (std::ranges::find(row.profiles, profile) != row.profiles.end()) {
      ++agree;
    }
  }
}

}  // namespace

std::vector<Row> JudgeAll(const Subject& subject,
                          const std::vector<const Vector*>& vectors,
                          const std::vector<const CaseRecord*>& records,
                          Implementation& implementation) {
  std::map<std::string, std::vector<std::size_t>> by_variant;
  for (std::size_t i = 0; i < records.size(); ++i) {
    by_variant[records[i]->variant].push_back(i);
  }
  std::vector<Row> rows;
  for (const auto& [variant, indices] : by_variant) {
    std::vector<const Vector*> some_vectors;
    std::vector<const CaseRecord*> some_records;
    for (const std::size_t i : indices) {
      some_vectors.push_back(vectors[i]);
      some_records.push_back(records[i]);
    }
    const Classified classified = Classify(some_vectors, some_records);
    for (const auto& [operation, arithmetic] : classified.by_operation) {
      implementation
          .arithmetic[variant.empty() ? operation : operation + " " + variant] =
          Describe(arithmetic);
    }
    for (const std::size_t i : indices) {
      rows.push_back(JudgeCase(subject, *vectors[i], *records[i], classified));
      CountPoints(*vectors[i], rows.back(), implementation);
    }
  }
  return rows;
}

}  // namespace weightproof::conformance
