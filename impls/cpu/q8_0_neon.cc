// AArch64 kernels with dot product instructions (sdot).
#include "impls/cpu/q8_0.h"
#include "impls/cpu/q8_0_cpu.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include <cstring>

#define WP_INLINE                                                      \
  static inline __attribute__((always_inline, target("arch=armv8.2-a+" \
                                                     "dotprod")))
#define WP_FUNCTION __attribute__((target("arch=armv8.2-a+dotprod")))

namespace weightproof::impls {
namespace {

constexpr std::uint64_t kBlock = 34;

WP_INLINE float32x4_t LoadFloats(const std::uint8_t* at) {
  return vreinterpretq_f32_u8(vld1q_u8(at));
}

WP_INLINE void StoreFloats(std::uint8_t* at, float32x4_t value) {
  vst1q_u8(at, vreinterpretq_u8_f32(value));
}

// ---- dot ----

WP_INLINE int32x4_t Product(const std::uint8_t* w, const std::uint8_t* x) {
  const int32x4_t low =
      vdotq_s32(vdupq_n_s32(0), vreinterpretq_s8_u8(vld1q_u8(w + 2)),
                vreinterpretq_s8_u8(vld1q_u8(x + 2)));
  return vdotq_s32(low, vreinterpretq_s8_u8(vld1q_u8(w + 18)),
                   vreinterpretq_s8_u8(vld1q_u8(x + 18)));
}

// Scales and integer sums of count <= 4 blocks; the others are 0.
template <int count>
WP_INLINE float32x4_t Scales(const std::uint8_t* b) {
  std::uint16_t half[4] = {0, 0, 0, 0};
  for (int i = 0; i < count; ++i) std::memcpy(&half[i], b + kBlock * i, 2);
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(half)));
}

template <int i, int count>
WP_INLINE int32x4_t ProductOf(const std::uint8_t* w, const std::uint8_t* x) {
  if constexpr (i >= count)
    return vdupq_n_s32(0);
  else
    return Product(w + i * kBlock, x + i * kBlock);
}

template <int count>
WP_INLINE float32x4_t AddBlocks(float32x4_t sum, const std::uint8_t* w,
                                const std::uint8_t* x, std::uint8_t*& isum) {
  const int32x4_t sums = vpaddq_s32(
      vpaddq_s32(ProductOf<0, count>(w, x), ProductOf<1, count>(w, x)),
      vpaddq_s32(ProductOf<2, count>(w, x), ProductOf<3, count>(w, x)));
  if (isum != nullptr) {
    std::int32_t each[4];
    vst1q_s32(each, sums);
    std::memcpy(isum, each, 4 * count);
    isum += 4 * count;
  }
  const float32x4_t scale = vmulq_f32(Scales<count>(w), Scales<count>(x));
  return vaddq_f32(sum, vmulq_f32(scale, vcvtq_f32_s32(sums)));
}

WP_INLINE float32x4_t AddLast(float32x4_t sum, const std::uint8_t* w,
                              const std::uint8_t* x, std::uint64_t count,
                              std::uint8_t*& isum) {
  switch (count) {
    case 1:
      return AddBlocks<1>(sum, w, x, isum);
    case 2:
      return AddBlocks<2>(sum, w, x, isum);
    case 3:
      return AddBlocks<3>(sum, w, x, isum);
    default:
      return sum;
  }
}

// Eight accumulators of four lanes: lanes 4k .. 4k+3 of the published order.
WP_INLINE float Join(const float32x4_t (&a)[8]) {
  float32x4_t sixteen[4], eight[2];
  for (int k = 0; k < 4; ++k) sixteen[k] = vaddq_f32(a[k], a[k + 4]);
  for (int k = 0; k < 2; ++k) {
    eight[k] = vaddq_f32(sixteen[k], sixteen[k + 2]);
  }
  const float32x4_t four = vaddq_f32(eight[0], eight[1]);
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

WP_FUNCTION float Dot(const std::uint8_t* w, const std::uint8_t* x,
                      std::uint64_t blocks, std::uint8_t* isum) {
  constexpr std::uint64_t kStep = 4 * kBlock;
  float32x4_t a[8];
  for (float32x4_t& lanes : a) lanes = vdupq_n_f32(0);
  for (; blocks >= 32; blocks -= 32) {
    for (int k = 0; k < 8; ++k, w += kStep, x += kStep) {
      a[k] = AddBlocks<4>(a[k], w, x, isum);
    }
  }
  int k = 0;
  for (; blocks >= 4; blocks -= 4, ++k, w += kStep, x += kStep) {
    a[k] = AddBlocks<4>(a[k], w, x, isum);
  }
  if (blocks > 0) a[k] = AddLast(a[k], w, x, blocks, isum);
  return Join(a);
}

std::uint64_t PreparedBytes(std::uint64_t blocks) { return blocks * kBlock; }

void Prepare(const std::uint8_t* x, std::uint64_t blocks,
             std::uint8_t* prepared) {
  if (blocks > 0) std::memcpy(prepared, x, blocks * kBlock);
}

WP_FUNCTION void Rows(const std::uint8_t* w, const std::uint8_t* prepared,
                      std::uint64_t blocks, std::uint64_t rows,
                      std::uint8_t* y) {
  for (std::uint64_t r = 0; r < rows; ++r, w += blocks * kBlock, y += 4) {
    const float value = Dot(w, prepared, blocks, nullptr);
    std::memcpy(y, &value, sizeof(value));
  }
}

// ---- quantize ----

WP_INLINE std::uint32_t Largest(const std::uint8_t* x) {
  const uint32x4_t mask = vdupq_n_u32(0x7fffffff);
  uint32x4_t largest = vdupq_n_u32(0);
  for (int i = 0; i < 128; i += 16) {
    largest = vmaxq_u32(largest,
                        vandq_u32(vreinterpretq_u32_u8(vld1q_u8(x + i)), mask));
  }
  return vmaxvq_u32(largest);
}

// vcvta rounds half away from zero by itself.
WP_INLINE int16x4_t Codes(const std::uint8_t* x, float id) {
  return vmovn_s32(vcvtaq_s32_f32(vmulq_n_f32(LoadFloats(x), id)));
}

WP_FUNCTION bool Quantize(const std::uint8_t* x, std::uint64_t blocks,
                          std::uint8_t* y) {
  std::uint32_t largest_of_all = 0;
  for (; blocks > 0; --blocks, x += 128, y += kBlock) {
    const std::uint32_t largest = Largest(x);
    if (largest > largest_of_all) largest_of_all = largest;
    float amax;
    std::memcpy(&amax, &largest, sizeof(amax));
    const float d = amax / 127.0f;
    std::uint32_t pattern;
    std::memcpy(&pattern, &d, sizeof(pattern));
    const float id = pattern > 0x00200000 ? 1.0f / d : 0.0f;
    const std::uint16_t half = HalfFromFloat(d);
    std::memcpy(y, &half, sizeof(half));
    for (int i = 0; i < 4; ++i) {
      const int16x8_t words =
          vcombine_s16(Codes(x + 32 * i, id), Codes(x + 32 * i + 16, id));
      vst1_u8(y + 2 + 8 * i, vreinterpret_u8_s8(vmovn_s16(words)));
    }
  }
  return largest_of_all <= 0x7f7fffff;
}

// ---- dequantize, f16 ----

WP_FUNCTION void Dequantize(const std::uint8_t* x, std::uint64_t blocks,
                            std::uint8_t* y) {
  for (; blocks > 0; --blocks, x += kBlock, y += 128) {
    std::uint16_t half;
    std::memcpy(&half, x, sizeof(half));
    const float d = FloatFromHalf(half);
    for (int i = 0; i < 32; i += 8) {
      const int16x8_t codes = vmovl_s8(vreinterpret_s8_u8(vld1_u8(x + 2 + i)));
      const int32x4_t low = vmovl_s16(vget_low_s16(codes));
      const int32x4_t high = vmovl_s16(vget_high_s16(codes));
      StoreFloats(y + 4 * i, vmulq_n_f32(vcvtq_f32_s32(low), d));
      StoreFloats(y + 4 * i + 16, vmulq_n_f32(vcvtq_f32_s32(high), d));
    }
  }
}

WP_FUNCTION void F16FromF32(const std::uint8_t* x, std::uint64_t count,
                            std::uint8_t* y) {
  for (; count >= 4; count -= 4, x += 16, y += 8) {
    vst1_u8(y, vreinterpret_u8_f16(vcvt_f16_f32(LoadFloats(x))));
  }
  Q80ScalarKernels().f16_from_f32(x, count, y);
}

WP_FUNCTION void F16ToF32(const std::uint8_t* x, std::uint64_t count,
                          std::uint8_t* y) {
  for (; count >= 4; count -= 4, x += 8, y += 16) {
    StoreFloats(y, vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(x))));
  }
  Q80ScalarKernels().f16_to_f32(x, count, y);
}

constexpr Q80Kernels kNeon = {"q8_0_neon", MissingForNeon, Quantize, Dequantize,
                              Dot,         PreparedBytes,  Prepare,  Rows,
                              F16FromF32,  F16ToF32};

}  // namespace

const Q80Kernels& Q80NeonKernels() { return kNeon; }

}  // namespace weightproof::impls

#else

namespace weightproof::impls {

const Q80Kernels& Q80NeonKernels() {
  static constexpr Q80Kernels kNone = {
      "q8_0_neon", MissingForNeon, {}, {}, {}, {}, {}, {}, {}, {}};
  return kNone;
}

}  // namespace weightproof::impls

#endif
