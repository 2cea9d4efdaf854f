#include "conformance/numeric_answer.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "conformance/numeric.h"
#include "conformance/numeric_reference.h"

namespace weightproof::conformance {
namespace {

constexpr std::uint8_t kPoison = 0xa5;
constexpr std::size_t kGuard = 64;  // bytes around an output
constexpr std::size_t kMisalign = 1;

// How many bytes an operation writes.
std::size_t OutputBytes(const NumericRequest& request) {
  const std::uint64_t blocks = request.n / 32 * request.rows;
  if (request.operation == "q8_0.quantize") return 34 * blocks;
  if (request.operation == "q8_1.quantize") return 36 * blocks;
  if (request.operation == "q8_0.dequantize") return 128 * blocks;
  if (request.operation == "q8_0.dot") return 4;
  if (request.operation == "q8_0.matvec") {
    return 4 * request.rows * request.cols;
  }
  if (request.operation == "f16.from_f32") return request.x.size() / 2;
  if (request.operation == "f16.to_f32") return 2 * request.x.size();
  return 0;
}

// A copy at an address that is no multiple of 2.
class Misaligned {
 public:
  explicit Misaligned(const std::vector<std::uint8_t>& bytes)
      : memory_(bytes.size() + 64 + kMisalign) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    at_ = (64 - address % 64) % 64 + kMisalign;
    if (!bytes.empty()) {
      std::memcpy(memory_.data() + at_, bytes.data(), bytes.size());
    }
  }
  const std::uint8_t* data() const { return memory_.data() + at_; }

 private:
  std::vector<std::uint8_t> memory_;
  std::size_t at_ = 0;
};

struct Outputs {
  std::uint8_t* y;
  std::uint8_t* isum;
};

void Call(const wp_implementation& impl, const NumericRequest& r,
          std::uint32_t threads, const Outputs& to, wp_answer* answer) {
  const Misaligned xs(r.x), ws(r.w);
  const auto* floats = reinterpret_cast<const float*>(xs.data());
  auto* out = reinterpret_cast<float*>(to.y);
  const wp_slice x = {xs.data(), r.x.size()};
  if (r.operation == "q8_0.quantize") {
    impl.q8_0_quantize(nullptr, floats, r.n, r.rows, to.y, answer);
  } else if (r.operation == "q8_1.quantize") {
    impl.q8_1_quantize(nullptr, floats, r.n, r.rows, to.y, answer);
  } else if (r.operation == "q8_0.dequantize") {
    impl.q8_0_dequantize(nullptr, xs.data(), r.n, r.rows, out, answer);
  } else if (r.operation == "q8_0.dot") {
    impl.q8_0_dot(nullptr, ws.data(), xs.data(), r.n, out,
                  reinterpret_cast<std::int32_t*>(to.isum), answer);
  } else if (r.operation == "q8_0.matvec") {
    impl.q8_0_matvec(nullptr, ws.data(), r.x_is_f32 ? nullptr : xs.data(),
                     r.x_is_f32 ? floats : nullptr, r.n, r.rows, r.cols,
                     threads, out, answer);
  } else if (r.operation == "q8_0.validate") {
    impl.q8_0_validate(x, r.n, r.rows, answer);
  } else if (r.operation == "q8_1.validate") {
    impl.q8_1_validate(x, r.n, r.rows, answer);
  } else if (r.operation == "f16.from_f32") {
    impl.f16_from_f32(nullptr, floats, r.x.size() / 4,
                      reinterpret_cast<std::uint16_t*>(to.y), answer);
  } else {
    impl.f16_to_f32(nullptr, reinterpret_cast<const std::uint16_t*>(xs.data()),
                    r.x.size() / 2, out, answer);
  }
}

std::string RejectedWrong(const Expectation& spec, const wp_answer& answer) {
  if (answer.rule == nullptr || spec.rule != std::string(answer.rule)) {
    return "another rule";
  }
  if (spec.offset.value_or(WP_NO_OFFSET) != answer.offset) {
    return "another offset";
  }
  return "";
}

// Of an accepted answer.
std::string AcceptedWrong(const Vector& vector, const Expectation& spec,
                          const NumericOutcome& outcome,
                          std::span<const std::uint8_t> isum,
                          const wp_answer& answer) {
  const Json& expected = spec.answer;
  if (vector.operation.ends_with(".validate")) {
    const bool canonical =
        !std::string_view(answer.detail).starts_with("not canonical");
    return expected.is_object() &&
                   expected.value("canonical", canonical) != canonical
               ? "canonical or not"
               : "";
  }
  if (!AnswerEquals(vector, expected, outcome.answer)) return "another answer";
  if (answer.row < 0 || !expected.contains("isum")) return "";
  const Json& sums = expected.at("isum");
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::int32_t sum = 0;
    std::memcpy(&sum, isum.data() + 4 * i, sizeof sum);
    if (sums[i] != sum) return "another integer sum";
  }
  return "";
}

bool AllPoison(std::span<const std::uint8_t> bytes) {
  return std::ranges::all_of(bytes,
                             [](std::uint8_t b) { return b == kPoison; });
}

}  // namespace

NumericOutcome AnswerVector(const wp_implementation& implementation,
                            const Vector& vector) {
  NumericOutcome outcome;
  const auto request = ReadRequest(vector);
  if (!request) {
    outcome.wrong = request.error();
    return outcome;
  }
  const std::size_t size = OutputBytes(*request);
  const std::vector<std::uint8_t> poison(size + 2 * kGuard + 1, kPoison);
  std::vector<std::uint8_t> around = poison;
  std::vector<std::uint8_t> isum(
      request->operation == "q8_0.dot" ? 4 * (request->n / 32) + 1 : 1);
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  Call(implementation, *request, vector.request.value("threads", 1u),
       {around.data() + kGuard + kMisalign, isum.data() + kMisalign}, &answer);
  if (answer.status == WP_STATUS_NOT_RUN) {
    outcome.not_run = answer.detail;
    return outcome;
  }
  const std::span<const std::uint8_t> all(around);
  const auto y = all.subspan(kGuard + kMisalign, size);
  const Expectation& spec = vector.expect.at("spec");
  const bool rejected = answer.verdict == WP_REJECT;
  outcome.answer = {&vector, rejected, {y.begin(), y.end()}};
  if (answer.status != WP_STATUS_OK) {
    outcome.wrong = "not implemented";
  } else if (rejected != (spec.verdict == "reject")) {
    outcome.wrong = "another verdict";
  } else if (rejected) {
    outcome.answer.y.clear();
    outcome.wrong = RejectedWrong(spec, answer);
  } else {
    outcome.wrong = AcceptedWrong(vector, spec, outcome,
                                  std::span(isum).subspan(kMisalign), answer);
  }
  if (!AllPoison(all.first(kGuard + kMisalign)) ||
      !AllPoison(all.subspan(kGuard + kMisalign + size))) {
    outcome.wrong = "bytes beside the output were written";
  }
  return outcome;
}

}  // namespace weightproof::conformance
