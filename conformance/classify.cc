#include "conformance/classify.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/classify_common.h"
#include "conformance/numeric.h"

namespace weightproof::conformance {
namespace {

std::optional<std::uint64_t> FirstDifferentByte(
    std::span<const std::uint8_t> expected, std::span<const std::uint8_t> got) {
  if (expected.size() != got.size()) return 0;
  const auto [a, b] =
      std::mismatch(expected.begin(), expected.end(), got.begin());
  if (a == expected.end()) return std::nullopt;
  return static_cast<std::uint64_t>(a - expected.begin());
}

// Where an answer leaves the result of a variant, if it does.
std::optional<std::uint64_t> Difference(const NumericResult& expected,
                                        const NumericAnswer& answer) {
  if (expected.rejected != answer.rejected) return 0;
  if (expected.rejected) return std::nullopt;
  const std::string& operation = answer.vector->operation;
  if (SameOutput(operation, expected.y, answer.y)) return std::nullopt;
  // A NaN of another pattern is no difference: skip it.
  const auto canonical = CanonicalOutput(operation, answer.y);
  const auto at = FirstDifferentByte(expected.y, canonical);
  return at ? at : FirstDifferentByte(expected.y, answer.y);
}

struct Score {
  std::string_view name;
  int matched = 0;
  std::optional<FirstDifference> first;
};

std::string VerdictOf(const Arithmetic& result) {
  if (result.total == 0) return "no vectors";
  const std::string counts =
      fmt::format("{} of {}", result.matched, result.total);
  if (result.variant) {
    return fmt::format("follows {} on {} vectors", *result.variant, counts);
  }
  return fmt::format("no variant; nearest {}, {}, first difference {} byte {}",
                     result.nearest, counts, result.first_difference->vector,
                     result.first_difference->byte);
}

// How many blocks and bytes of a bulk answer differ; nothing for others.
std::optional<BulkDifference> CountBlocks(const NumericResult& spec,
                                          const NumericAnswer& answer) {
  constexpr std::size_t kBlock = 34;
  if (!answer.vector->id.starts_with("q8b-") || answer.rejected ||
      spec.y.size() != answer.y.size()) {
    return std::nullopt;
  }
  BulkDifference count = {answer.vector->id, 0, spec.y.size() / kBlock, 0};
  for (std::size_t at = 0; at < spec.y.size(); at += kBlock) {
    std::uint64_t bytes = 0;
    for (std::size_t i = at; i < at + kBlock; ++i) {
      bytes += spec.y[i] != answer.y[i] ? 1 : 0;
    }
    count.bytes += bytes;
    count.blocks += bytes > 0 ? 1 : 0;
  }
  return count;
}

// The first few of many.
std::string Few(const std::vector<std::string>& ids) {
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + ids[i];
  }
  return ids.size() > kShown ? text + ", ..." : text;
}

}  // namespace

std::string Describe(const Arithmetic& arithmetic) {
  std::string text = arithmetic.verdict;
  if (!arithmetic.leaves_spec.empty()) {
    text +=
        fmt::format("; leaves spec on {}: {}", arithmetic.leaves_spec.size(),
                    Few(arithmetic.leaves_spec));
  }
  for (const BulkDifference& bulk : arithmetic.bulk) {
    text +=
        fmt::format("; {}: {} of {} blocks differ, in {} bytes", bulk.vector,
                    bulk.blocks, bulk.blocks_total, bulk.bytes);
  }
  if (!arithmetic.out_of_bound.empty()) {
    text += "; beyond the error bound: " + Few(arithmetic.out_of_bound);
  }
  return text;
}

bool SameOutput(std::string_view operation,
                std::span<const std::uint8_t> expected,
                std::span<const std::uint8_t> got) {
  if (expected.size() != got.size()) return false;
  if (std::ranges::equal(expected, got)) return true;
  return std::ranges::equal(expected, CanonicalOutput(operation, got));
}

Arithmetic MatchNamed(std::string_view operation,
                      std::span<const NumericAnswer> answers,
                      const q8_0::Quantizer& quantizer,
                      const std::function<bool(const Vector&)>& use) {
  Arithmetic result;
  result.operation = operation;
  std::vector<Score> scores;
  for (const std::string_view name : VariantNames(operation)) {
    scores.push_back({name, 0, std::nullopt});
  }
  for (const NumericAnswer& answer : answers) {
    const Vector& vector = *answer.vector;
    if (vector.operation != operation || (use && !use(vector))) continue;
    const auto request = ReadRequest(vector);
    if (!request) continue;
    ++result.total;
    for (Score& score : scores) {
      const NumericResult expected = AnswerAs(*request, score.name, quantizer);
      const auto at = Difference(expected, answer);
      if (!at) {
        ++score.matched;
        continue;
      }
      if (!score.first) score.first = FirstDifference{vector.id, *at};
      if (score.name != "spec") continue;
      result.leaves_spec.push_back(vector.id);
      if (auto count = CountBlocks(expected, answer)) {
        result.bulk.push_back(std::move(*count));
      }
    }
  }
  // The first of equals: spec, then the order of the list.
  const Score& best = *std::ranges::max_element(
      scores, {}, [](const Score& score) { return score.matched; });
  result.nearest = best.name;
  result.matched = best.matched;
  result.first_difference = best.first;
  if (result.total > 0 && best.matched == result.total) {
    result.variant = result.nearest;
  }
  result.verdict = VerdictOf(result);
  return result;
}

bool AnswerEquals(const Vector& vector, const Json& expected,
                  const NumericAnswer& answer) {
  if (!expected.is_object()) return false;
  const bool reject = expected.contains("reject");
  if (reject || answer.rejected) return reject && answer.rejected;
  if (expected.contains("y_sha256")) {
    return expected["y_sha256"] ==
           Sha256Hex(CanonicalOutput(vector.operation, answer.y));
  }
  if (!expected.contains("y")) return answer.y.empty();
  const auto y = ExpandBuffer(expected["y"]);
  return y && SameOutput(vector.operation, *y, answer.y);
}

std::vector<std::string> MatchingVariants(const NumericAnswer& answer) {
  std::vector<std::string> names;
  const auto request = ReadRequest(*answer.vector);
  if (!request) return names;
  for (const std::string_view name : VariantNames(request->operation)) {
    if (!Difference(AnswerAs(*request, name), answer)) {
      names.emplace_back(name);
    }
  }
  return names;
}

}  // namespace weightproof::conformance
