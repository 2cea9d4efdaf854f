// Portable kernels: the fast forms of the vector kernels, one value at a time.
#include <bit>
#include <cstring>

#include "impls/cpu/q8_0.h"

namespace weightproof::impls {

// Magic additions instead of shifting by a variable amount.
std::uint16_t HalfFromFloat(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 31 << 15;
  std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) {
    return static_cast<std::uint16_t>(sign | 0x7e00);
  }
  if (magnitude >= 0x477ff000) {
    return static_cast<std::uint16_t>(sign | 0x7c00);
  }
  if (magnitude < 0x38800000) {
    // Below 2^-14: adding one half leaves multiples of 2^-24 in the mantissa,
    // rounded by the addition itself.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    magnitude = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000;
    return static_cast<std::uint16_t>(sign | magnitude);
  }
  const std::uint32_t odd = magnitude >> 13 & 1;
  magnitude = (magnitude - 0x38000000 + 0xfff + odd) >> 13;
  return static_cast<std::uint16_t>(sign | magnitude);
}

float FloatFromHalf(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half >> 15) << 31;
  const std::uint32_t rest = half & 0x7fff;
  if (rest >= 0x7c00) {
    return std::bit_cast<float>(sign | 0x7f800000 | (rest << 13 & 0x7fffff));
  }
  if (rest >= 0x0400) {
    return std::bit_cast<float>(sign | ((rest << 13) + 0x38000000));
  }
  const float magnitude = static_cast<float>(rest) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

namespace {

constexpr std::uint64_t kBlock = 34;

std::uint16_t LoadHalf(const std::uint8_t* at) {
  std::uint16_t half;
  std::memcpy(&half, at, sizeof(half));
  return half;
}

float LoadFloat(const std::uint8_t* at) {
  float value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// 1 / d, or 0 where that is infinite: for d up to 2^-128.
float Reciprocal(float d) {
  return std::bit_cast<std::uint32_t>(d) > 0x00200000 ? 1.0f / d : 0.0f;
}

// Adding the largest float below one half and truncating is rounding half
// away from zero for every |t| <= 128.
std::int8_t RoundAway(float t) {
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(t) & 0x80000000;
  const float nearly_half = std::bit_cast<float>(sign | 0x3effffff);
  return static_cast<std::int8_t>(static_cast<std::int32_t>(t + nearly_half));
}

// The pattern of the largest magnitude: order-free, and above 7F7FFFFF if any
// value is NaN or infinite.
std::uint32_t LargestMagnitude(const std::uint8_t* x) {
  std::uint32_t largest = 0;
  for (int i = 0; i < 32; ++i) {
    const std::uint32_t magnitude =
        std::bit_cast<std::uint32_t>(LoadFloat(x + 4 * i)) & 0x7fffffff;
    if (magnitude > largest) largest = magnitude;
  }
  return largest;
}

// Writes 32 codes; gives the unrounded scale, or a negative number if a value
// is not finite.
float QuantizeCodes(const std::uint8_t* x, std::uint8_t* codes) {
  const std::uint32_t largest = LargestMagnitude(x);
  if (largest > 0x7f7fffff) return -1;
  const float d = std::bit_cast<float>(largest) / 127.0f;
  const float id = Reciprocal(d);
  for (int i = 0; i < 32; ++i) {
    codes[i] = static_cast<std::uint8_t>(RoundAway(LoadFloat(x + 4 * i) * id));
  }
  return d;
}

bool Quantize(const std::uint8_t* x, std::uint64_t blocks, std::uint8_t* y) {
  bool finite = true;
  for (std::uint64_t b = 0; b < blocks; ++b, x += 128, y += kBlock) {
    const float d = QuantizeCodes(x, y + 2);
    finite &= d >= 0;
    const std::uint16_t half = HalfFromFloat(d);
    std::memcpy(y, &half, sizeof(half));
  }
  return finite;
}

void Dequantize(const std::uint8_t* x, std::uint64_t blocks, std::uint8_t* y) {
  for (std::uint64_t b = 0; b < blocks; ++b, x += kBlock) {
    const float d = FloatFromHalf(LoadHalf(x));
    for (int i = 0; i < 32; ++i, y += 4) {
      const float value =
          static_cast<float>(static_cast<std::int8_t>(x[2 + i])) * d;
      std::memcpy(y, &value, sizeof(value));
    }
  }
}

std::int32_t SumOfProducts(const std::uint8_t* w, const std::uint8_t* x) {
  std::int32_t even = 0, odd = 0;
  for (int i = 0; i < 32; i += 2) {
    even += static_cast<std::int8_t>(w[i]) * static_cast<std::int8_t>(x[i]);
    odd +=
        static_cast<std::int8_t>(w[i + 1]) * static_cast<std::int8_t>(x[i + 1]);
  }
  return even + odd;
}

// Four accumulators of eight lanes, as the vector kernels have them.
float Join(const float (&a)[4][8]) {
  float lane[8];
  for (int i = 0; i < 8; ++i) {
    lane[i] = (a[0][i] + a[2][i]) + (a[1][i] + a[3][i]);
  }
  for (int i = 0; i < 4; ++i) lane[i] += lane[i + 4];
  lane[0] += lane[2];
  lane[1] += lane[3];
  return lane[0] + lane[1];
}

float Dot(const std::uint8_t* w, const std::uint8_t* x, std::uint64_t blocks,
          std::uint8_t* isum) {
  float accumulators[4][8] = {};
  for (std::uint64_t b = 0; b < blocks; ++b, w += kBlock, x += kBlock) {
    const std::int32_t sum = SumOfProducts(w + 2, x + 2);
    if (isum != nullptr) std::memcpy(isum + 4 * b, &sum, sizeof(sum));
    const float scale = FloatFromHalf(LoadHalf(w)) * FloatFromHalf(LoadHalf(x));
    accumulators[b / 8 % 4][b % 8] += scale * static_cast<float>(sum);
  }
  return Join(accumulators);
}

std::uint64_t PreparedBytes(std::uint64_t blocks) { return blocks * kBlock; }

void Prepare(const std::uint8_t* x, std::uint64_t blocks,
             std::uint8_t* prepared) {
  if (blocks > 0) std::memcpy(prepared, x, blocks * kBlock);
}

void Rows(const std::uint8_t* w, const std::uint8_t* prepared,
          std::uint64_t blocks, std::uint64_t rows, std::uint8_t* y) {
  for (std::uint64_t r = 0; r < rows; ++r) {
    const float value = Dot(w + r * blocks * kBlock, prepared, blocks, nullptr);
    std::memcpy(y + 4 * r, &value, sizeof(value));
  }
}

void F16FromF32(const std::uint8_t* x, std::uint64_t count, std::uint8_t* y) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint16_t half = HalfFromFloat(LoadFloat(x + 4 * i));
    std::memcpy(y + 2 * i, &half, sizeof(half));
  }
}

void F16ToF32(const std::uint8_t* x, std::uint64_t count, std::uint8_t* y) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const float value = FloatFromHalf(LoadHalf(x + 2 * i));
    std::memcpy(y + 4 * i, &value, sizeof(value));
  }
}

const char* Missing() { return nullptr; }

constexpr Q80Kernels kScalar = {
    "q8_0_scalar", Missing, Quantize, Dequantize, Dot,
    PreparedBytes, Prepare, Rows,     F16FromF32, F16ToF32};

}  // namespace

bool QuantizeQ81Blocks(const std::uint8_t* x, std::uint64_t blocks,
                       std::uint8_t* y) {
  bool finite = true;
  for (std::uint64_t b = 0; b < blocks; ++b, x += 128, y += 36) {
    const float d = QuantizeCodes(x, y + 4);
    finite &= d >= 0;
    std::int32_t sum = 0;
    for (int i = 0; i < 32; ++i) sum += static_cast<std::int8_t>(y[4 + i]);
    const std::uint16_t halves[2] = {
        HalfFromFloat(d), HalfFromFloat(d * static_cast<float>(sum))};
    std::memcpy(y, halves, sizeof(halves));
  }
  return finite;
}

const Q80Kernels& Q80ScalarKernels() { return kScalar; }

}  // namespace weightproof::impls
