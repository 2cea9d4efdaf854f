// AVX-512 VNNI kernels in 256-bit registers: products by vpdpbusd, which takes
// an unsigned and a signed side. w xor 80h is w + 128, so that the sum comes
// out larger by 128 sum(x); that is subtracted once per eight blocks. Exact
// for every code: no saturation, at most 4 x 255 x 128 per step.
#include "impls/cpu/q8_0.h"
#include "impls/cpu/q8_0_cpu.h"

#if defined(__x86_64__)

#define WP_TARGET "avx2,f16c,avx512f,avx512bw,avx512vl,avx512vnni"
#include "impls/cpu/q8_0_x86.h"

namespace weightproof::impls {
namespace {

// Eight scales as f32, eight corrections -128 sum(x) as int32, then eight
// blocks of 32 codes.
constexpr std::uint64_t kCodes = 64;
constexpr std::uint64_t kGroup = kCodes + 8 * 32;

WP_INLINE __m256i Offset(const std::uint8_t* block) {
  return _mm256_xor_si256(LoadCodes(block),
                          _mm256_set1_epi8(static_cast<char>(0x80)));
}

template <int i, int count>
WP_INLINE __m256i ProductOf(const std::uint8_t* w, const std::uint8_t* x) {
  const __m256i zero = _mm256_setzero_si256();
  if constexpr (i >= count) {
    return zero;
  } else {
    const __m256i codes = LoadCodes(x + i * kBlock);
    const __m256i bias = _mm256_dpbusd_epi32(
        zero, _mm256_set1_epi8(static_cast<char>(0x80)), codes);
    return _mm256_sub_epi32(
        _mm256_dpbusd_epi32(zero, Offset(w + i * kBlock), codes), bias);
  }
}

template <int count>
WP_INLINE Eight Products(const std::uint8_t* w, const std::uint8_t* x) {
  return {ProductOf<0, count>(w, x), ProductOf<1, count>(w, x),
          ProductOf<2, count>(w, x), ProductOf<3, count>(w, x),
          ProductOf<4, count>(w, x), ProductOf<5, count>(w, x),
          ProductOf<6, count>(w, x), ProductOf<7, count>(w, x)};
}

template <int i, int count>
WP_INLINE __m256i GroupProductOf(const std::uint8_t* w,
                                 const std::uint8_t* group) {
  const __m256i zero = _mm256_setzero_si256();
  if constexpr (i >= count) {
    return zero;
  } else {
    const __m256i codes = _mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(group + kCodes + 32 * i));
    return _mm256_dpbusd_epi32(zero, Offset(w + i * kBlock), codes);
  }
}

template <int count>
WP_INLINE __m256i GroupSums(const std::uint8_t* w, const std::uint8_t* group) {
  const __m256i sums = SumEach(
      {GroupProductOf<0, count>(w, group), GroupProductOf<1, count>(w, group),
       GroupProductOf<2, count>(w, group), GroupProductOf<3, count>(w, group),
       GroupProductOf<4, count>(w, group), GroupProductOf<5, count>(w, group),
       GroupProductOf<6, count>(w, group), GroupProductOf<7, count>(w, group)});
  return _mm256_add_epi32(
      sums, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(group + 32)));
}

}  // namespace
}  // namespace weightproof::impls

#include "impls/cpu/q8_0_dot_x86.h"

namespace weightproof::impls {
namespace {

void Prepare(const std::uint8_t* x, std::uint64_t blocks,
             std::uint8_t* prepared) {
  if (blocks == 0) return;
  std::memset(prepared, 0, PreparedBytes(blocks));
  PrepareScales(x, blocks, prepared);
  for (std::uint64_t b = 0; b < blocks; ++b) {
    std::uint8_t* group = prepared + b / 8 * kGroup;
    const std::uint8_t* codes = x + b * kBlock + 2;
    std::memcpy(group + kCodes + 32 * (b % 8), codes, 32);
    std::int32_t correction = 0;
    for (int i = 0; i < 32; ++i) {
      correction -= 128 * static_cast<std::int8_t>(codes[i]);
    }
    std::memcpy(group + 32 + 4 * (b % 8), &correction, sizeof(correction));
  }
}

constexpr Q80Kernels kAvx512 = {
    "q8_0_avx512", MissingForAvx512, Quantize, Dequantize, Dot,
    PreparedBytes, Prepare,          Rows,     F16FromF32, F16ToF32};

}  // namespace

const Q80Kernels& Q80Avx512Kernels() { return kAvx512; }

}  // namespace weightproof::impls

#else

namespace weightproof::impls {

const Q80Kernels& Q80Avx512Kernels() {
  static constexpr Q80Kernels kNone = {
      "q8_0_avx512", MissingForAvx512, {}, {}, {}, {}, {}, {}, {}, {}};
  return kNone;
}

}  // namespace weightproof::impls

#endif
