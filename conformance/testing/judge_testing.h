// What tests of the judge share: vectors, subjects and answers in one line.
#ifndef WEIGHTPROOF_CONFORMANCE_TESTING_JUDGE_TESTING_H_
#define WEIGHTPROOF_CONFORMANCE_TESTING_JUDGE_TESTING_H_

#include <string>
#include <string_view>
#include <utility>

#include "conformance/dump.h"
#include "conformance/judge.h"

namespace weightproof::conformance {

inline Json ExampleDump() {
  return Json::parse(R"({"version":3,"endian":"little","alignment":32,
    "data_offset":"64","file_size":"96",
    "kv":[{"key":"k","type":"u32","value":7}],
    "tensors":[{"name":"t","dims":["8"],"type":0,"offset":"0","size":"32"}],
    "policies":[]})");
}

inline Expectation Cell(std::string verdict, std::string rule = "",
                        std::optional<std::uint64_t> offset = std::nullopt) {
  Expectation expectation;
  expectation.verdict = std::move(verdict);
  if (!rule.empty()) expectation.rule = std::move(rule);
  expectation.offset = offset;
  return expectation;
}

// cells: spec, ggml, candle by their first letter; "AAA", "RAP".
inline Vector MakeVector(std::string_view cells,
                         std::string rule = "gguf.kv.scalar.exact") {
  Vector vector;
  vector.id = "v-1";
  vector.format = "gguf";
  vector.operation = "gguf.parse";
  vector.rule = rule;
  vector.dump = ExampleDump();
  const auto cell = [&](char c) {
    switch (c) {
      case 'A':
        return Cell("accept");
      case 'R':
        return Cell("reject", rule, 24);
      case 'U':
        return Cell("unsupported", rule, 24);
      case 'L':
        return Cell("limit", rule, 24);
      default:
        return Cell("policy", rule, 24);
    }
  };
  vector.expect["spec"] = cell(cells[0]);
  vector.expect["ggml"] = cell(cells[1]);
  vector.expect["candle"] = cell(cells[2]);
  return vector;
}

inline Subject Foreign() {
  Subject subject;
  subject.name = "foreign";
  subject.hello.operations = {"gguf.parse", "gguf.tensor"};
  subject.hello.verdicts = {"accept", "reject", "unsupported", "limit"};
  const auto fields = AllDumpFields();
  subject.hello.dump.assign(fields.begin(), fields.end());
  subject.repro = "./weightproof repro foreign";
  return subject;
}

inline CaseRecord Answered(Json answer) {
  CaseRecord record;
  record.vector = "v-1";
  record.reply.answer = std::move(answer);
  return record;
}

inline CaseRecord Accept(Json dump = ExampleDump()) {
  return Answered(
      {{"status", "ok"}, {"verdict", "accept"}, {"dump", std::move(dump)}});
}

inline CaseRecord Says(std::string_view verdict) {
  return Answered({{"status", "ok"}, {"verdict", verdict}});
}

inline CaseRecord Died(std::string verdict, std::string signal) {
  CaseRecord record;
  record.reply.fate =
      Fate{std::move(verdict), std::move(signal), "", "", false};
  return record;
}

inline Row Judged(std::string_view cells, const CaseRecord& record,
                  const Subject& subject = Foreign()) {
  return JudgeCase(subject, MakeVector(cells), record, {});
}

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_TESTING_JUDGE_TESTING_H_
