// The row loop of the x86 kernels. The including file has defined
//
//   Eight Products<count>(w, x): one vector of partial sums a block, both
//       sides Q8_0, the vectors from count on zero;
//   __m256i GroupSums<count>(w, group): the sums of count blocks against a
//       prepared group;
//   kGroup: bytes of a prepared group of eight blocks. It begins with the
//       eight scales as f32.
#ifndef WEIGHTPROOF_IMPLS_CPU_Q8_0_DOT_X86_H_
#define WEIGHTPROOF_IMPLS_CPU_Q8_0_DOT_X86_H_

#include "impls/cpu/q8_0_x86.h"

namespace weightproof::impls {
namespace {

// ---- two rows of blocks ----

template <int count>
WP_INLINE __m256 AddBlocks(__m256 sum, const std::uint8_t* w,
                           const std::uint8_t* x, std::uint8_t*& isum) {
  const __m256 scale =
      _mm256_mul_ps(GatherScales<count>(w), GatherScales<count>(x));
  const __m256i sums = SumEach(Products<count>(w, x));
  if (isum != nullptr) {
    alignas(32) std::int32_t each[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(each), sums);
    std::memcpy(isum, each, 4 * count);
    isum += 4 * count;
  }
  return Accumulate(sum, scale, sums);
}

// The last 0 .. 7 blocks, exactly that many.
WP_INLINE __m256 AddLast(__m256 sum, const std::uint8_t* w,
                         const std::uint8_t* x, std::uint64_t count,
                         std::uint8_t*& isum) {
  switch (count) {
    case 1:
      return AddBlocks<1>(sum, w, x, isum);
    case 2:
      return AddBlocks<2>(sum, w, x, isum);
    case 3:
      return AddBlocks<3>(sum, w, x, isum);
    case 4:
      return AddBlocks<4>(sum, w, x, isum);
    case 5:
      return AddBlocks<5>(sum, w, x, isum);
    case 6:
      return AddBlocks<6>(sum, w, x, isum);
    case 7:
      return AddBlocks<7>(sum, w, x, isum);
    default:
      return sum;
  }
}

WP_FUNCTION float Dot(const std::uint8_t* w, const std::uint8_t* x,
                      std::uint64_t blocks, std::uint8_t* isum) {
  constexpr std::uint64_t kStep = 8 * kBlock;
  Lanes l = NoLanes();
  for (; blocks >= 32; blocks -= 32, w += 4 * kStep, x += 4 * kStep) {
    l.a0 = AddBlocks<8>(l.a0, w, x, isum);
    l.a1 = AddBlocks<8>(l.a1, w + kStep, x + kStep, isum);
    l.a2 = AddBlocks<8>(l.a2, w + 2 * kStep, x + 2 * kStep, isum);
    l.a3 = AddBlocks<8>(l.a3, w + 3 * kStep, x + 3 * kStep, isum);
  }
  // The accumulators take turns: after each whole group the next one is a0.
  int turns = 0;
  for (; blocks >= 8; blocks -= 8, w += kStep, x += kStep, ++turns) {
    const __m256 next = AddBlocks<8>(l.a0, w, x, isum);
    l = {l.a1, l.a2, l.a3, next};
  }
  l.a0 = AddLast(l.a0, w, x, blocks, isum);
  for (; turns % 4 != 0; ++turns) l = {l.a1, l.a2, l.a3, l.a0};
  return Join(l);
}

// ---- many rows against a prepared column ----

template <int count>
WP_INLINE __m256 AddGroup(__m256 sum, const std::uint8_t* w,
                          const std::uint8_t* group) {
  const __m256 scale = _mm256_mul_ps(GatherScales<count>(w), LoadFloats(group));
  return Accumulate(sum, scale, GroupSums<count>(w, group));
}

WP_INLINE __m256 AddLastGroup(__m256 sum, const std::uint8_t* w,
                              const std::uint8_t* group, std::uint64_t count) {
  switch (count) {
    case 1:
      return AddGroup<1>(sum, w, group);
    case 2:
      return AddGroup<2>(sum, w, group);
    case 3:
      return AddGroup<3>(sum, w, group);
    case 4:
      return AddGroup<4>(sum, w, group);
    case 5:
      return AddGroup<5>(sum, w, group);
    case 6:
      return AddGroup<6>(sum, w, group);
    case 7:
      return AddGroup<7>(sum, w, group);
    default:
      return sum;
  }
}

WP_INLINE float Row(const std::uint8_t* w, const std::uint8_t* group,
                    std::uint64_t blocks) {
  constexpr std::uint64_t kStep = 8 * kBlock;
  Lanes l = NoLanes();
  for (; blocks >= 32; blocks -= 32, w += 4 * kStep, group += 4 * kGroup) {
    l.a0 = AddGroup<8>(l.a0, w, group);
    l.a1 = AddGroup<8>(l.a1, w + kStep, group + kGroup);
    l.a2 = AddGroup<8>(l.a2, w + 2 * kStep, group + 2 * kGroup);
    l.a3 = AddGroup<8>(l.a3, w + 3 * kStep, group + 3 * kGroup);
  }
  int turns = 0;
  for (; blocks >= 8; blocks -= 8, w += kStep, group += kGroup, ++turns) {
    const __m256 next = AddGroup<8>(l.a0, w, group);
    l = {l.a1, l.a2, l.a3, next};
  }
  l.a0 = AddLastGroup(l.a0, w, group, blocks);
  for (; turns % 4 != 0; ++turns) l = {l.a1, l.a2, l.a3, l.a0};
  return Join(l);
}

WP_FUNCTION void Rows(const std::uint8_t* w, const std::uint8_t* prepared,
                      std::uint64_t blocks, std::uint64_t rows,
                      std::uint8_t* y) {
  for (std::uint64_t r = 0; r < rows; ++r, w += blocks * kBlock, y += 4) {
    const float value = Row(w, prepared, blocks);
    std::memcpy(y, &value, sizeof(value));
  }
}

std::uint64_t PreparedBytes(std::uint64_t blocks) {
  return (blocks + 7) / 8 * kGroup;
}

// Writes the scales of the column; the rest is the including file's.
void PrepareScales(const std::uint8_t* x, std::uint64_t blocks,
                   std::uint8_t* prepared) {
  for (std::uint64_t b = 0; b < blocks; ++b) {
    const float d =
        FloatFromHalf(static_cast<std::uint16_t>(LoadScale(x + b * kBlock)));
    std::memcpy(prepared + b / 8 * kGroup + 4 * (b % 8), &d, sizeof(d));
  }
}

}  // namespace
}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_Q8_0_DOT_X86_H_
