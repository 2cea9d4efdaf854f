#include "impls/cpu/gguf_values.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <tuple>

#include "impls/cpu/gguf_view_internal.h"
#include "reference/gguf/rules.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {
namespace gguf_internal {
namespace rules = gguf::rules;
namespace {

constexpr std::uint64_t kWindow = std::uint64_t{4} << 20;
constexpr std::uint64_t kBatch = 512;  // blocks between two looks
constexpr std::uint64_t kNever = UINT64_MAX;

// How the scales of a block are written.
enum class Scale : std::uint8_t { kNone, kF16, kF32, kNibbles, kE8M0, kUe4m3 };

struct Scales {
  Scale kind = Scale::kNone;
  std::uint8_t first = 0;  // byte of the first scale
  std::uint8_t count = 1;  // scales, one after the other
};

Scales ScalesOf(std::uint32_t type) {
  switch (type) {
    case 2:   // Q4_0
    case 6:   // Q5_0
    case 8:   // Q8_0
    case 16:  // IQ2_XXS
    case 17:  // IQ2_XS
    case 18:  // IQ3_XXS
    case 19:  // IQ1_S
    case 20:  // IQ4_NL
    case 21:  // IQ3_S
    case 22:  // IQ2_S
    case 23:  // IQ4_XS
    case 41:  // Q1_0
    case 42:  // Q2_0
      return {Scale::kF16, 0, 1};
    case 3:   // Q4_1
    case 7:   // Q5_1
    case 9:   // Q8_1
    case 12:  // Q4_K
    case 13:  // Q5_K
      return {Scale::kF16, 0, 2};
    case 10:  // Q2_K
      return {Scale::kF16, 80, 2};
    case 11:  // Q3_K
      return {Scale::kF16, 108, 1};
    case 14:  // Q6_K
      return {Scale::kF16, 208, 1};
    case 34:  // TQ1_0
      return {Scale::kF16, 52, 1};
    case 35:  // TQ2_0
      return {Scale::kF16, 64, 1};
    case 143:  // PTQ1_0
      return {Scale::kF16, 26, 1};
    case 15:  // Q8_K
      return {Scale::kF32, 0, 1};
    case 29:  // IQ1_M
      return {Scale::kNibbles, 49, 1};
    case 39:  // MXFP4
      return {Scale::kE8M0, 0, 1};
    case 40:  // NVFP4
      return {Scale::kUe4m3, 0, 4};
    default:
      return {};
  }
}

template <typename T, bool kSwap>
T Load(const std::uint8_t* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  if constexpr (kSwap && sizeof value == 2) return __builtin_bswap16(value);
  if constexpr (kSwap && sizeof value == 4) return __builtin_bswap32(value);
  return value;
}

// The half-precision scale of an IQ1_M block: the high nibbles of its last four
// 16-bit words, lowest first. p is the high byte of the first of them.
std::uint16_t FromNibbles(const std::uint8_t* p) {
  return static_cast<std::uint16_t>(p[0] >> 4 | (p[2] & 0xf0) |
                                    (p[4] & 0xf0) << 4 | (p[6] & 0xf0) << 8);
}

// Whether any of n blocks may hold a scale with no value. One pass without
// branches on the data; p is the first scale of the first block.
template <typename Test>
bool Any(const std::uint8_t* p, std::uint64_t n, std::uint64_t stride,
         Test test) {
  bool any = false;
  for (std::uint64_t i = 0; i < n; ++i, p += stride) any |= test(p);
  return any;
}

template <bool kSwap>
bool Suspicious(const Scales& scales, const std::uint8_t* p, std::uint64_t n,
                std::uint64_t stride) {
  constexpr unsigned kMask = 0x7c00;
  switch (scales.kind) {
    case Scale::kNone:
      return false;
    case Scale::kF16:
      if (scales.count == 1) {
        return Any(p, n, stride, [](const std::uint8_t* at) {
          return (Load<std::uint16_t, kSwap>(at) & kMask) == kMask;
        });
      }
      return Any(p, n, stride, [](const std::uint8_t* at) {
        const bool first = (Load<std::uint16_t, kSwap>(at) & kMask) == kMask;
        const bool last = (Load<std::uint16_t, kSwap>(at + 2) & kMask) == kMask;
        return (first ? 1 : 0) | (last ? 1 : 0);  // no branch between them
      });
    case Scale::kF32:
      return Any(p, n, stride, [](const std::uint8_t* at) {
        return (Load<std::uint32_t, kSwap>(at) & 0x7f800000) == 0x7f800000;
      });
    case Scale::kNibbles:
      return Any(p, n, stride, [](const std::uint8_t* at) {
        return (at[6] & 0x70) == 0x70 && (at[4] & 0xc0) == 0xc0;
      });
    case Scale::kE8M0:
      return Any(p, n, stride,
                 [](const std::uint8_t* at) { return *at == 0xff; });
    case Scale::kUe4m3:
      return Any(p, n, stride, [](const std::uint8_t* at) {
        const auto four = Load<std::uint32_t, false>(at) & 0x7f7f7f7f;
        return ((four + 0x01010101) & 0x80808080) != 0;
      });
  }
  return false;
}

enum class Number : std::uint8_t { kFinite, kInf, kNan };

Number ClassOf16(unsigned bits) {
  if ((bits & 0x7c00) != 0x7c00) return Number::kFinite;
  return (bits & 0x3ff) == 0 ? Number::kInf : Number::kNan;
}

template <bool kSwap>
Number ClassOf(Scale kind, const std::uint8_t* p) {
  std::uint32_t bits = 0;
  switch (kind) {
    case Scale::kF16:
      return ClassOf16(Load<std::uint16_t, kSwap>(p));
    case Scale::kNibbles:
      return ClassOf16(FromNibbles(p));
    case Scale::kF32:
      bits = Load<std::uint32_t, kSwap>(p);
      if ((bits & 0x7f800000) != 0x7f800000) return Number::kFinite;
      return (bits & 0x7fffff) == 0 ? Number::kInf : Number::kNan;
    case Scale::kE8M0:
      return *p == 0xff ? Number::kNan : Number::kFinite;
    case Scale::kUe4m3:
      return (*p & 0x7f) == 0x7f ? Number::kNan : Number::kFinite;
    case Scale::kNone:
      break;
  }
  return Number::kFinite;
}

std::uint64_t WidthOf(Scale kind) {
  if (kind == Scale::kF32) return 4;
  return kind == Scale::kF16 ? 2 : 1;
}

// What is known of a tensor so far.
struct Tally {
  struct Found {
    std::uint64_t block = kNever, offset = kNever, count = 0;
  };
  std::mutex mutex;
  Found nan, inf;
  std::atomic<bool> varies = false;  // some block differs from the first
  std::uint64_t same_as = 0;         // first tensor of these bytes and type
};

void Note(Tally::Found& found, std::uint64_t block, std::uint64_t offset) {
  ++found.count;
  if (offset >= found.offset) return;
  found.block = block;
  found.offset = offset;
}

class Check {
 public:
  Check(const GgufView& view, const GgufDataOptions& options)
      : view_(view), options_(options), tallies_(view.tensors.size()) {
    FindTwins();
  }

  std::vector<GgufDataFinding> Run() {
    unsigned threads = options_.threads;
    if (threads == 0) threads = std::thread::hardware_concurrency();
    std::uint64_t windows = 0;
    for (const GgufTensor& tensor : view_.tensors) {
      windows += tensor.size / kWindow + 1;
    }
    threads = static_cast<unsigned>(
        std::min<std::uint64_t>({std::max(threads, 1u), windows, 256}));
    std::vector<std::thread> others;
    // A small file is not worth a thread, nor is failure to start one an error.
    while (windows > 1 && TotalBytes() > kWindow &&
           others.size() + 1 < threads) {
      others.emplace_back([this] { Work(); });
    }
    Work();
    for (std::thread& other : others) other.join();
    return Findings();
  }

 private:
  struct Window {
    std::uint64_t tensor, begin, size;  // begin: in the tensor
  };

  std::uint64_t TotalBytes() const {
    return view_.prefix.size() -
           std::min<std::uint64_t>(view_.data_start, view_.prefix.size());
  }

  const std::uint8_t* Data(const GgufTensor& tensor) const {
    return view_.prefix.data() + view_.data_start + tensor.offset;
  }

  // A file may name the same bytes a million times: they are looked at once.
  void FindTwins() {
    std::vector<std::uint64_t> order(tallies_.size());
    for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [this](std::uint64_t i) {
      const GgufTensor& tensor = view_.tensors[i];
      return std::tuple(tensor.offset, tensor.size, tensor.type);
    };
    std::ranges::sort(order, [&](std::uint64_t a, std::uint64_t b) {
      return std::tuple(key(a), a) < std::tuple(key(b), b);
    });
    for (std::uint64_t i = 0; i < order.size(); ++i) {
      const bool twin = i > 0 && key(order[i]) == key(order[i - 1]);
      tallies_[order[i]].same_as =
          twin ? tallies_[order[i - 1]].same_as : order[i];
    }
  }

  // The next whole blocks to look at.
  bool Take(Window* window) {
    const std::lock_guard lock(mutex_);
    while (next_.tensor < view_.tensors.size() &&
           (next_.begin >= view_.tensors[next_.tensor].size ||
            tallies_[next_.tensor].same_as != next_.tensor)) {
      ++next_.tensor;
      next_.begin = 0;
    }
    if (next_.tensor >= view_.tensors.size()) return false;
    const GgufTensor& tensor = view_.tensors[next_.tensor];
    const std::uint64_t block = FindTensorType(tensor.type).bytes;
    *window = next_;
    window->size = std::min(tensor.size - next_.begin, kWindow / block * block);
    next_.begin += window->size;
    return true;
  }

  void Work() {
    Window window{};
    while (Take(&window)) {
      const GgufTensor& tensor = view_.tensors[window.tensor];
      const std::span<const std::uint8_t> bytes(Data(tensor) + window.begin,
                                                window.size);
      if (options_.before) options_.before(bytes);
      view_.big_endian ? Look<true>(window, bytes) : Look<false>(window, bytes);
      if (options_.after) options_.after(bytes);
    }
  }

  template <bool kSwap>
  void Look(const Window& window, std::span<const std::uint8_t> bytes) {
    const GgufTensor& tensor = view_.tensors[window.tensor];
    Tally& tally = tallies_[window.tensor];
    const std::uint64_t block = FindTensorType(tensor.type).bytes;
    if (!tally.varies.load(std::memory_order_relaxed) &&
        Varies(Data(tensor), bytes, block)) {
      tally.varies.store(true, std::memory_order_relaxed);
    }
    Scales scales = ScalesOf(tensor.type);
    if (scales.kind == Scale::kNone) return;
    // The high bytes of big-endian words come first.
    if (kSwap && scales.kind == Scale::kNibbles) --scales.first;
    for (std::uint64_t at = 0; at < bytes.size(); at += kBatch * block) {
      const std::uint64_t n = std::min(kBatch, (bytes.size() - at) / block);
      if (!Suspicious<kSwap>(scales, bytes.data() + at + scales.first, n,
                             block)) {
        continue;
      }
      Count<kSwap>(scales, tensor, window.begin + at, n, block, tally);
    }
  }

  // Whether a block of bytes differs from the tensor's first.
  static bool Varies(const std::uint8_t* first,
                     std::span<const std::uint8_t> bytes, std::uint64_t block) {
    return std::memcmp(first, bytes.data(), block) != 0 ||
           std::memcmp(bytes.data(), bytes.data() + block,
                       bytes.size() - block) != 0;
  }

  template <bool kSwap>
  void Count(const Scales& scales, const GgufTensor& tensor,
             std::uint64_t begin, std::uint64_t blocks, std::uint64_t block,
             Tally& tally) {
    const std::lock_guard lock(tally.mutex);
    for (std::uint64_t i = 0; i < blocks; ++i) {
      for (std::uint64_t k = 0; k < scales.count; ++k) {
        const std::uint64_t at =
            begin + i * block + scales.first + k * WidthOf(scales.kind);
        const Number number = ClassOf<kSwap>(scales.kind, Data(tensor) + at);
        if (number == Number::kFinite) continue;
        Note(number == Number::kNan ? tally.nan : tally.inf, at / block,
             view_.data_start + tensor.offset + at);
      }
    }
  }

  std::vector<GgufDataFinding> Findings() const {
    std::vector<GgufDataFinding> out;
    for (std::uint64_t i = 0; i < tallies_.size(); ++i) {
      const GgufTensor& tensor = view_.tensors[i];
      if (tensor.size == 0) continue;
      const Tally& tally = tallies_[tallies_[i].same_as];
      const std::size_t before = out.size();
      const std::uint64_t block = FindTensorType(tensor.type).bytes;
      if (!tally.varies) {
        const std::uint8_t* const data = Data(tensor);
        const bool zero = FirstNonZero(data, 0, block) == block;
        if (zero || tensor.size > block) {
          out.push_back(
              {zero ? rules::kValuesTensorZero : rules::kValuesTensorConstant,
               i, 0, view_.data_start + tensor.offset, 1});
        }
      }
      for (const auto& [rule, found] :
           {std::pair{rules::kValuesScaleNan, &tally.nan},
            std::pair{rules::kValuesScaleInf, &tally.inf}}) {
        if (found->count == 0) continue;
        out.push_back({rule, i, found->block, found->offset, found->count});
      }
      // At most three, in an order that offsets alone do not give.
      const auto first = out.begin() + static_cast<std::ptrdiff_t>(before);
      for (auto it = first; it != out.end(); ++it) {
        std::rotate(std::upper_bound(first, it, *it,
                                     [](const auto& a, const auto& b) {
                                       return a.offset < b.offset;
                                     }),
                    it, it + 1);
      }
    }
    return out;
  }

  const GgufView& view_;
  const GgufDataOptions& options_;
  std::vector<Tally> tallies_;
  std::mutex mutex_;
  Window next_{};
};

}  // namespace
}  // namespace gguf_internal

std::vector<GgufDataFinding> CheckGgufValues(const GgufView& view,
                                             const GgufDataOptions& options) {
  return gguf_internal::Check(view, options).Run();
}

}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls
