#include "fuzzers/q8_0/generator.h"

#include <array>
#include <bit>

namespace weightproof::fuzzers {
namespace {

constexpr std::uint64_t kLargestRow = 66;  // blocks: the 32 lanes twice over

void PutU32(std::uint32_t value, Bytes& out) {
  for (int i = 0; i < 4; ++i) {
    out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

void PutU16(std::uint16_t value, Bytes& out) {
  out.push_back(static_cast<std::uint8_t>(value));
  out.push_back(static_cast<std::uint8_t>(value >> 8));
}

std::uint32_t Float(float value) { return std::bit_cast<std::uint32_t>(value); }

// How the values of a block of floats are drawn.
enum class Draw : std::uint8_t {
  kZero,      // both zeros
  kTies,      // halves, with an element at 127: every t is a tie
  kNearTies,  // the same, one ulp aside
  kUniform,
  kBits,  // finite patterns of any exponent
  kTiny,  // around the least scale that has a reciprocal
  kSubnormal,
  kHuge,  // scales beyond the half range
  kRamp,
  kRun,  // one value throughout
  kBf16,
  kScaleTies,  // amax whose scale is halfway between two halves
  kNonFinite,  // uniform with one NaN or infinity
  kGiven,      // patterns as they stand in the entropy
  kOneSign,    // far from zero, on one side: large sums
};
constexpr int kDraws = 15;

// Rows that kernels mostly see, to their end.
constexpr std::array<Draw, 6> kOrdinary = {Draw::kUniform,  Draw::kTies,
                                           Draw::kNearTies, Draw::kBf16,
                                           Draw::kRamp,     Draw::kOneSign};

std::uint32_t Sign(Random& random) {
  return random.OneIn(2) ? 0x80000000u : 0u;
}

std::uint32_t Uniform(Random& random) {
  return Float(
      static_cast<float>(static_cast<std::int64_t>(random.Below(1u << 24)) -
                         (1 << 23)) *
      0x1p-21f);
}

std::uint32_t Finite(std::uint32_t bits) {
  return (bits & 0x7f800000) == 0x7f800000 ? bits & 0xbfffffff : bits;
}

std::uint32_t Value(Draw draw, int i, std::uint32_t common, Random& random) {
  const auto random_bits = static_cast<std::uint32_t>(random.Next());
  const float half =
      static_cast<float>(static_cast<int>(random.Below(509)) - 254) / 2;
  switch (draw) {
    case Draw::kZero:
      return Sign(random);
    case Draw::kTies:
      return i == 0 ? Float(127.0f) | Sign(random) : Float(half);
    case Draw::kNearTies: {
      const std::uint32_t bits = Float(half);
      return i == 0 ? Float(127.0f) : bits + (random_bits & 2) - 1;
    }
    case Draw::kBits:
      return Finite(random_bits);
    case Draw::kTiny:
      return (0x02fe0000 + (random_bits & 0xf)) | Sign(random);
    case Draw::kSubnormal:
      return (random_bits & 0x00ffffff) | Sign(random);
    case Draw::kHuge:
      return (0x4afe0000 + (random_bits & 0xffff)) | Sign(random);
    case Draw::kRamp:
      return Float(static_cast<float>(i - 16) * std::bit_cast<float>(common));
    case Draw::kRun:
      return common;
    case Draw::kBf16:
      return ((random_bits & 0x80000000) | ((118 + random_bits % 10) << 23) |
              (random_bits & 0x007f0000));
    case Draw::kOneSign:
      return Float(1.0f + static_cast<float>(random_bits >> 9) * 0x1p-23f) |
             (common & 0x80000000);
    case Draw::kScaleTies:
      // 127 (1 + k 2^-11), odd k: the scale lies between two halves.
      return i == 0 ? Float(127.0f *
                            (1.0f +
                             static_cast<float>(common % 2048 | 1) * 0x1p-11f))
                    : Uniform(random);
    default:
      return Uniform(random);
  }
}

void AppendFloatBlock(Entropy& entropy, std::uint64_t count, Random& random,
                      bool ordinary, Bytes& out) {
  const auto draw = ordinary ? kOrdinary[random.Below(kOrdinary.size())]
                             : static_cast<Draw>(entropy.Below(kDraws));
  if (draw == Draw::kGiven) {
    for (std::uint64_t i = 0; i < count; ++i) {
      PutU32(Finite(static_cast<std::uint32_t>(entropy.Number(4))), out);
    }
    return;
  }
  const std::uint32_t common =
      Finite(draw == Draw::kRun ? static_cast<std::uint32_t>(entropy.Number(4))
                                : static_cast<std::uint32_t>(random.Next()));
  const std::size_t begin = out.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    PutU32(Finite(Value(draw, static_cast<int>(i), common, random)), out);
  }
  if (draw != Draw::kNonFinite || count == 0) return;
  constexpr std::array<std::uint32_t, 5> kBad = {
      0x7f800000, 0xff800000, 0x7fc00000, 0xffffffff, 0x7f800001};
  const std::uint32_t bad = kBad[entropy.Below(kBad.size())];
  const std::size_t at = begin + 4 * entropy.Below(count);
  for (std::size_t i = 0; i < 4; ++i) {
    out[at + i] = static_cast<std::uint8_t>(bad >> (8 * i));
  }
}

// Few bytes are enough for long rows, and those past the end of the bytes are
// no rows of zeros.
bool IsOrdinary(Entropy& entropy) { return entropy.Below(4) > 1; }

std::uint16_t Scale(Entropy& entropy, Random& random, bool ordinary) {
  const auto bits = static_cast<std::uint16_t>(random.Next());
  constexpr std::array<std::uint16_t, 5> kBad = {0x7c00, 0xfc00, 0x7e00, 0xfe01,
                                                 0x7d00};
  if (ordinary) return static_cast<std::uint16_t>(0x2800 + bits % 0x1400);
  switch (entropy.Below(10)) {
    case 0:
      return 0;
    case 1:
      return bits & 0x83ff;  // subnormal
    case 2:
      return 0x7bff;
    case 3:
      return static_cast<std::uint16_t>(0x2800 + bits % 0x1400) | 0x8000;
    case 4:
      return static_cast<std::uint16_t>(entropy.Number(2));
    case 5:
      return kBad[entropy.Below(kBad.size())];
    default:
      return static_cast<std::uint16_t>(0x2800 + bits % 0x1400);
  }
}

void AppendCodes(Entropy& entropy, Random& random, bool ordinary, Bytes& out) {
  const std::uint64_t draw = ordinary ? 5 : entropy.Below(6);
  for (int i = 0; i < 32; ++i) {
    auto code = static_cast<std::uint8_t>(random.Next());
    if (draw == 0) code = 0x80;
    if (draw == 1) code = i % 2 == 0 ? 0x7f : 0x81;
    if (draw == 2) code = 0;
    if (draw == 3 && code == 0x80) code = 0x81;
    if (draw == 4) code = entropy.Byte();
    out.push_back(code);
  }
}

std::uint64_t RowLength(Entropy& entropy) {
  std::uint64_t blocks = entropy.Below(10);
  if (blocks == 9) blocks = 9 + entropy.Below(kLargestRow - 8);
  const std::uint64_t n = 32 * blocks;
  return entropy.OneIn(32) ? n + 1 + entropy.Below(31) : n;
}

Bytes Floats(Entropy& entropy, std::uint64_t n, std::uint64_t rows) {
  Bytes out;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const Bytes one = GenerateFloats(entropy, n);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

// A buffer that is too short or too long for its shape, now and then.
void Resize(Entropy& entropy, Bytes& bytes) {
  if (!entropy.OneIn(8)) return;
  bytes.resize(entropy.Below(bytes.size() + 40));
}

}  // namespace

Bytes GenerateFloats(Entropy& entropy, std::uint64_t count) {
  Random random(entropy.Number(2));
  const bool ordinary = IsOrdinary(entropy);
  Bytes out;
  for (std::uint64_t at = 0; at < count; at += 32) {
    AppendFloatBlock(entropy, std::min<std::uint64_t>(32, count - at), random,
                     ordinary, out);
  }
  return out;
}

Bytes GenerateQ80Blocks(Entropy& entropy, std::uint64_t blocks) {
  Random random(entropy.Number(2));
  const bool ordinary = IsOrdinary(entropy);
  Bytes out;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    PutU16(Scale(entropy, random, ordinary), out);
    AppendCodes(entropy, random, ordinary, out);
  }
  return out;
}

Bytes GenerateQ81Blocks(Entropy& entropy, std::uint64_t blocks) {
  Random random(entropy.Number(2));
  const bool ordinary = IsOrdinary(entropy);
  Bytes out;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    PutU16(Scale(entropy, random, ordinary), out);
    PutU16(Scale(entropy, random, ordinary), out);
    AppendCodes(entropy, random, ordinary, out);
  }
  return out;
}

Q80Case GenerateQ80(ByteSpan bytes) {
  Entropy entropy(bytes);
  Q80Case out;
  out.operation = static_cast<Q80Operation>(entropy.Below(kQ80Operations));
  out.n = RowLength(entropy);
  out.x_skew = static_cast<std::uint8_t>(entropy.Below(64));
  out.w_skew = static_cast<std::uint8_t>(entropy.Below(64));
  out.y_skew = static_cast<std::uint8_t>(entropy.Below(64));
  out.rows = entropy.Below(out.n > 512 ? 3 : 6);
  const std::uint64_t blocks = out.n / 32;
  switch (out.operation) {
    case Q80Operation::kQuantize:
    case Q80Operation::kQuantizeQ81:
      out.x = Floats(entropy, out.n, out.rows);
      break;
    case Q80Operation::kDequantize:
      out.x = GenerateQ80Blocks(entropy, blocks * out.rows);
      break;
    case Q80Operation::kDot:
      out.rows = 1;
      out.w = GenerateQ80Blocks(entropy, blocks);
      out.x = GenerateQ80Blocks(entropy, blocks);
      break;
    case Q80Operation::kMatvecBlocks:
    case Q80Operation::kMatvecFloats:
      out.cols = entropy.Below(4);
      out.threads = entropy.OneIn(16) ? 3 : 1;
      out.w = GenerateQ80Blocks(entropy, blocks * out.rows);
      out.x = out.operation == Q80Operation::kMatvecBlocks
                  ? GenerateQ80Blocks(entropy, blocks * out.cols)
                  : Floats(entropy, out.n, out.cols);
      break;
    case Q80Operation::kValidate:
      out.x = GenerateQ80Blocks(entropy, blocks * out.rows);
      Resize(entropy, out.x);
      break;
    case Q80Operation::kValidateQ81:
      out.x = GenerateQ81Blocks(entropy, blocks * out.rows);
      Resize(entropy, out.x);
      break;
    case Q80Operation::kFromF32:
      out.x = GenerateFloats(entropy, out.n);
      break;
    case Q80Operation::kToF32:
      for (std::uint64_t i = 0; i < out.n; ++i) {
        PutU16(static_cast<std::uint16_t>(entropy.Number(2) + 0x9e37 * i),
               out.x);
      }
      break;
  }
  return out;
}

}  // namespace weightproof::fuzzers
