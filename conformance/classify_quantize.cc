// Which quantizer is it? A point of reciprocal x rounding x scale from the
// vectors with ordinary data, then the corner cases, then the named variants.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "conformance/classify.h"
#include "conformance/classify_common.h"
#include "conformance/numeric.h"
#include "conformance/numeric_reference.h"
#include "reference/q8_0/blocks.h"
#include "reference/q8_0/quantize.h"

namespace weightproof::conformance {
namespace {

using q8_0::Amax;
using q8_0::Cast;
using q8_0::Quantizer;
using q8_0::Reciprocal;
using q8_0::Rounding;
using q8_0::ScaleRounding;
using q8_0::Subnormals;

constexpr std::array kReciprocals = {Reciprocal::kInvD, Reciprocal::kInvAmax,
                                     Reciprocal::kDiv, Reciprocal::kInvF16};
constexpr std::array kRoundings = {Rounding::kAway, Rounding::kEven,
                                   Rounding::kTrunc, Rounding::kFloorHalf,
                                   Rounding::kAddTrunc};
constexpr std::array kScales = {ScaleRounding::kRne, ScaleRounding::kRtz};
constexpr std::array kAmax = {Amax::kNumber, Amax::kMacro, Amax::kLanes8,
                              Amax::kPropagate, Amax::kLanes4};
constexpr std::array kCasts = {Cast::kSpec, Cast::kWrap, Cast::kPack,
                               Cast::kLow8, Cast::kSaturate};

// Blocks whose d is a normal f32 (or 0) and whose values are finite: here
// amax rules and subnormals cannot matter.
enum class Data { kOrdinary, kTiny, kNonfinite };

// amax 03FE0000 is 127 x 2^-126.
constexpr std::uint32_t kSmallestOrdinary = 0x03fe0000;
constexpr std::uint32_t kInfinityBits = 0x7f800000;

Data KindOf(std::span<const std::uint8_t> x) {
  Data kind = Data::kOrdinary;
  const std::size_t block = 4 * q8_0::kBlockValues;
  for (std::size_t at = 0; at + block <= x.size(); at += block) {
    std::uint32_t amax = 0;
    for (std::size_t i = 0; i < q8_0::kBlockValues; ++i) {
      const auto pattern =
          std::bit_cast<std::uint32_t>(q8_0::ReadF32(x.subspan(at, block), i));
      amax = std::max(amax, pattern & 0x7fffffff);
    }
    if (amax >= kInfinityBits) return Data::kNonfinite;
    if (amax != 0 && amax < kSmallestOrdinary) kind = Data::kTiny;
  }
  return kind;
}

// One answer with what it answers. Row lengths that every quantizer refuses
// say nothing about the arithmetic.
struct Evidence {
  const NumericAnswer* answer = nullptr;
  NumericRequest request;
  Data kind = Data::kOrdinary;
};

std::vector<Evidence> Gather(std::span<const NumericAnswer> answers) {
  std::vector<Evidence> evidence;
  for (const NumericAnswer& answer : answers) {
    if (answer.vector->operation != "q8_0.quantize") continue;
    auto request = ReadRequest(*answer.vector);
    if (!request || request->n % q8_0::kBlockValues != 0) continue;
    const Data kind = KindOf(request->x);
    evidence.push_back({&answer, std::move(*request), kind});
  }
  return evidence;
}

bool Equals(const Evidence& evidence, const Quantizer& quantizer) {
  const NumericRequest& request = evidence.request;
  const auto y = q8_0::Quantize(request.x, request.n, request.rows, quantizer);
  if (!y) return evidence.answer->rejected;
  return !evidence.answer->rejected &&
         SameOutput("q8_0.quantize", CanonicalOutput("q8_0.quantize", *y),
                    evidence.answer->y);
}

// Whether quantizer equals the answers of this kind of data.
bool Explains(const std::vector<Evidence>& all, Data kind,
              const Quantizer& quantizer) {
  return std::all_of(all.begin(), all.end(), [&](const Evidence& one) {
    return one.kind != kind || Equals(one, quantizer);
  });
}

// Casts differ on ordinary data only for inv-f16, whose codes may leave the
// range of a byte; a point counts if some cast equals.
std::vector<Quantizer> SurvivingPoints(const std::vector<Evidence>& all) {
  std::vector<Quantizer> points;
  for (const Reciprocal reciprocal : kReciprocals) {
    for (const Rounding rounding : kRoundings) {
      for (const ScaleRounding scale : kScales) {
        for (const Cast cast : kCasts) {
          Quantizer quantizer;
          quantizer.reciprocal = reciprocal;
          quantizer.rounding = rounding;
          quantizer.scale = scale;
          quantizer.cast = cast;
          quantizer.refuses_nonfinite = false;
          if (!Explains(all, Data::kOrdinary, quantizer)) continue;
          points.push_back(quantizer);
          break;
        }
      }
    }
  }
  return points;
}

std::string PointName(const Quantizer& point) {
  return fmt::format("{}, {}, {}", ToString(point.reciprocal),
                     ToString(point.rounding), ToString(point.scale));
}

// Finds amax rule, cast and treatment of subnormals for the corner cases.
void ExplainCorners(const std::vector<Evidence>& all, Quantizer quantizer,
                    Arithmetic& result) {
  for (const Subnormals subnormals :
       {Subnormals::kKept, Subnormals::kFlushed}) {
    for (const Cast cast : kCasts) {
      quantizer.subnormals = subnormals;
      quantizer.cast = cast;
      if (!Explains(all, Data::kOrdinary, quantizer) ||
          !Explains(all, Data::kTiny, quantizer)) {
        continue;
      }
      if (result.subnormals.empty()) {
        result.subnormals =
            subnormals == Subnormals::kKept ? "kept" : "flushed";
      }
      for (const Amax amax : kAmax) {
        for (const bool refuses : {false, true}) {
          quantizer.amax = amax;
          quantizer.refuses_nonfinite = refuses;
          if (!Explains(all, Data::kNonfinite, quantizer)) continue;
          result.amax = refuses ? "refuses" : std::string(ToString(amax));
          result.cast = std::string(ToString(cast));
          return;
        }
      }
    }
  }
}

bool Any(const std::vector<Evidence>& all, Data kind) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Evidence& one) { return one.kind == kind; });
}

}  // namespace

bool IsOrdinary(std::span<const std::uint8_t> x) {
  return KindOf(x) == Data::kOrdinary;
}

Arithmetic ClassifyQuantize(std::span<const NumericAnswer> answers) {
  Arithmetic result = MatchNamed("q8_0.quantize", answers);
  const std::vector<Evidence> evidence = Gather(answers);
  if (!Any(evidence, Data::kOrdinary)) return result;
  const std::vector<Quantizer> points = SurvivingPoints(evidence);
  // More than one point is left only where few vectors were answered.
  if (points.size() != 1) return result;
  result.point = PointName(points[0]);
  ExplainCorners(evidence, points[0], result);
  if (result.variant) return result;
  result.verdict = *result.point + " on all finite vectors; ";
  if (result.amax.empty()) {
    result.verdict += "corner cases unlike any named variant";
  } else {
    result.verdict +=
        fmt::format("corner cases as amax {}, cast {}, subnormals {}",
                    result.amax, result.cast, result.subnormals);
  }
  return result;
}

Arithmetic ClassifyQ81(std::span<const NumericAnswer> answers) {
  return MatchNamed("q8_1.quantize", answers);
}

}  // namespace weightproof::conformance
