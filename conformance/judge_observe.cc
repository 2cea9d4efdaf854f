#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "conformance/judge.h"
#include "conformance/protocol.h"

namespace weightproof::conformance {
namespace {

void TakeFate(const Fate& fate, const std::string& where, Observation& seen) {
  seen.verdict = fate.verdict;
  seen.signal = fate.signal;
  seen.stderr_tail = fate.stderr_tail;
  seen.why = where.empty() ? fate.detail : where + ": " + fate.detail;
}

// False if the reply settles the observation by itself.
bool TakeReply(const Reply& reply, const std::string& where, Observation& seen,
               Answer& answer) {
  if (reply.fate) {
    TakeFate(*reply.fate, where, seen);
    return false;
  }
  auto parsed = AnswerFromJson(reply.answer);
  const std::string prefix = where.empty() ? "" : where + ": ";
  if (!parsed) {
    seen.verdict = "protocol-error";
    seen.why = prefix + parsed.error();
    return false;
  }
  answer = std::move(*parsed);
  if (answer.status == AnswerStatus::kNotImplemented) {
    seen.verdict = "not-implemented";
    seen.why = prefix + "declared in hello";
    return false;
  }
  if (answer.status == AnswerStatus::kError) {
    seen.verdict = "protocol-error";
    seen.why = prefix + answer.detail;
    return false;
  }
  return true;
}

void TakeFinding(const Answer& answer, Observation& seen) {
  seen.verdict = answer.verdict;
  seen.rule = answer.rule;
  seen.offset = answer.offset;
}

// A tensor that cannot be had refuses the file late; anything worse is what
// the implementation did.
void ObserveTensors(const CaseRecord& record, Observation& seen) {
  for (std::size_t i = 0; i < record.tensors.size(); ++i) {
    const std::string where = fmt::format("gguf.tensor {}", i);
    Answer answer;
    const bool whole = TakeReply(record.tensors[i], where, seen, answer);
    if (!whole) return;
    if (answer.status == AnswerStatus::kNotRun || answer.verdict == "accept") {
      continue;
    }
    TakeFinding(answer, seen);
    seen.late = true;
    seen.why = where + ": " + answer.detail;
    return;
  }
}

// An answer as a value: a reader without order owes no order, so the lists of
// its dump are sorted.
Json Settled(Json answer) {
  const auto dump = answer.is_object() ? answer.find("dump") : answer.end();
  if (dump == answer.end() || !dump->is_object() ||
      dump->value("ordered", Json(true)) != Json(false)) {
    return answer;
  }
  for (const char* list : {"kv", "tensors"}) {
    const auto it = dump->find(list);
    if (it != dump->end() && it->is_array()) std::sort(it->begin(), it->end());
  }
  return answer;
}

bool SameReply(const Reply& a, const Reply& b) {
  if (a == b) return true;
  return !a.fate && !b.fate && Settled(a.answer) == Settled(b.answer);
}

// How a repeated reply differs from the first; empty if it does not.
std::string Change(const CaseRecord& record) {
  const auto describe = [](const Reply& reply) {
    if (reply.fate) return reply.fate->verdict + " " + reply.fate->signal;
    const Json verdict = reply.answer.is_object()
                             ? reply.answer.value("verdict", Json())
                             : Json();
    return verdict.is_string() ? verdict.get<std::string>()
                               : std::string("something else");
  };
  const std::array<std::pair<const std::optional<Reply>*, const char*>, 2>
      repeats = {{{&record.again, "asked again"},
                  {&record.second, "a second process"}}};
  for (const auto& [repeat, when] : repeats) {
    if (!*repeat || SameReply(**repeat, record.reply)) continue;
    const std::string first = describe(record.reply);
    const std::string later = describe(**repeat);
    if (first == later) {
      return fmt::format("{} with other contents when {}", first, when);
    }
    return fmt::format("first {}, then {} when {}", first, later, when);
  }
  return "";
}

}  // namespace

Observation Observe(const Vector& vector, const CaseRecord& record) {
  Observation seen;
  if (!record.not_asked.empty()) {
    seen.not_run = true;
    seen.why = record.not_asked;
    return seen;
  }
  seen.answer = record.reply.answer;
  Answer answer;
  if (!TakeReply(record.reply, "", seen, answer)) return seen;
  if (answer.status == AnswerStatus::kNotRun) {
    seen.not_run = true;
    seen.why = answer.detail;
    return seen;
  }
  TakeFinding(answer, seen);
  const std::string change = Change(record);
  if (!change.empty()) {
    seen.verdict = "nondeterministic";
    seen.why = change;
    return seen;
  }
  if (vector.operation == "gguf.parse" && answer.verdict == "accept") {
    ObserveTensors(record, seen);
  }
  return seen;
}

Admission Admits(std::string_view cell, std::string_view verdict, bool knows,
                 bool declared_over_cap) {
  if (cell == "policy") return {verdict == "accept" || verdict == "reject"};
  if (cell == "bound") return {verdict == "accept"};
  if (verdict == cell) return {true};
  if (cell == "limit" && verdict == "accept") return {true};
  if (cell == "reject") return {verdict == "limit" && declared_over_cap};
  const bool may_refuse = cell == "unsupported" || cell == "limit";
  if (may_refuse && verdict == "reject" && !knows) return {true, true};
  return {};
}

}  // namespace weightproof::conformance
