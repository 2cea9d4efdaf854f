#include "fuzzers/q8_0/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "reference/q8_0/blocks.h"
#include "reference/rule.h"

namespace weightproof::fuzzers {
namespace {

constexpr std::array<std::string_view, kQ80Operations> kNames = {
    "q8_0.quantize", "q8_1.quantize",   "q8_0.dequantize", "q8_0.dot",
    "q8_0.matvec",   "q8_0.matvec f32", "q8_0.validate",   "q8_1.validate",
    "f16.from_f32",  "f16.to_f32"};

std::string_view NameOf(Q80Operation operation) {
  return kNames[static_cast<std::size_t>(operation)];
}

std::string_view Verdict(const Q80Answer& answer) {
  return answer.answer.verdict == WP_ACCEPT ? "accept" : "reject";
}

// The first place where two images differ, NaN as a class; nothing if they
// agree. width: 4 for f32, 2 for f16, 1 for blocks.
std::optional<std::size_t> FirstDifference(const Bytes& a, const Bytes& b,
                                           std::size_t width) {
  for (std::size_t i = 0; i + width <= a.size(); i += width) {
    if (std::memcmp(a.data() + i, b.data() + i, width) == 0) continue;
    std::uint32_t bits_a = 0, bits_b = 0;
    std::memcpy(&bits_a, a.data() + i, width);
    std::memcpy(&bits_b, b.data() + i, width);
    const std::uint32_t infinity = width == 4 ? 0x7f800000 : 0x7c00;
    const std::uint32_t magnitude = width == 4 ? 0x7fffffff : 0x7fff;
    const bool nan = width > 1 && (bits_a & magnitude) > infinity &&
                     (bits_b & magnitude) > infinity;
    if (!nan) return i;
  }
  return std::nullopt;
}

std::size_t OutputWidth(Q80Operation operation) {
  switch (operation) {
    case Q80Operation::kQuantize:
    case Q80Operation::kQuantizeQ81:
      return 1;
    case Q80Operation::kFromF32:
      return 2;
    default:
      return 4;
  }
}

std::string Shape(const Q80Case& input) {
  return fmt::format("{} n={} rows={} cols={} skew x={} w={} y={}",
                     NameOf(input.operation), input.n, input.rows, input.cols,
                     input.x_skew, input.w_skew, input.y_skew);
}

class Q80Check {
 public:
  Q80Check(const Subjects& subjects, const Q80Case& input)
      : subjects_(subjects), input_(input) {}

  Execution Run() {
    expected_ = AskQ80(*subjects_.trusted, nullptr, input_);
    Describe();
    if (!expected_.offered) return std::move(execution_);
    for (const wp_implementation* tested : subjects_.tested) {
      Test(*tested, nullptr);
      for (const char* const* v = tested->variants; v && *v != nullptr; ++v) {
        if (tested->variant_runs == nullptr || tested->variant_runs(*v)) {
          Test(*tested, *v);
        }
      }
    }
    return std::move(execution_);
  }

 private:
  void Describe() {
    const wp_answer& answer = expected_.answer;
    execution_.accepted = answer.verdict == WP_ACCEPT;
    const auto operation = static_cast<std::uint64_t>(input_.operation);
    std::uint64_t rule_index = 0;
    if (answer.rule != nullptr) {
      const auto rule = FindRule(answer.rule);
      execution_.rule = answer.rule;
      execution_.stage = rule ? Rules()[*rule].stage : "unknown";
      rule_index = rule ? *rule : 0xffff;
    }
    const auto add = [&](std::size_t i, std::uint64_t seen) {
      execution_.features[i] =
          Random(operation | seen << 8 | std::uint64_t{i} << 60).Next() | 1;
    };
    add(0, rule_index);
    add(1, static_cast<std::uint64_t>(std::bit_width(input_.n)) << 4 |
               std::uint64_t(input_.rows & 15));
    add(2, input_.x_skew);
    // Some of the values that came out, by sign and exponent.
    if (expected_.y.size() < 4) return;
    Random pick(HashBytes(input_.x));
    for (std::size_t i = 3; i < 6; ++i) {
      const std::uint64_t at = pick.Below(expected_.y.size() / 4) * 4;
      add(i, std::uint64_t{expected_.y[at + 3]} << 8 |
                 std::uint64_t{expected_.y[at + 2]} >> 7);
    }
  }

  void Report(FindingKind kind, const wp_implementation& tested,
              const char* variant, std::string behaviour,
              std::string description) {
    if (execution_.finding) return;
    Finding finding;
    finding.kind = kind;
    finding.implementation = tested.name;
    if (expected_.answer.rule != nullptr) finding.rule = expected_.answer.rule;
    finding.behaviour = fmt::format("{}{}{}: {}", NameOf(input_.operation),
                                    variant == nullptr ? "" : " ",
                                    variant ? variant : "", behaviour);
    finding.description =
        fmt::format("{}: {}", Shape(input_), std::move(description));
    execution_.finding = std::move(finding);
  }

  void Test(const wp_implementation& tested, const char* variant) {
    const Q80Answer got = AskQ80(tested, variant, input_);
    if (!got.offered) return;
    if (!got.violation.empty()) {
      Report(FindingKind::kOverwrite, tested, variant, got.violation,
             got.violation);
    }
    CompareAnswers(tested, variant, got);
    if (!execution_.finding && execution_.accepted) {
      CompareOutputs(tested, variant, got);
      if (input_.operation == Q80Operation::kDequantize) {
        CheckFixpoint(tested, variant, got);
      }
    }
  }

  // Data that no quantizer writes are accepted and said to be so.
  bool IsCanonical(const wp_answer& answer) const {
    const bool validate = input_.operation == Q80Operation::kValidate ||
                          input_.operation == Q80Operation::kValidateQ81;
    return !validate ||
           !std::string_view(answer.detail).starts_with("not canonical");
  }

  void CompareAnswers(const wp_implementation& tested, const char* variant,
                      const Q80Answer& got) {
    const wp_answer& a = expected_.answer;
    const wp_answer& b = got.answer;
    if (a.verdict != b.verdict) {
      Report(FindingKind::kVerdict, tested, variant,
             fmt::format("{} instead of {}", Verdict(got), Verdict(expected_)),
             fmt::format("expected {} {}, got {} {}", Verdict(expected_),
                         a.rule ? a.rule : "", Verdict(got),
                         b.rule ? b.rule : ""));
      return;
    }
    if (a.rule != nullptr && b.rule != nullptr &&
        std::strcmp(a.rule, b.rule) != 0) {
      Report(FindingKind::kRule, tested, variant, b.rule,
             fmt::format("expected {}, got {}", a.rule, b.rule));
    }
    if (a.verdict == WP_ACCEPT && IsCanonical(a) != IsCanonical(b)) {
      Report(FindingKind::kVerdict, tested, variant, "canonical or not",
             fmt::format("expected '{}', got '{}'", a.detail, b.detail));
    }
    const bool rows = input_.operation == Q80Operation::kQuantize ||
                      input_.operation == Q80Operation::kQuantizeQ81;
    if (a.verdict == WP_REJECT && rows && a.row != b.row) {
      Report(FindingKind::kOffset, tested, variant, "another row",
             fmt::format("expected row {}, got {}", a.row, b.row));
    }
    if (a.verdict == WP_REJECT && a.offset != b.offset &&
        b.offset != WP_NO_OFFSET) {
      Report(FindingKind::kOffset, tested, variant, "another byte",
             fmt::format("expected {}, got {}", a.offset, b.offset));
    }
  }

  void CompareOutputs(const wp_implementation& tested, const char* variant,
                      const Q80Answer& got) {
    const auto at =
        FirstDifference(expected_.y, got.y, OutputWidth(input_.operation));
    if (at) {
      std::string a, b;
      for (std::size_t i = *at; i < std::min(*at + 4, got.y.size()); ++i) {
        a += fmt::format("{:02x}", expected_.y[i]);
        b += fmt::format("{:02x}", got.y[i]);
      }
      Report(FindingKind::kOutput, tested, variant, "other bits",
             fmt::format("byte {} of {}: expected {}, got {}", *at,
                         got.y.size(), a, b));
    }
    if (!got.isum.empty() && got.isum != expected_.isum) {
      Report(FindingKind::kOutput, tested, variant, "other integer sums",
             "isum differs");
    }
  }

  // A block with a positive scale and a code of magnitude 127, but no -128,
  // comes back as it was.
  void CheckFixpoint(const wp_implementation& tested, const char* variant,
                     const Q80Answer& floats) {
    Q80Case back;
    back.operation = Q80Operation::kQuantize;
    back.n = 32;
    for (std::size_t block = 0;
         (block + 1) * q8_0::kQ80Bytes <= input_.x.size(); ++block) {
      const std::uint8_t* image = input_.x.data() + block * q8_0::kQ80Bytes;
      if (!IsFixpoint(image)) continue;
      const auto begin =
          floats.y.begin() + static_cast<std::ptrdiff_t>(block * 128);
      back.x.assign(begin, begin + 128);
      const Q80Answer again = AskQ80(tested, variant, back);
      if (!again.offered) return;
      if (std::memcmp(again.y.data(), image, q8_0::kQ80Bytes) != 0) {
        Report(FindingKind::kRoundTrip, tested, variant,
               "dequantized and quantized again",
               fmt::format("block {} changed", block));
      }
    }
  }

  static bool IsFixpoint(const std::uint8_t* image) {
    const unsigned scale = image[0] | unsigned{image[1]} << 8;
    if (scale == 0 || scale >= 0x7c00) return false;
    bool full = false;
    for (std::size_t i = 2; i < q8_0::kQ80Bytes; ++i) {
      if (image[i] == 0x80) return false;
      full |= image[i] == 0x7f || image[i] == 0x81;
    }
    return full;
  }

  const Subjects& subjects_;
  const Q80Case& input_;
  Q80Answer expected_;
  Execution execution_;
};

}  // namespace

Execution CheckQ80Case(const Subjects& subjects, const Q80Case& input,
                       Depth /*depth*/) {
  return Q80Check(subjects, input).Run();
}

Execution CheckQ80(const Subjects& subjects, ByteSpan entropy, Depth depth) {
  return CheckQ80Case(subjects, GenerateQ80(entropy), depth);
}

}  // namespace weightproof::fuzzers
