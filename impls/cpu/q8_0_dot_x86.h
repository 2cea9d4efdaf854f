// The row loop of the x86 kernels, for two rows of blocks and for a row against
// a prepared column alike. The including file has defined forms of the integer
// part, types with
//
//   template <int i> __m256i Product(w, x): eight int32 whose sum is the sum
//       of the products of block i of a group of eight;
//   __m256i Correct(sums, x): the last word on the eight sums of a group;
//   template <int count> __m256 Scales(x): the scales of count blocks of x,
//       the others +0;
//   kStep: bytes from one group of x to the next.
#ifndef WEIGHTPROOF_IMPLS_CPU_Q8_0_DOT_X86_H_
#define WEIGHTPROOF_IMPLS_CPU_Q8_0_DOT_X86_H_

#include "impls/cpu/q8_0_x86.h"

namespace weightproof::impls {
namespace {

// Block i, or zero where there is none.
template <int i, int count, typename Form>
WP_INLINE __m256i ProductOf(Form& form, const std::uint8_t* w,
                            const std::uint8_t* x) {
  if constexpr (i >= count) {
    return _mm256_setzero_si256();
  } else {
    return form.template Product<i>(w, x);
  }
}

// The sums of the products of four blocks, each in two parts. Two by two:
// eight products at once would not fit the registers.
template <int i, int count, typename Form>
WP_INLINE __m256i SumFour(Form& form, const std::uint8_t* w,
                          const std::uint8_t* x) {
  const __m256i first = AddPairs32(ProductOf<i, count>(form, w, x),
                                   ProductOf<i + 1, count>(form, w, x));
  const __m256i second = AddPairs32(ProductOf<i + 2, count>(form, w, x),
                                    ProductOf<i + 3, count>(form, w, x));
  return AddPairs64(first, second);
}

// kSums: isum receives the integer sums.
template <int count, bool kSums, typename Form>
WP_INLINE __m256 AddBlocks(Form& form, __m256 sum, const std::uint8_t* w,
                           const std::uint8_t* x, std::uint8_t*& isum) {
  const __m256i low = SumFour<0, count>(form, w, x);
  const __m256i high = SumFour<4, count>(form, w, x);
  const __m256i sums =
      form.Correct(_mm256_add_epi32(_mm256_permute2x128_si256(low, high, 0x20),
                                    _mm256_permute2x128_si256(low, high, 0x31)),
                   x);
  if constexpr (kSums) {
    alignas(32) std::int32_t each[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(each), sums);
    std::memcpy(isum, each, 4 * count);
    isum += 4 * count;
  }
  const __m256 scale =
      _mm256_mul_ps(GatherScales<count>(w), form.template Scales<count>(x));
  return _mm256_add_ps(sum, _mm256_mul_ps(scale, _mm256_cvtepi32_ps(sums)));
}

// The last 0 .. 7 blocks, exactly that many.
template <bool kSums, typename Form>
WP_INLINE __m256 AddLast(Form& form, __m256 sum, const std::uint8_t* w,
                         const std::uint8_t* x, std::uint64_t count,
                         std::uint8_t*& isum) {
  switch (count) {
    case 1:
      return AddBlocks<1, kSums>(form, sum, w, x, isum);
    case 2:
      return AddBlocks<2, kSums>(form, sum, w, x, isum);
    case 3:
      return AddBlocks<3, kSums>(form, sum, w, x, isum);
    case 4:
      return AddBlocks<4, kSums>(form, sum, w, x, isum);
    case 5:
      return AddBlocks<5, kSums>(form, sum, w, x, isum);
    case 6:
      return AddBlocks<6, kSums>(form, sum, w, x, isum);
    case 7:
      return AddBlocks<7, kSums>(form, sum, w, x, isum);
    default:
      return sum;
  }
}

template <bool kSums, typename Form>
WP_INLINE float DotAs(Form& form, const std::uint8_t* w, const std::uint8_t* x,
                      std::uint64_t blocks, std::uint8_t* isum) {
  // The accumulators take turns: after each whole group the next one is a0.
  Lanes l = NoLanes();
  std::uint64_t turns = 0;
  for (; blocks >= 8; blocks -= 8, w += 8 * kBlock, x += Form::kStep, ++turns) {
    const __m256 next = AddBlocks<8, kSums>(form, l.a0, w, x, isum);
    l = {l.a1, l.a2, l.a3, next};
  }
  l.a0 = AddLast<kSums>(form, l.a0, w, x, blocks, isum);
  for (; turns % 4 != 0; ++turns) l = {l.a1, l.a2, l.a3, l.a0};
  return Join(l);
}

template <typename Form>
WP_INLINE void RowsAs(Form form, const std::uint8_t* w,
                      const std::uint8_t* groups, std::uint64_t blocks,
                      std::uint64_t rows, std::uint8_t* y) {
  for (std::uint64_t r = 0; r < rows; ++r, w += blocks * kBlock, y += 4) {
    const float value = DotAs<false>(form, w, groups, blocks, nullptr);
    std::memcpy(y, &value, sizeof(value));
  }
}

// Writes the scales of a prepared column, whose groups of kStep bytes begin
// with eight scales as f32; the rest is the including file's.
template <std::uint64_t kStep>
void PrepareScales(const std::uint8_t* x, std::uint64_t blocks,
                   std::uint8_t* groups) {
  for (std::uint64_t b = 0; b < blocks; ++b) {
    const float d =
        FloatFromHalf(static_cast<std::uint16_t>(LoadScale(x + b * kBlock)));
    std::memcpy(groups + b / 8 * kStep + 4 * (b % 8), &d, sizeof(d));
  }
}

}  // namespace
}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_Q8_0_DOT_X86_H_
