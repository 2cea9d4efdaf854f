// Pieces of the x86 kernels that do not depend on how integer products are
// formed. Included once by each of them, inside its own anonymous namespace's
// file; WP_TARGET says what the functions may use. Never with FMA: nothing
// here can be fused.
//
// #define WP_TARGET "avx2,f16c"
#ifndef WEIGHTPROOF_IMPLS_CPU_Q8_0_X86_H_
#define WEIGHTPROOF_IMPLS_CPU_Q8_0_X86_H_

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "impls/cpu/q8_0.h"

#define WP_INLINE_MEMBER \
  inline __attribute__((always_inline, target(WP_TARGET)))
#define WP_INLINE static WP_INLINE_MEMBER
#define WP_FUNCTION __attribute__((target(WP_TARGET)))

namespace weightproof::impls {
namespace {

constexpr std::uint64_t kBlock = 34;

WP_INLINE __m256i LoadWords(const std::uint8_t* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

WP_INLINE __m256i LoadCodes(const std::uint8_t* block) {
  return LoadWords(block + 2);
}

WP_INLINE __m256 LoadFloats(const std::uint8_t* at) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(at));
}

inline std::uint64_t LoadScale(const std::uint8_t* block) {
  std::uint16_t half;
  std::memcpy(&half, block, sizeof(half));
  return half;
}

// The scales of count <= 8 blocks; the others are +0. Scalar loads and shifts
// are faster than inserting or blending words: the vector pipes are busy.
template <int count>
WP_INLINE __m256 GatherScales(const std::uint8_t* b) {
  std::uint64_t low = LoadScale(b);
  std::uint64_t high = 0;
  if constexpr (count > 1) low |= LoadScale(b + kBlock) << 16;
  if constexpr (count > 2) low |= LoadScale(b + 2 * kBlock) << 32;
  if constexpr (count > 3) low |= LoadScale(b + 3 * kBlock) << 48;
  if constexpr (count > 4) high = LoadScale(b + 4 * kBlock);
  if constexpr (count > 5) high |= LoadScale(b + 5 * kBlock) << 16;
  if constexpr (count > 6) high |= LoadScale(b + 6 * kBlock) << 32;
  if constexpr (count > 7) high |= LoadScale(b + 7 * kBlock) << 48;
  return _mm256_cvtph_ps(_mm_set_epi64x(static_cast<long long>(high),
                                        static_cast<long long>(low)));
}

WP_INLINE __m256i AddPairs32(__m256i a, __m256i b) {
  return _mm256_add_epi32(_mm256_unpacklo_epi32(a, b),
                          _mm256_unpackhi_epi32(a, b));
}

WP_INLINE __m256i AddPairs64(__m256i a, __m256i b) {
  return _mm256_add_epi32(_mm256_unpacklo_epi64(a, b),
                          _mm256_unpackhi_epi64(a, b));
}

// Accumulator k holds lanes 8k .. 8k+7 of the published order.
struct Lanes {
  __m256 a0, a1, a2, a3;
};

WP_INLINE Lanes NoLanes() {
  const __m256 zero = _mm256_setzero_ps();
  return {zero, zero, zero, zero};
}

WP_INLINE float Join(const Lanes& l) {
  const __m256 eight =
      _mm256_add_ps(_mm256_add_ps(l.a0, l.a2), _mm256_add_ps(l.a1, l.a3));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight),
                                 _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// ---- quantize ----

WP_INLINE __m256i Magnitudes(const std::uint8_t* x) {
  return _mm256_and_si256(
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)),
      _mm256_set1_epi32(0x7fffffff));
}

// Eight lanes that hold the largest magnitude patterns of a block.
WP_INLINE __m256i Largest(const std::uint8_t* x) {
  return _mm256_max_epi32(
      _mm256_max_epi32(Magnitudes(x), Magnitudes(x + 32)),
      _mm256_max_epi32(Magnitudes(x + 64), Magnitudes(x + 96)));
}

WP_INLINE __m256i MaxPairs32(__m256i a, __m256i b) {
  return _mm256_max_epi32(_mm256_unpacklo_epi32(a, b),
                          _mm256_unpackhi_epi32(a, b));
}

WP_INLINE __m256i MaxPairs64(__m256i a, __m256i b) {
  return _mm256_max_epi32(_mm256_unpacklo_epi64(a, b),
                          _mm256_unpackhi_epi64(a, b));
}

// Lane i is the largest magnitude pattern of block i.
WP_INLINE __m256i LargestOfEight(const std::uint8_t* x) {
  const __m256i low =
      MaxPairs64(MaxPairs32(Largest(x), Largest(x + 128)),
                 MaxPairs32(Largest(x + 256), Largest(x + 384)));
  const __m256i high =
      MaxPairs64(MaxPairs32(Largest(x + 512), Largest(x + 640)),
                 MaxPairs32(Largest(x + 768), Largest(x + 896)));
  return _mm256_max_epi32(_mm256_permute2x128_si256(low, high, 0x20),
                          _mm256_permute2x128_si256(low, high, 0x31));
}

WP_INLINE int LargestOfOne(const std::uint8_t* x) {
  const __m256i eight = Largest(x);
  __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight),
                               _mm256_extracti128_si256(eight, 1));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0xb1));
  return _mm_cvtsi128_si32(four);
}

// Half away from zero: see the scalar kernel.
WP_INLINE __m256i RoundAway(const std::uint8_t* x, __m256 id) {
  const __m256 t = _mm256_mul_ps(LoadFloats(x), id);
  const __m256 sign = _mm256_and_ps(t, _mm256_set1_ps(-0.0f));
  const __m256 nearly_half = _mm256_castsi256_ps(_mm256_set1_epi32(0x3effffff));
  return _mm256_cvttps_epi32(_mm256_add_ps(t, _mm256_or_ps(sign, nearly_half)));
}

WP_INLINE void StoreCodes(const std::uint8_t* x, float id, std::uint8_t* y) {
  const __m256 factor = _mm256_set1_ps(id);
  const __m256i a =
      _mm256_packs_epi32(RoundAway(x, factor), RoundAway(x + 32, factor));
  const __m256i b =
      _mm256_packs_epi32(RoundAway(x + 64, factor), RoundAway(x + 96, factor));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(y + 2),
      _mm256_permutevar8x32_epi32(_mm256_packs_epi16(a, b), order));
}

// Up to eight blocks whose largest magnitudes are known.
WP_INLINE void StoreBlocks(const std::uint8_t* x, __m256i largest, int count,
                           std::uint8_t* y) {
  const __m256 d =
      _mm256_div_ps(_mm256_castsi256_ps(largest), _mm256_set1_ps(127.0f));
  // 1 / d is infinite up to 2^-128, pattern 00200000.
  const __m256i finite =
      _mm256_cmpgt_epi32(_mm256_castps_si256(d), _mm256_set1_epi32(0x00200000));
  const __m256 id = _mm256_and_ps(_mm256_div_ps(_mm256_set1_ps(1.0f), d),
                                  _mm256_castsi256_ps(finite));
  alignas(32) float ids[8];
  alignas(16) std::uint16_t halves[8];
  _mm256_store_ps(ids, id);
  _mm_store_si128(reinterpret_cast<__m128i*>(halves),
                  _mm256_cvtps_ph(d, _MM_FROUND_TO_NEAREST_INT));
  for (int b = 0; b < count; ++b) {
    StoreCodes(x + 128 * b, ids[b], y + kBlock * static_cast<unsigned>(b));
    std::memcpy(y + kBlock * static_cast<unsigned>(b), &halves[b], 2);
  }
}

WP_FUNCTION bool Quantize(const std::uint8_t* x, std::uint64_t blocks,
                          std::uint8_t* y) {
  __m256i largest_of_all = _mm256_setzero_si256();
  for (; blocks >= 8; blocks -= 8, x += 8 * 128, y += 8 * kBlock) {
    const __m256i largest = LargestOfEight(x);
    largest_of_all = _mm256_max_epi32(largest_of_all, largest);
    StoreBlocks(x, largest, 8, y);
  }
  if (blocks > 0) {
    alignas(32) int patterns[8] = {};
    for (std::uint64_t b = 0; b < blocks; ++b) {
      patterns[b] = LargestOfOne(x + 128 * b);
    }
    const __m256i largest =
        _mm256_load_si256(reinterpret_cast<const __m256i*>(patterns));
    largest_of_all = _mm256_max_epi32(largest_of_all, largest);
    StoreBlocks(x, largest, static_cast<int>(blocks), y);
  }
  const __m256i bad =
      _mm256_cmpgt_epi32(largest_of_all, _mm256_set1_epi32(0x7f7fffff));
  return _mm256_movemask_epi8(bad) == 0;
}

// ---- dequantize, f16 ----

// Outputs that fit no cache are written past it: reading lines only to
// overwrite them would take half of the memory's speed.
constexpr std::uint64_t kStreamBlocks = (std::uint64_t{16} << 20) / 128;

template <bool kStream>
WP_INLINE void StoreFloats(std::uint8_t* at, __m256 value) {
  auto* y = reinterpret_cast<float*>(at);
  if constexpr (kStream) {
    _mm256_stream_ps(y, value);
  } else {
    _mm256_storeu_ps(y, value);
  }
}

template <bool kStream>
WP_INLINE void DequantizeTo(const std::uint8_t* x, std::uint64_t blocks,
                            std::uint8_t* y) {
  for (; blocks > 0; --blocks, x += kBlock, y += 128) {
    const __m256 d = _mm256_broadcastss_ps(
        _mm_cvtph_ps(_mm_cvtsi32_si128(static_cast<int>(LoadScale(x)))));
    for (int i = 0; i < 32; i += 8) {
      const __m256i codes = _mm256_cvtepi8_epi32(
          _mm_loadl_epi64(reinterpret_cast<const __m128i*>(x + 2 + i)));
      StoreFloats<kStream>(y + 4 * i,
                           _mm256_mul_ps(_mm256_cvtepi32_ps(codes), d));
    }
  }
}

WP_FUNCTION void Dequantize(const std::uint8_t* x, std::uint64_t blocks,
                            std::uint8_t* y) {
  if (blocks < kStreamBlocks || reinterpret_cast<std::uintptr_t>(y) % 32 != 0) {
    return DequantizeTo<false>(x, blocks, y);
  }
  DequantizeTo<true>(x, blocks, y);
  _mm_sfence();
}

WP_FUNCTION void F16FromF32(const std::uint8_t* x, std::uint64_t count,
                            std::uint8_t* y) {
  for (; count >= 8; count -= 8, x += 32, y += 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y),
                     _mm256_cvtps_ph(LoadFloats(x), _MM_FROUND_TO_NEAREST_INT));
  }
  Q80ScalarKernels().f16_from_f32(x, count, y);
}

WP_FUNCTION void F16ToF32(const std::uint8_t* x, std::uint64_t count,
                          std::uint8_t* y) {
  for (; count >= 8; count -= 8, x += 16, y += 32) {
    _mm256_storeu_ps(
        reinterpret_cast<float*>(y),
        _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x))));
  }
  Q80ScalarKernels().f16_to_f32(x, count, y);
}

}  // namespace
}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_Q8_0_X86_H_
