#include "fuzzers/gguf/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "corpus/assembler.h"
#include "corpus/disassembler.h"
#include "fuzzers/gguf/generator.h"
#include "fuzzers/gguf/oracle_difference.h"
#include "fuzzers/gguf/token_tree.h"
#include "reference/rule.h"

namespace weightproof::fuzzers {
namespace {

constexpr std::uint64_t kMemoryBase = 1 << 20;
constexpr std::uint64_t kMemoryPerByte = 16;
constexpr std::size_t kLargestRoundTrip = 32768;

Finding Make(FindingKind kind, const wp_implementation& tested,
             const GgufAnswer& expected, std::string behaviour,
             std::string description) {
  Finding finding;
  finding.kind = kind;
  finding.implementation = tested.name;
  if (expected.rule != nullptr) finding.rule = expected.rule;
  finding.behaviour = std::move(behaviour);
  finding.description = std::move(description);
  return finding;
}

bool SameRule(const char* a, const char* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a == b || std::strcmp(a, b) == 0;
}

std::string_view VerdictWord(const GgufAnswer& answer) {
  constexpr std::array<std::string_view, 4> kWords = {"accept", "reject",
                                                      "unsupported", "limit"};
  if (answer.status != WP_STATUS_OK) return "no verdict";
  return answer.verdict >= 0 && answer.verdict < 4
             ? kWords[static_cast<std::size_t>(answer.verdict)]
             : "an unknown verdict";
}

// What holds for one answer alone.
std::optional<Finding> CheckContract(const wp_implementation& tested,
                                     const GgufAnswer& answer, ByteSpan file) {
  std::string what = answer.violation;
  if (answer.status == WP_STATUS_OK) {
    if (answer.verdict < 0 || answer.verdict > 3) what = "unknown verdict";
    if (answer.verdict == WP_ACCEPT && answer.rule != nullptr) {
      what = "accepted with a rule";
    }
    if (answer.offset != WP_NO_OFFSET && answer.offset > file.size()) {
      what = "an offset past the end of the file";
    }
  }
  if (!what.empty()) {
    return Make(FindingKind::kContract, tested, answer, what,
                fmt::format("{}: {}", answer.Describe(), what));
  }
  const std::uint64_t bound = kMemoryBase + kMemoryPerByte * file.size();
  if (answer.peak_bytes > bound) {
    return Make(FindingKind::kAllocation, tested, answer,
                "more than 1 MiB + 16 bytes per byte of the file",
                fmt::format("{} bytes at once for a file of {}; at most {}",
                            answer.peak_bytes, file.size(), bound));
  }
  return std::nullopt;
}

class GgufCheck {
 public:
  GgufCheck(const Subjects& subjects, ByteSpan file, Depth depth,
            GgufAnswer& first, GgufAnswer& second)
      : subjects_(subjects),
        // A copy of exactly its size: a sanitizer sees the byte behind it.
        file_(file.begin(), file.end()),
        all_(depth == Depth::kAll),
        hash_(HashBytes(file)),
        expected_(first),
        got_(second) {}

  Execution Run() {
    const GgufQuestion plain;
    Compare(plain);
    Describe(expected_, 0);
    execution_.accepted = Accepted(expected_);
    if (expected_.rule != nullptr) {
      execution_.rule = expected_.rule;
      execution_.stage = StageOf(expected_.rule);
    }
    const bool accepted = execution_.accepted;
    if (Sampled(3)) Again(plain);
    if (Sampled(3)) Profiles();
    if (Sampled(3)) Prefixes();
    if (Sampled(4)) Base();
    if (accepted && Sampled(2)) Parts();
    if (Sampled(6)) RoundTrip();
    return std::move(execution_);
  }

 private:
  // True for one input of 2^bits; each question has its own share.
  bool Sampled(unsigned bits) {
    const std::uint64_t choice = hash_ & ((1u << bits) - 1);
    hash_ = std::rotr(hash_, static_cast<int>(bits));
    return !execution_.finding && (all_ || choice == 0);
  }

  static bool Accepted(const GgufAnswer& answer) {
    return answer.status == WP_STATUS_OK && answer.verdict == WP_ACCEPT;
  }

  static std::string_view StageOf(std::string_view id) {
    const auto rule = FindRule(id);
    return rule ? Rules()[*rule].stage : std::string_view("unknown");
  }

  void Report(std::optional<Finding> finding) {
    if (finding && !execution_.finding) {
      execution_.finding = std::move(finding);
    }
  }

  // All readers on one question; the trusted answer stays in expected_.
  void Compare(const GgufQuestion& question) {
    AskGguf(*subjects_.trusted, file_, question, expected_);
    Report(CheckContract(*subjects_.trusted, expected_, file_));
    for (const wp_implementation* tested : subjects_.tested) {
      AskGguf(*tested, file_, question, got_);
      Report(CompareGguf(*tested, expected_, got_, true));
      Report(CheckContract(*tested, got_, file_));
      if (execution_.finding) return;
    }
  }

  void Describe(const GgufAnswer& answer, std::uint64_t salt) {
    const auto add = [&](std::uint64_t a, std::uint64_t b) {
      if (used_ == execution_.features.size()) return;
      execution_.features[used_++] =
          Random(salt * 31 + a + (b << 8)).Next() | 1;
    };
    if (answer.rule != nullptr) {
      const auto rule = FindRule(answer.rule);
      add(1, rule ? *rule : 0xffff);
      const auto size = static_cast<unsigned>(std::bit_width(answer.offset));
      add(2, (rule ? *rule : 0xffffu) | (std::uint64_t{size} << 16));
      return;
    }
    if (answer.status != WP_STATUS_OK) return;
    // What was in the file, two things at a time: there are few such pairs, and
    // an input that joins two for the first time is worth keeping.
    std::array<unsigned, 64> bits;
    unsigned count = 0;
    for (unsigned bit = 0; bit < 64; ++bit) {
      if ((answer.kinds >> bit & 1) != 0) bits[count++] = bit;
    }
    Random pick(hash_);
    for (int i = 0; i < 4 && count > 0; ++i) {
      const unsigned a = bits[pick.Below(count)], b = bits[pick.Below(count)];
      add(3, std::min(a, b) | std::max(a, b) << 6);
    }
    add(4, static_cast<unsigned>(std::bit_width(answer.log.size())));
  }

  void Again(const GgufQuestion& question) {
    for (const wp_implementation* tested : Everyone()) {
      AskGguf(*tested, file_, question, expected_);
      AskGguf(*tested, file_, question, got_);
      auto finding = CompareGguf(*tested, expected_, got_, true);
      if (!finding) continue;
      finding->kind = FindingKind::kNondeterminism;
      return Report(std::move(finding));
    }
  }

  void Profiles() {
    for (const char* profile : {"ggml", "candle"}) {
      GgufQuestion question;
      question.profile = profile;
      question.require_keys = (hash_ & 1) != 0;
      Compare(question);
      Describe(expected_, static_cast<unsigned char>(*profile));
    }
    GgufQuestion strict;
    strict.require_keys = true;
    if (!execution_.finding) Compare(strict);
  }

  void Prefixes() {
    std::vector<std::size_t> sizes = {
        static_cast<std::size_t>((hash_ >> 8) % (file_.size() + 1))};
    if (all_ && file_.size() <= 256) {
      sizes.clear();
      for (std::size_t i = 0; i < file_.size(); ++i) sizes.push_back(i);
    }
    for (const std::size_t size : sizes) {
      const Bytes part(file_.begin(),
                       file_.begin() + static_cast<std::ptrdiff_t>(size));
      AskPrefix(part, file_.size());
      if (execution_.finding) return;
    }
  }

  void AskPrefix(const Bytes& part, std::uint64_t file_size) {
    GgufQuestion question;
    question.file_size = file_size;
    AskGguf(*subjects_.trusted, part, question, expected_);
    for (const wp_implementation* tested : subjects_.tested) {
      AskGguf(*tested, part, question, got_);
      Report(CompareGguf(*tested, expected_, got_, true));
    }
  }

  void Base() {
    GgufQuestion question;
    question.base = 1 + (hash_ >> 20) % 96;
    Bytes shifted(static_cast<std::size_t>(question.base), 0x5a);
    shifted.insert(shifted.end(), file_.begin(), file_.end());
    std::swap(shifted, file_);
    Compare(question);
    question.profile = "ggml";
    if (!execution_.finding) Compare(question);
    std::swap(shifted, file_);
  }

  // Tensors and single values of an accepted file.
  void Parts() {
    for (const wp_implementation* tested : subjects_.tested) {
      Report(
          CompareGgufParts(*subjects_.trusted, *tested, file_,
                           all_ ? std::nullopt : std::optional(hash_ >> 16)));
    }
  }

  void RoundTrip() {
    if (file_.size() > kLargestRoundTrip) return;
    const corpus::Disassembly text = corpus::Disassemble(file_);
    if (!text.side.empty()) return;
    const auto again = corpus::Assemble(text.text);
    std::string problem;
    if (!again) {
      problem =
          fmt::format("line {}: {}", again.error().line, again.error().message);
    } else {
      const auto bytes = again->bytes.Materialize(kLargestRoundTrip);
      if (!bytes || *bytes != file_) problem = "other bytes";
    }
    if (problem.empty()) return;
    Finding finding;
    finding.kind = FindingKind::kRoundTrip;
    finding.implementation = "assembler";
    finding.behaviour = "disassembled and assembled again";
    finding.description = std::move(problem);
    Report(std::move(finding));
  }

  std::vector<const wp_implementation*> Everyone() const {
    std::vector<const wp_implementation*> all = {subjects_.trusted};
    all.insert(all.end(), subjects_.tested.begin(), subjects_.tested.end());
    return all;
  }

  const Subjects& subjects_;
  Bytes file_;
  bool all_;
  std::uint64_t hash_;
  // Kept from one execution to the next: their memory is what costs.
  GgufAnswer& expected_;
  GgufAnswer& got_;
  Execution execution_;
  std::size_t used_ = 0;
};

thread_local GgufAnswer first_answer, second_answer;

}  // namespace

std::optional<Finding> CompareGguf(const wp_implementation& tested,
                                   const GgufAnswer& expected,
                                   const GgufAnswer& got, bool rule_matters) {
  const auto both = [&] {
    return fmt::format("expected {}, got {}", expected.Describe(),
                       got.Describe());
  };
  if (expected.status != got.status || expected.verdict != got.verdict) {
    return Make(FindingKind::kVerdict, tested, expected,
                fmt::format("{} instead of {}", VerdictWord(got),
                            VerdictWord(expected)),
                both());
  }
  if (rule_matters && !SameRule(expected.rule, got.rule)) {
    return Make(
        FindingKind::kRule, tested, expected,
        fmt::format("for {}", got.rule == nullptr ? "no rule" : got.rule),
        both());
  }
  if (rule_matters && expected.offset != got.offset) {
    return Make(FindingKind::kOffset, tested, expected, "at another byte",
                both());
  }
  if (expected.log != got.log) {
    return Make(FindingKind::kDump, tested, expected,
                "accepted, but read differently",
                DescribeLogDifference(expected.log, got.log));
  }
  return std::nullopt;
}

Execution CheckGguf(const Subjects& subjects, ByteSpan file, Depth depth) {
  return GgufCheck(subjects, file, depth, first_answer, second_answer).Run();
}

Execution CheckGeneratedGguf(const Subjects& subjects, ByteSpan entropy,
                             Depth depth) {
  const Bytes file = GenerateGguf(entropy);
  Execution execution = CheckGguf(subjects, file, depth);
  if (!execution.accepted && !execution.finding) {
    GgufAnswer answer;
    AskGguf(*subjects.trusted, file, {}, answer);
    execution.finding =
        Make(FindingKind::kGenerator, *subjects.trusted, answer,
             "a generated file is not accepted", answer.Describe());
  }
  if (depth == Depth::kAll && Serialize(ParseTokens(file)) != file &&
      !execution.finding) {
    execution.finding = Make(FindingKind::kRoundTrip, *subjects.trusted, {},
                             "tokens put together again", "other bytes");
  }
  return execution;
}

}  // namespace weightproof::fuzzers
