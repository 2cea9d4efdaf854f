// The vectors as a layer: the built-in readers must match them to the bit.
// Sparse giants, which take seconds to read, are left to the conformance run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "conformance/numeric_answer.h"
#include "conformance/vector_answers.h"
#include "fuzzers/proof/layer.h"

namespace weightproof::fuzzers {
namespace {

using conformance::Expectation;
using conformance::FileView;
using conformance::Json;
using conformance::Question;
using conformance::ReaderAnswer;
using conformance::Vector;

constexpr std::array<const char*, 3> kProfiles = {"spec", "ggml", "candle"};

constexpr std::uint64_t kGiant = std::uint64_t{64} << 20;

struct VectorCase {
  const Vector* vector;
  const char* profile;
};

class VectorLayer : public Layer {
 public:
  std::string_view name() const override { return "vectors"; }
  bool WantsEveryKill() const override { return true; }
  GuardOptions Guard() const override {
    GuardOptions options;
    options.cpu_seconds = 3;
    return options;
  }

  std::expected<void, std::string> Prepare(const conformance::VectorSet& set) {
    for (const Vector& vector : set.vectors) {
      if (vector.format == "q8_0") {
        cases_.push_back({&vector, "spec"});
      } else if (IsAsked(vector.operation) && vector.bytes.Size() <= kGiant) {
        if (auto opened = Open(vector); !opened) return opened;
        for (const char* profile : kProfiles) {
          cases_.push_back({&vector, profile});
        }
      }
    }
    return {};
  }

  std::vector<std::size_t> CasesOf(std::string_view format) const override {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (cases_[i].vector->format == format) out.push_back(i);
    }
    return out;
  }

  std::string NameOf(std::size_t index) const override {
    return cases_[index].vector->id;
  }

  CaseReport Check(std::size_t index,
                   const wp_implementation& subject) const override {
    const VectorCase& asked = cases_[index];
    const Vector& vector = *asked.vector;
    if (vector.format == "q8_0") {
      const auto outcome = conformance::AnswerVector(subject, vector);
      if (!outcome.not_run.empty()) {
        return {CaseReport::kNotRun, outcome.not_run};
      }
      return Said(outcome.wrong, asked.profile);
    }
    return Said(CheckGguf(vector, asked.profile, subject), asked.profile);
  }

 private:
  static bool IsAsked(const std::string& operation) {
    return operation == "gguf.parse" || operation == "gguf.get" ||
           operation == "gguf.tensor" || operation == "gguf.check" ||
           operation == "gguf.open_set";
  }

  // The file of a vector, or those of its set.
  std::expected<void, std::string> Open(const Vector& vector) {
    std::vector<const corpus::Bytes*> contents;
    for (const auto& file : vector.files) contents.push_back(&file.bytes);
    if (contents.empty()) contents.push_back(&vector.bytes);
    for (const corpus::Bytes* bytes : contents) {
      auto file = FileView::Make(*bytes);
      if (!file) return std::unexpected(vector.id + ": " + file.error());
      files_[&vector].push_back(std::move(*file));
    }
    return {};
  }

  static CaseReport Said(const std::string& wrong, const char* profile) {
    if (wrong.empty()) return {CaseReport::kPassed, ""};
    return {CaseReport::kFailed, fmt::format("{}: {}", profile, wrong)};
  }

  std::string CheckGguf(const Vector& vector, const char* profile,
                        const wp_implementation& subject) const {
    const auto found = vector.expect.find(profile);
    if (found == vector.expect.end()) return "";
    const Expectation& expected = found->second;
    const FileView& file = files_.at(&vector).front();
    const Json& request = vector.request;
    Question question{profile, 0, false};
    if (request.is_object()) {
      question.base = request.value("base", std::uint64_t{0});
      question.require_keys = request.value("require_keys", false);
    }
    if (vector.operation == "gguf.open_set") {
      return WrongSet(vector, profile, expected, subject);
    }
    if (vector.operation == "gguf.check") {
      return WrongCheck(expected, AskCheck(subject, file, question));
    }
    if (vector.operation == "gguf.tensor") {
      return WrongPart(expected,
                       AskTensor(subject, file, question,
                                 request.value("index", std::uint64_t{0})));
    }
    if (vector.operation == "gguf.get") {
      const auto type = conformance::ValueTypeOf(request.value("type", ""));
      return WrongPart(expected,
                       AskGet(subject, file, question, request.value("key", ""),
                              type.value_or(99)));
    }
    return WrongParse(vector, expected, AskParse(subject, file, question));
  }

  std::string WrongSet(const Vector& vector, const char* profile,
                       const Expectation& expected,
                       const wp_implementation& subject) const {
    std::vector<std::string> names;
    for (const auto& file : vector.files) names.push_back(file.name);
    std::uint64_t at = 0;
    const ReaderAnswer got =
        AskOpenSet(subject, names, files_.at(&vector), profile, &at);
    if (!got.problem.empty()) return got.problem;
    const bool policy = expected.verdict == "policy";
    if (got.verdict != (policy ? "accept" : expected.verdict)) {
      return Describe(got);
    }
    if (got.verdict == "reject" &&
        (got.rule != expected.rule || got.offset != expected.offset ||
         at != expected.file)) {
      return fmt::format("{} in {}", Describe(got), at);
    }
    return policy && std::ranges::find(got.policies, *expected.rule) ==
                         got.policies.end()
               ? "another policy"
               : "";
  }
  static std::string WrongCheck(const Expectation& expected,
                                const ReaderAnswer& got) {
    if (!got.problem.empty()) return got.problem;
    const bool policy = expected.verdict == "policy";
    if (got.verdict != (policy ? "accept" : expected.verdict)) {
      return Describe(got);
    }
    if (got.verdict != "accept" &&
        (got.rule != expected.rule || got.offset != expected.offset)) {
      return Describe(got);
    }
    // A profile that knows no such type is asked for its verdict alone.
    return expected.answer.is_null() || got.dump == expected.answer
               ? ""
               : "other findings";
  }
  static std::string WrongPart(const Expectation& expected,
                               const ReaderAnswer& got) {
    if (!got.problem.empty()) return got.problem;
    if (got.verdict != expected.verdict) return Describe(got);
    if (got.verdict == "accept" && got.dump != expected.answer) {
      return "another answer";
    }
    return "";
  }

  static std::string WrongParse(const Vector& vector,
                                const Expectation& expected,
                                const ReaderAnswer& got) {
    if (!got.problem.empty()) return got.problem;
    const bool policy = expected.verdict == "policy";
    if (got.verdict != (policy ? "accept" : expected.verdict)) {
      return Describe(got);
    }
    if (got.verdict != "accept") {
      if (got.rule != expected.rule || got.offset != expected.offset) {
        return Describe(got);
      }
      return "";
    }
    if (got.policies != expected.policies) return "other policies";
    Json dump = expected.dump.is_null() ? vector.dump : expected.dump;
    dump["policies"] = got.dump["policies"];
    return dump == got.dump ? "" : "read differently";
  }

  std::vector<VectorCase> cases_;
  std::map<const Vector*, std::vector<FileView>> files_;
};

}  // namespace

LayerResult MakeVectorLayer(const conformance::VectorSet& set) {
  auto layer = std::make_unique<VectorLayer>();
  if (auto prepared = layer->Prepare(set); !prepared) {
    return std::unexpected(prepared.error());
  }
  return layer;
}

}  // namespace weightproof::fuzzers
