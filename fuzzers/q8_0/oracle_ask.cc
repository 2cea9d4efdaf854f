// One implementation's answer, its outputs poisoned twice.
#include <algorithm>
#include <cstring>
#include <new>

#include "fuzzers/q8_0/oracle.h"
#include "reference/q8_0/blocks.h"

namespace weightproof::fuzzers {
namespace {

constexpr std::size_t kMargin = 64;

// Bytes at an address that is skew above a multiple of 64; the allocation ends
// where they end, so that a sanitizer sees a read past them.
class Placed {
 public:
  Placed(ByteSpan bytes, std::uint8_t skew)
      : skew_(skew),
        memory_(static_cast<std::uint8_t*>(
            ::operator new(bytes.size() + skew, kAligned))) {
    std::ranges::copy(bytes, data());
  }
  ~Placed() { ::operator delete(memory_, kAligned); }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;
  std::uint8_t* data() { return memory_ + skew_; }

 private:
  static constexpr std::align_val_t kAligned{64};
  std::uint8_t skew_;
  std::uint8_t* memory_;
};

// An output with poison before, in and after it.
class Output {
 public:
  Output(std::size_t size, std::uint8_t skew, std::uint8_t poison)
      : size_(size),
        begin_(kMargin + skew),
        poison_(poison),
        memory_(size + 2 * kMargin + skew, poison) {}
  std::uint8_t* data() { return memory_.data() + begin_; }
  Bytes Content() const {
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return Bytes(begin, begin + static_cast<std::ptrdiff_t>(size_));
  }
  bool MarginsIntact() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const bool inside = i >= begin_ && i < begin_ + size_;
      if (!inside && memory_[i] != poison_) return false;
    }
    return true;
  }

 private:
  std::size_t size_, begin_;
  std::uint8_t poison_;
  Bytes memory_;
};

std::size_t OutputBytes(const Q80Case& input) {
  const std::uint64_t blocks = input.n / 32 * input.rows;
  switch (input.operation) {
    case Q80Operation::kQuantize:
      return blocks * q8_0::kQ80Bytes;
    case Q80Operation::kQuantizeQ81:
      return blocks * 36;
    case Q80Operation::kDequantize:
      return blocks * 128;
    case Q80Operation::kDot:
      return 4;
    case Q80Operation::kMatvecBlocks:
    case Q80Operation::kMatvecFloats:
      return 4 * input.rows * input.cols;
    case Q80Operation::kFromF32:
      return 2 * input.n;
    case Q80Operation::kToF32:
      return 4 * input.n;
    default:
      return 0;
  }
}

template <typename T>
T* As(std::uint8_t* bytes) {
  return reinterpret_cast<T*>(bytes);
}

// One call. False if the table has no such operation.
bool Call(const wp_implementation& to, const char* variant,
          const Q80Case& input, std::uint8_t* w, std::uint8_t* x,
          std::uint8_t* y, std::int32_t* isum, wp_answer* answer) {
  const std::uint64_t n = input.n, rows = input.rows, cols = input.cols;
  const wp_slice slice = {x, input.x.size()};
  switch (input.operation) {
    case Q80Operation::kQuantize:
      if (to.q8_0_quantize == nullptr) return false;
      to.q8_0_quantize(variant, As<float>(x), n, rows, y, answer);
      return true;
    case Q80Operation::kQuantizeQ81:
      if (to.q8_1_quantize == nullptr) return false;
      to.q8_1_quantize(variant, As<float>(x), n, rows, y, answer);
      return true;
    case Q80Operation::kDequantize:
      if (to.q8_0_dequantize == nullptr) return false;
      to.q8_0_dequantize(variant, x, n, rows, As<float>(y), answer);
      return true;
    case Q80Operation::kDot:
      if (to.q8_0_dot == nullptr) return false;
      to.q8_0_dot(variant, w, x, n, As<float>(y), isum, answer);
      return true;
    case Q80Operation::kMatvecBlocks:
    case Q80Operation::kMatvecFloats: {
      if (to.q8_0_matvec == nullptr) return false;
      const bool floats = input.operation == Q80Operation::kMatvecFloats;
      to.q8_0_matvec(variant, w, floats ? nullptr : x,
                     floats ? As<float>(x) : nullptr, n, rows, cols,
                     input.threads, As<float>(y), answer);
      return true;
    }
    case Q80Operation::kValidate:
      if (to.q8_0_validate == nullptr) return false;
      to.q8_0_validate(slice, n, rows, answer);
      return true;
    case Q80Operation::kValidateQ81:
      if (to.q8_1_validate == nullptr) return false;
      to.q8_1_validate(slice, n, rows, answer);
      return true;
    case Q80Operation::kFromF32:
      if (to.f16_from_f32 == nullptr) return false;
      to.f16_from_f32(variant, As<float>(x), n, As<std::uint16_t>(y), answer);
      return true;
    case Q80Operation::kToF32:
      if (to.f16_to_f32 == nullptr) return false;
      to.f16_to_f32(variant, As<std::uint16_t>(x), n, As<float>(y), answer);
      return true;
  }
  return false;
}

Q80Answer AskOnce(const wp_implementation& to, const char* variant,
                  const Q80Case& input, std::uint8_t poison) {
  Q80Answer out;
  out.answer.offset = WP_NO_OFFSET;
  Placed w(input.w, input.w_skew), x(input.x, input.x_skew);
  Output y(OutputBytes(input), input.y_skew, poison);
  const bool dot = input.operation == Q80Operation::kDot;
  Output isum(dot ? input.n / 32 * 4 : 0, 0, poison);
  out.offered =
      Call(to, variant, input, w.data(), x.data(), y.data(),
           dot ? As<std::int32_t>(isum.data()) : nullptr, &out.answer) &&
      out.answer.status == WP_STATUS_OK;
  if (!y.MarginsIntact() || !isum.MarginsIntact()) {
    out.violation = "wrote outside its output";
  }
  out.y = y.Content();
  if (dot && out.answer.row != -1) {
    const Bytes bytes = isum.Content();
    out.isum.resize(bytes.size() / 4);
    if (!bytes.empty()) {
      std::memcpy(out.isum.data(), bytes.data(), bytes.size());
    }
  }
  return out;
}

}  // namespace

Q80Answer AskQ80(const wp_implementation& implementation, const char* variant,
                 const Q80Case& input) {
  Q80Answer first = AskOnce(implementation, variant, input, 0xa5);
  if (!first.offered || !first.violation.empty()) return first;
  const Q80Answer second = AskOnce(implementation, variant, input, 0x5a);
  if (!second.violation.empty()) {
    first.violation = second.violation;
  } else if (first.answer.verdict != second.answer.verdict) {
    first.violation = "another answer when asked again";
  } else if (first.answer.verdict == WP_ACCEPT && first.y != second.y) {
    first.violation = "left part of its output unwritten";
  }
  return first;
}

}  // namespace weightproof::fuzzers
