// The named quantizers and the words for their axes: data only.
#include "reference/q8_0/quantize.h"

namespace weightproof::q8_0 {
namespace {

constexpr Quantizer Lenient(Reciprocal reciprocal, Rounding rounding, Amax amax,
                            Cast cast) {
  Quantizer quantizer;
  quantizer.reciprocal = reciprocal;
  quantizer.rounding = rounding;
  quantizer.amax = amax;
  quantizer.cast = cast;
  quantizer.refuses_nonfinite = false;
  return quantizer;
}

constexpr Quantizer kSpec;
constexpr Quantizer kGgmlRef =
    Lenient(Reciprocal::kInvD, Rounding::kAway, Amax::kMacro, Cast::kWrap);
constexpr Quantizer kGgmlAvx2 =
    Lenient(Reciprocal::kInvAmax, Rounding::kEven, Amax::kLanes8, Cast::kPack);
constexpr Quantizer kGgmlNeon =
    Lenient(Reciprocal::kInvD, Rounding::kEven, Amax::kPropagate, Cast::kLow8);
constexpr Quantizer kCandle =
    Lenient(Reciprocal::kInvD, Rounding::kAway, Amax::kNumber, Cast::kSaturate);
constexpr Quantizer kDiv =
    Lenient(Reciprocal::kDiv, Rounding::kAway, Amax::kNumber, Cast::kSaturate);

constexpr NamedQuantizer kQuantizers[] = {
    {"spec", kSpec},
    {"ggml-ref",
     Lenient(Reciprocal::kInvD, Rounding::kAway, Amax::kMacro, Cast::kWrap)},
    {"ggml-avx2", kGgmlAvx2},
    {"ggml-neon", kGgmlNeon},
    {"ggml-wasm",
     Lenient(Reciprocal::kInvD, Rounding::kTrunc, Amax::kLanes4, Cast::kLow8)},
    {"candle", kCandle},
    {"gguf-py", Lenient(Reciprocal::kInvD, Rounding::kAway, Amax::kPropagate,
                        Cast::kWrap)},
    {"div", kDiv},
    {"recip-f16", Lenient(Reciprocal::kInvF16, Rounding::kAway, Amax::kNumber,
                          Cast::kSaturate)},
};

constexpr NamedQ81 kQ81[] = {
    {"spec", kSpec, SumRule::kSpec},
    {"ggml-ref", kGgmlRef, SumRule::kSpec},
    {"ggml-avx2", kGgmlAvx2, SumRule::kInt32},
    {"ggml-neon", kGgmlNeon, SumRule::kInt32Saturated},
    {"d16", kSpec, SumRule::kD16},
    {"candle", kCandle, SumRule::kCandle},
    {"float-sum", kDiv, SumRule::kFloatSum},
    {"pt", kSpec, SumRule::kPt},
};

}  // namespace

std::span<const NamedQuantizer> Quantizers() { return kQuantizers; }

const NamedQuantizer* FindQuantizer(std::string_view name) {
  for (const NamedQuantizer& entry : kQuantizers) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::span<const NamedQ81> Q81Variants() { return kQ81; }

const NamedQ81* FindQ81(std::string_view name) {
  for (const NamedQ81& entry : kQ81) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::string_view ToString(Reciprocal value) {
  switch (value) {
    case Reciprocal::kInvD:
      return "inv-d";
    case Reciprocal::kInvAmax:
      return "inv-amax";
    case Reciprocal::kDiv:
      return "div";
    case Reciprocal::kInvF16:
      return "inv-f16";
  }
  return "";
}

std::string_view ToString(Rounding value) {
  switch (value) {
    case Rounding::kAway:
      return "away";
    case Rounding::kEven:
      return "even";
    case Rounding::kTrunc:
      return "trunc";
    case Rounding::kFloorHalf:
      return "floor-half";
    case Rounding::kAddTrunc:
      return "add-trunc";
  }
  return "";
}

std::string_view ToString(ScaleRounding value) {
  return value == ScaleRounding::kRne ? "rne" : "rtz";
}

std::string_view ToString(Amax value) {
  switch (value) {
    case Amax::kNumber:
      return "number";
    case Amax::kMacro:
      return "macro";
    case Amax::kLanes8:
      return "lanes8";
    case Amax::kPropagate:
      return "propagate";
    case Amax::kLanes4:
      return "lanes4";
  }
  return "";
}

std::string_view ToString(Cast value) {
  switch (value) {
    case Cast::kSpec:
      return "spec";
    case Cast::kWrap:
      return "wrap";
    case Cast::kPack:
      return "pack";
    case Cast::kLow8:
      return "low8";
    case Cast::kSaturate:
      return "saturate";
  }
  return "";
}

}  // namespace weightproof::q8_0
