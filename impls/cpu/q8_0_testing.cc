#include "impls/cpu/q8_0_testing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "impls/cpu/q8_0.h"
#include "impls/reference_ops.h"

namespace weightproof::impls {

namespace {
constexpr std::uint8_t kPoison = 0xa5;
}  // namespace

Guarded::Guarded(std::size_t size, Side side) : size_(size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t inner = (size + page - 1) / page * page;
  map_size_ = inner + 2 * page;
  map_ =
      mmap(nullptr, map_size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map_ == MAP_FAILED) std::abort();
  auto* first = static_cast<std::uint8_t*>(map_) + page;
  if (inner > 0 && mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) {
    std::abort();
  }
  if (inner > 0) std::memset(first, kPoison, inner);
  data_ = side == Side::kEnd ? first + inner - size : first;
}

Guarded::Guarded(std::span<const std::uint8_t> content, Side side)
    : Guarded(content.size(), side) {
  std::copy(content.begin(), content.end(), data_);
}

Guarded::~Guarded() { munmap(map_, map_size_); }

Poisoned::Poisoned(std::size_t size)
    : size_(size), bytes_(size + 2 * kMargin, kPoison) {}

Image Poisoned::Content() const {
  const auto first = bytes_.begin() + static_cast<long>(kMargin);
  return {first, first + static_cast<long>(size_)};
}

bool Poisoned::MarginsIntact() const {
  const auto poison = [](std::uint8_t byte) { return byte == kPoison; };
  return std::all_of(bytes_.begin(), bytes_.begin() + long{kMargin}, poison) &&
         std::all_of(bytes_.end() - long{kMargin}, bytes_.end(), poison);
}

bool Poisoned::Untouched() const {
  return std::all_of(bytes_.begin(), bytes_.end(),
                     [](std::uint8_t byte) { return byte == kPoison; });
}

std::uint64_t TestSeed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("WEIGHTPROOF_SEED");
    const std::uint64_t value = given != nullptr
                                    ? std::strtoull(given, nullptr, 10)
                                    : std::random_device{}();
    std::printf("seed: WEIGHTPROOF_SEED=%llu\n",
                static_cast<unsigned long long>(value));
    return value;
  }();
  return seed;
}

namespace {

float FloatOf(std::uint32_t sign, std::uint32_t exponent,
              std::uint32_t mantissa) {
  return std::bit_cast<float>(sign << 31 | exponent << 23 |
                              (mantissa & 0x7fffff));
}

// Element i of a block of a kind; first and second are drawn per block.
float Element(int kind, int i, std::uint32_t r, std::uint32_t exponent) {
  const float half = static_cast<float>(static_cast<int>(r % 509) - 254) / 2;
  switch (kind) {
    case 0:
      return 0.0f;
    case 1:
      return (i & 1) != 0 ? -0.0f : 0.0f;
    case 2:
      return i == 0 ? 127.0f : half;  // ties
    case 3:
      return static_cast<float>(i - 16);
    case 4:
      return (i & 1) != 0 ? 1.0f : -1.0f;
    case 5:
      return FloatOf(r & 1, 118 + (r >> 1) % 10, r >> 9 & 0x7f0000);  // bf16
    case 6:
      return FloatOf(r & 1, 100 + (r >> 1) % 30, r >> 9);
    case 7:  // about the smallest finite reciprocal and subnormal d
      return FloatOf(r & 1, (r >> 1) % 8, r >> 9);
    case 8:  // one magnitude, anywhere
      return FloatOf(r & 1, exponent + (r >> 1) % 4, r >> 9);
    case 9:  // scales about the smallest half
      return FloatOf(r & 1, 107 + (r >> 1) % 4, r >> 9);
    case 10:  // one element alone
      return i == static_cast<int>(exponent % 32) ? FloatOf(r & 1, exponent, r)
                                                  : 0.0f;
    case 11:  // runs
      return FloatOf(static_cast<std::uint32_t>(i / 5 & 1),
                     100 + (exponent + static_cast<std::uint32_t>(i) / 7) % 30,
                     0);
    case 12:  // extremes, never far apart
      return FloatOf(r & 1, (r >> 1 & 1) != 0 ? 254 : 253,
                     r >> 2 & 1 ? ~0u : 0);
    case 13:
      return 1.0f;
    default:  // any finite bits
      return FloatOf(r & 1, (r >> 1) % 255, r >> 9);
  }
}

std::uint16_t ScaleOf(int kind, std::uint32_t r) {
  switch (kind) {
    case 0:
      return 0;
    case 1:
      return 0x3c00;
    case 5:
      return static_cast<std::uint16_t>(r % 0x400);  // subnormal
    case 6:
      return static_cast<std::uint16_t>((r % 0x7c00) | (r >> 16 & 0x8000));
    case 7:
      return static_cast<std::uint16_t>(r);  // infinities and NaN too
    default:
      return static_cast<std::uint16_t>(0x2800 + r % 0x1400);
  }
}

std::uint8_t CodeOf(int kind, int i, std::uint32_t r) {
  switch (kind) {
    case 1:
      return 0x80;
    case 2:
      return (i & 1) != 0 ? 0x80 : 0x7f;
    case 3:
      return static_cast<std::uint8_t>(i % 3 == 0 ? 0x81 : 0xff);
    case 8:
      return 0xff;
    case 9:
      return static_cast<std::uint8_t>(i / 6 % 2 != 0 ? 0x7f : 0x81);
    default:
      return static_cast<std::uint8_t>(r);
  }
}

}  // namespace

Image FloatBlocks(int kind, std::uint64_t blocks, std::mt19937_64& random) {
  Image image(128 * blocks);
  for (std::uint64_t b = 0; b < blocks; ++b) {
    const std::uint32_t exponent =
        1 + static_cast<std::uint32_t>(random() % 250);
    for (int i = 0; i < 32; ++i) {
      const float value =
          Element(kind, i, static_cast<std::uint32_t>(random()), exponent);
      std::memcpy(image.data() + 128 * b + 4 * static_cast<std::size_t>(i),
                  &value, 4);
    }
  }
  return image;
}

Image Q80Blocks(int kind, std::uint64_t blocks, std::mt19937_64& random) {
  Image image(34 * blocks);
  for (std::uint64_t b = 0; b < blocks; ++b) {
    const std::uint16_t d = ScaleOf(kind, static_cast<std::uint32_t>(random()));
    std::memcpy(image.data() + 34 * b, &d, 2);
    for (int i = 0; i < 32; ++i) {
      image[34 * b + 2 + static_cast<std::size_t>(i)] =
          CodeOf(kind, i, static_cast<std::uint32_t>(random()));
    }
  }
  return image;
}

wp_answer Fresh() {
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  return answer;
}

std::vector<const wp_implementation*> NumericImplementations() {
  return {Q80ScalarImplementation(), Q80Avx2Implementation(),
          Q80Avx512Implementation(), Q80NeonImplementation()};
}

const wp_implementation& NumericReference() {
  static const wp_implementation reference = [] {
    wp_implementation table{};
    table.name = "reference";
    table.q8_0_quantize = ReferenceQ80Quantize;
    table.q8_1_quantize = ReferenceQ81Quantize;
    table.q8_0_dequantize = ReferenceQ80Dequantize;
    table.q8_0_dot = ReferenceQ80Dot;
    table.q8_0_matvec = ReferenceQ80Matvec;
    table.q8_0_validate = ReferenceQ80Validate;
    table.q8_1_validate = ReferenceQ81Validate;
    table.f16_from_f32 = ReferenceF16FromF32;
    table.f16_to_f32 = ReferenceF16ToF32;
    return table;
  }();
  return reference;
}

}  // namespace weightproof::impls
