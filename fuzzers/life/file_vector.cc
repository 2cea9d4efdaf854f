#include "fuzzers/life/file_vector.h"

#include <fmt/format.h>

#include <utility>

#include "conformance/vector_answers.h"
#include "fuzzers/life/classify.h"
#include "impls/registry.h"

namespace weightproof::fuzzers {

using conformance::Expectation;
using conformance::ReaderAnswer;
using conformance::Vector;

std::expected<Vector, std::string> FileVector(Bytes file) {
  Vector vector;
  vector.id = fmt::format("file-{:08x}", HashBytes(file) >> 32);
  vector.format = "gguf";
  vector.operation = "gguf.parse";
  vector.rule = "gguf.header.file.minimal";
  vector.bytes.chunks = {corpus::Literal{std::move(file)}};
  const auto view = conformance::FileView::Make(vector.bytes);
  if (!view) return std::unexpected(view.error());
  for (const char* profile : kClassProfiles) {
    ReaderAnswer answer = conformance::AskParse(
        *impls::FindBuiltIn("reference"), *view, {profile, 0, false});
    if (!answer.problem.empty()) return std::unexpected(answer.problem);
    Expectation& expected = vector.expect[profile];
    expected.verdict = answer.policies.empty() ? answer.verdict : "policy";
    expected.rule = answer.rule;
    expected.offset = answer.offset;
    expected.policies = answer.policies;
    if (!answer.policies.empty()) expected.rule = answer.policies.front();
    if (std::string_view(profile) == "spec" && expected.rule) {
      vector.rule = *expected.rule;
    }
    if (answer.dump.is_null()) continue;
    if (vector.dump.is_null()) {
      vector.dump = answer.dump;
    } else if (vector.dump != answer.dump) {
      expected.dump = answer.dump;
    }
  }
  return vector;
}

}  // namespace weightproof::fuzzers
