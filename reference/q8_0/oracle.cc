// The exact dot product and the bounds that follow from it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "reference/q8_0/dot.h"
#include "reference/q8_0/f16.h"

namespace weightproof::q8_0 {
namespace {

// A finite f16 as an integer number of 2^-24.
std::int64_t Integer(std::uint16_t f16) {
  const int exponent = (f16 >> 10) & 0x1f;
  const std::int64_t mantissa = f16 & 0x3ff;
  const std::int64_t magnitude =
      exponent == 0 ? mantissa : (mantissa | 0x400) << (exponent - 1);
  return (f16 & 0x8000) != 0 ? -magnitude : magnitude;
}

bool IsFinite(std::uint16_t f16) { return (f16 & 0x7c00) != 0x7c00; }

__int128 Magnitude(__int128 value) { return value < 0 ? -value : value; }

// |y 2^48 - value| for a finite y. Exact but for the rounding of the last
// conversion and of bits that are below one against a value above 2^53.
double Distance(float y, __int128 value) {
  const double scaled = std::ldexp(static_cast<double>(y), 48);  // exact
  constexpr double kTwo53 = 9007199254740992.0;
  const double rounded_value = static_cast<double>(value);
  if (std::fabs(scaled) < kTwo53 && Magnitude(value) < (__int128{1} << 53)) {
    return std::fabs(scaled - rounded_value);
  }
  if (std::fabs(scaled) >= std::ldexp(1.0, 126)) {
    return std::fabs(scaled - rounded_value);
  }
  return static_cast<double>(Magnitude(static_cast<__int128>(scaled) - value));
}

double Ratio(double distance, double bound) {
  if (bound > 0) return distance / bound;
  return distance == 0 ? 0 : std::numeric_limits<double>::infinity();
}

}  // namespace

std::optional<ExactDot> Exact(std::span<const Block> w,
                              std::span<const Block> x) {
  ExactDot exact;
  exact.blocks = w.size();
  for (std::size_t b = 0; b < w.size(); ++b) {
    if (!IsFinite(w[b].d) || !IsFinite(x[b].d)) return std::nullopt;
    const __int128 scale = __int128{Integer(w[b].d)} * Integer(x[b].d);
    std::int64_t magnitude = 0;
    for (std::size_t i = 0; i < kBlockValues; ++i) {
      const std::int32_t product = std::int32_t{w[b].q[i]} * x[b].q[i];
      magnitude += product < 0 ? -product : product;
    }
    exact.value += scale * IntegerSum(w[b], x[b]);
    exact.magnitude += Magnitude(scale) * magnitude;
  }
  return exact;
}

std::string ToDecimal(__int128 value) {
  std::string digits;
  // Digit by digit from the value itself: -2^127 has no positive twin.
  do {
    const int digit = static_cast<int>(value % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    if (value < 0 && value > -10) digits += '-';
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

double BoundRatio(float y, const ExactDot& exact) {
  if (!std::isfinite(y)) return std::numeric_limits<double>::infinity();
  const double steps = static_cast<double>(exact.blocks) + 16;
  const double bound =
      std::ldexp(steps * 1.01 * static_cast<double>(exact.magnitude), -24);
  return Ratio(Distance(y, exact.value), bound);
}

double PublishedBoundRatio(float y, std::span<const Block> w,
                           std::span<const Block> x) {
  const auto exact = Exact(w, x);
  if (!exact || !std::isfinite(y)) {
    return std::numeric_limits<double>::infinity();
  }
  double terms = 0;
  for (std::size_t b = 0; b < w.size(); ++b) {
    terms += std::fabs(static_cast<double>(ValueOfF16(w[b].d)) *
                       ValueOfF16(x[b].d) * IntegerSum(w[b], x[b]));
  }
  const double steps = static_cast<double>((w.size() + 31) / 32) + 7;
  return Ratio(Distance(y, exact->value),
               std::ldexp(steps * 1.01 * terms, 48 - 24));
}

}  // namespace weightproof::q8_0
