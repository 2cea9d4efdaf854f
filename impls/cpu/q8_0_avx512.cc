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

WP_INLINE __m256i AllBytes(int value) {
  return _mm256_set1_epi8(static_cast<char>(value));
}

WP_INLINE __m256i Raised(const std::uint8_t* block) {
  return _mm256_xor_si256(LoadCodes(block), AllBytes(0x80));
}

// Two rows of blocks. 128 not(x) is -128 x - 128: what the raised side adds is
// taken away again by a second product, but for 512 in each lane of four codes.
struct Blocks {
  static constexpr std::uint64_t kStep = 8 * kBlock;
  template <int i>
  WP_INLINE_MEMBER __m256i Product(const std::uint8_t* w,
                                   const std::uint8_t* x) const {
    const __m256i codes = LoadCodes(x + i * kBlock);
    const __m256i raised = _mm256_dpbusd_epi32(_mm256_set1_epi32(512),
                                               Raised(w + i * kBlock), codes);
    return _mm256_dpbusd_epi32(raised, AllBytes(0x80),
                               _mm256_xor_si256(codes, AllBytes(0xff)));
  }
  WP_INLINE_MEMBER __m256i Correct(__m256i sums, const std::uint8_t*) const {
    return sums;
  }
  template <int count>
  WP_INLINE_MEMBER __m256 Scales(const std::uint8_t* x) const {
    return GatherScales<count>(x);
  }
};

// Against a prepared column.
struct Prepared {
  static constexpr std::uint64_t kStep = kGroup;
  template <int i>
  WP_INLINE_MEMBER __m256i Product(const std::uint8_t* w,
                                   const std::uint8_t* group) const {
    return _mm256_dpbusd_epi32(_mm256_setzero_si256(), Raised(w + i * kBlock),
                               LoadWords(group + kCodes + 32 * i));
  }
  WP_INLINE_MEMBER __m256i Correct(__m256i sums,
                                   const std::uint8_t* group) const {
    return _mm256_add_epi32(sums, LoadWords(group + 32));
  }
  template <int count>
  WP_INLINE_MEMBER __m256 Scales(const std::uint8_t* group) const {
    return LoadFloats(group);
  }
};

}  // namespace
}  // namespace weightproof::impls

#include "impls/cpu/q8_0_dot_x86.h"

namespace weightproof::impls {
namespace {

WP_FUNCTION float Dot(const std::uint8_t* w, const std::uint8_t* x,
                      std::uint64_t blocks, std::uint8_t* isum) {
  Blocks form;
  return isum != nullptr ? DotAs<true>(form, w, x, blocks, isum)
                         : DotAs<false>(form, w, x, blocks, isum);
}

WP_FUNCTION void Rows(const std::uint8_t* w, const std::uint8_t* prepared,
                      std::uint64_t blocks, std::uint64_t rows,
                      std::uint8_t* y) {
  RowsAs(Prepared{}, w, prepared, blocks, rows, y);
}

std::uint64_t PreparedBytes(std::uint64_t blocks) {
  return (blocks + 7) / 8 * kGroup;
}

void Prepare(const std::uint8_t* x, std::uint64_t blocks,
             std::uint8_t* prepared) {
  if (blocks == 0) return;
  std::memset(prepared, 0, PreparedBytes(blocks));
  PrepareScales<kGroup>(x, blocks, prepared);
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
