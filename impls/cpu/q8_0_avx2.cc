// AVX2 kernels. The quick form multiplies |w| by x with the sign of w, unsigned
// by signed bytes: exact as long as no x is -128, whose negation wraps (two
// products are at most 2 x 128 x 127, which fits 16 bits). Rows of x that have
// such a code are multiplied by the wide form: codes widened to int16, products
// by vpmaddwd, exact for all.
#include "impls/cpu/q8_0.h"
#include "impls/cpu/q8_0_cpu.h"

#if defined(__x86_64__)

#define WP_TARGET "avx2,f16c"
#include "impls/cpu/q8_0_x86.h"

namespace weightproof::impls {
namespace {

// Eight scales as f32, then eight blocks of 32 codes.
constexpr std::uint64_t kCodes = 32;
constexpr std::uint64_t kGroup = kCodes + 8 * 32;
// A prepared column is 32 bytes, the first of which says whether a code is
// -128, and its groups.
constexpr std::uint64_t kHead = 32;

// 16 codes as int16. Loading halves from memory spares a lane crossing.
WP_INLINE __m256i Widen(const std::uint8_t* codes) {
  return _mm256_cvtepi8_epi16(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
}

WP_INLINE __m256i Product(const std::uint8_t* w, const std::uint8_t* x) {
  return _mm256_add_epi32(_mm256_madd_epi16(Widen(w + 2), Widen(x + 2)),
                          _mm256_madd_epi16(Widen(w + 18), Widen(x + 18)));
}

WP_INLINE __m256i QuickProduct(__m256i w, __m256i x) {
  return _mm256_madd_epi16(
      _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w)),
      _mm256_set1_epi16(1));
}

// Two rows of blocks.
struct Blocks {
  static constexpr std::uint64_t kStep = 8 * kBlock;
  template <int count>
  WP_INLINE_MEMBER __m256 Scales(const std::uint8_t* x) const {
    return GatherScales<count>(x);
  }
  WP_INLINE_MEMBER __m256i Correct(__m256i sums, const std::uint8_t*) const {
    return sums;
  }
};

struct QuickBlocks : Blocks {
  __m256i least;  // code of x so far, in each byte
  template <int i>
  WP_INLINE_MEMBER __m256i Product(const std::uint8_t* w,
                                   const std::uint8_t* x) {
    const __m256i codes = LoadCodes(x + i * kBlock);
    least = _mm256_min_epi8(least, codes);
    return QuickProduct(LoadCodes(w + i * kBlock), codes);
  }
};

struct WideBlocks : Blocks {
  template <int i>
  WP_INLINE_MEMBER __m256i Product(const std::uint8_t* w,
                                   const std::uint8_t* x) const {
    return impls::Product(w + i * kBlock, x + i * kBlock);
  }
};

// Against a prepared column.
struct Prepared {
  static constexpr std::uint64_t kStep = kGroup;
  template <int count>
  WP_INLINE_MEMBER __m256 Scales(const std::uint8_t* group) const {
    return LoadFloats(group);
  }
  WP_INLINE_MEMBER __m256i Correct(__m256i sums, const std::uint8_t*) const {
    return sums;
  }
};

struct QuickPrepared : Prepared {
  template <int i>
  WP_INLINE_MEMBER __m256i Product(const std::uint8_t* w,
                                   const std::uint8_t* group) const {
    return QuickProduct(LoadCodes(w + i * kBlock),
                        LoadWords(group + kCodes + 32 * i));
  }
};

struct WidePrepared : Prepared {
  template <int i>
  WP_INLINE_MEMBER __m256i Product(const std::uint8_t* w,
                                   const std::uint8_t* group) const {
    return impls::Product(w + i * kBlock, group + kCodes + 32 * i - 2);
  }
};

}  // namespace
}  // namespace weightproof::impls

#include "impls/cpu/q8_0_dot_x86.h"

namespace weightproof::impls {
namespace {

WP_INLINE bool HasLowest(__m256i codes) {
  return _mm256_movemask_epi8(
             _mm256_cmpeq_epi8(codes, _mm256_set1_epi8(-128))) != 0;
}

WP_FUNCTION float Dot(const std::uint8_t* w, const std::uint8_t* x,
                      std::uint64_t blocks, std::uint8_t* isum) {
  WideBlocks wide;
  if (isum != nullptr) return DotAs<true>(wide, w, x, blocks, isum);
  QuickBlocks quick;
  quick.least = _mm256_setzero_si256();
  const float value = DotAs<false>(quick, w, x, blocks, isum);
  if (!HasLowest(quick.least)) [[likely]]
    return value;
  return DotAs<false>(wide, w, x, blocks, isum);
}

WP_FUNCTION void Rows(const std::uint8_t* w, const std::uint8_t* prepared,
                      std::uint64_t blocks, std::uint64_t rows,
                      std::uint8_t* y) {
  const std::uint8_t* groups = prepared + kHead;
  if (prepared[0] == 0) {
    RowsAs(QuickPrepared{}, w, groups, blocks, rows, y);
  } else {
    RowsAs(WidePrepared{}, w, groups, blocks, rows, y);
  }
}

std::uint64_t PreparedBytes(std::uint64_t blocks) {
  return kHead + (blocks + 7) / 8 * kGroup;
}

WP_FUNCTION void Prepare(const std::uint8_t* x, std::uint64_t blocks,
                         std::uint8_t* prepared) {
  std::memset(prepared, 0, PreparedBytes(blocks));
  std::uint8_t* groups = prepared + kHead;
  PrepareScales<kGroup>(x, blocks, groups);
  __m256i least = _mm256_setzero_si256();
  for (std::uint64_t b = 0; b < blocks; ++b) {
    const __m256i codes = LoadCodes(x + b * kBlock);
    least = _mm256_min_epi8(least, codes);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(groups + b / 8 * kGroup +
                                                   kCodes + 32 * (b % 8)),
                        codes);
  }
  prepared[0] = HasLowest(least) ? 1 : 0;
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
