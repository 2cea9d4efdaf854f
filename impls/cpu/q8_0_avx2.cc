// AVX2 kernels: codes widened to int16, products by vpmaddwd. Exact for every
// code: -128 x -128 twice is 32768 and fits the int32 of vpmaddwd.
#include "impls/cpu/q8_0.h"
#include "impls/cpu/q8_0_cpu.h"

#if defined(__x86_64__)

#define WP_TARGET "avx2,f16c"
#include "impls/cpu/q8_0_x86.h"

namespace weightproof::impls {
namespace {

// Eight scales as f32, then eight blocks of 32 int16.
constexpr std::uint64_t kGroup = 32 + 8 * 64;

// 16 codes as int16. Loading halves from memory spares a lane crossing.
WP_INLINE __m256i Widen(const std::uint8_t* codes) {
  return _mm256_cvtepi8_epi16(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
}

WP_INLINE __m256i Product(const std::uint8_t* w, const std::uint8_t* x) {
  return _mm256_add_epi32(_mm256_madd_epi16(Widen(w + 2), Widen(x + 2)),
                          _mm256_madd_epi16(Widen(w + 18), Widen(x + 18)));
}

// Block i, or zero where there is none.
template <int i, int count>
WP_INLINE __m256i ProductOf(const std::uint8_t* w, const std::uint8_t* x) {
  if constexpr (i >= count)
    return _mm256_setzero_si256();
  else
    return Product(w + i * kBlock, x + i * kBlock);
}

template <int count>
WP_INLINE Eight Products(const std::uint8_t* w, const std::uint8_t* x) {
  return {ProductOf<0, count>(w, x), ProductOf<1, count>(w, x),
          ProductOf<2, count>(w, x), ProductOf<3, count>(w, x),
          ProductOf<4, count>(w, x), ProductOf<5, count>(w, x),
          ProductOf<6, count>(w, x), ProductOf<7, count>(w, x)};
}

WP_INLINE __m256i Load16(const std::uint8_t* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

template <int i, int count>
WP_INLINE __m256i GroupProductOf(const std::uint8_t* w,
                                 const std::uint8_t* group) {
  if constexpr (i >= count) {
    return _mm256_setzero_si256();
  } else {
    const std::uint8_t* x = group + 32 + 64 * i;
    const std::uint8_t* codes = w + i * kBlock + 2;
    return _mm256_add_epi32(
        _mm256_madd_epi16(Widen(codes), Load16(x)),
        _mm256_madd_epi16(Widen(codes + 16), Load16(x + 32)));
  }
}

template <int count>
WP_INLINE __m256i GroupSums(const std::uint8_t* w, const std::uint8_t* group) {
  return SumEach(
      {GroupProductOf<0, count>(w, group), GroupProductOf<1, count>(w, group),
       GroupProductOf<2, count>(w, group), GroupProductOf<3, count>(w, group),
       GroupProductOf<4, count>(w, group), GroupProductOf<5, count>(w, group),
       GroupProductOf<6, count>(w, group), GroupProductOf<7, count>(w, group)});
}

}  // namespace
}  // namespace weightproof::impls

#include "impls/cpu/q8_0_dot_x86.h"

namespace weightproof::impls {
namespace {

WP_FUNCTION void Prepare(const std::uint8_t* x, std::uint64_t blocks,
                         std::uint8_t* prepared) {
  if (blocks == 0) return;
  std::memset(prepared, 0, PreparedBytes(blocks));
  PrepareScales(x, blocks, prepared);
  for (std::uint64_t b = 0; b < blocks; ++b) {
    std::uint8_t* y = prepared + b / 8 * kGroup + 32 + 64 * (b % 8);
    const std::uint8_t* codes = x + b * kBlock + 2;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), Widen(codes));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + 32), Widen(codes + 16));
  }
}

constexpr Q80Kernels kAvx2 = {"q8_0_avx2", MissingForAvx2, Quantize, Dequantize,
                              Dot,         PreparedBytes,  Prepare,  Rows,
                              F16FromF32,  F16ToF32};

}  // namespace

const Q80Kernels& Q80Avx2Kernels() { return kAvx2; }

}  // namespace weightproof::impls

#else

namespace weightproof::impls {

const Q80Kernels& Q80Avx2Kernels() {
  static constexpr Q80Kernels kNone = {
      "q8_0_avx2", MissingForAvx2, {}, {}, {}, {}, {}, {}, {}, {}};
  return kNone;
}

}  // namespace weightproof::impls

#endif
