// Answers the calls on its standard input by the NEON kernels. Ends with its
// input; aborts when a kernel writes beside its output.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "impls/cpu/q8_0.h"
#include "impls/emulated/wire.h"

namespace weightproof::impls::emulated {
namespace {

constexpr std::size_t kMargin = 64;
constexpr std::uint8_t kPoison = 0xa5;

// A buffer at an address of a given skew, with margins that nobody may touch.
class Placed {
 public:
  Placed(std::size_t size, std::uint32_t skew)
      : size_(size), memory_(size + 3 * kMargin + skew, kPoison) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    begin_ = kMargin + (64 - address % 64) % 64 + skew;
  }
  std::uint8_t* data() { return memory_.data() + begin_; }
  std::size_t size() const { return size_; }
  bool MarginsIntact() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const bool inside = i >= begin_ && i < begin_ + size_;
      if (!inside && memory_[i] != kPoison) return false;
    }
    return true;
  }

 private:
  std::size_t size_, begin_ = 0;
  std::vector<std::uint8_t> memory_;
};

template <typename T>
T* As(Placed& buffer) {
  return reinterpret_cast<T*>(buffer.data());
}

void Answer(const Call& call, std::array<Placed, kBuffers>& b,
            wp_answer* answer) {
  const wp_implementation& to = *Q80NeonImplementation();
  const std::uint64_t n = call.n, rows = call.rows;
  const wp_slice slice = {b[kX].data(), b[kX].size()};
  switch (call.operation) {
    case kQuantize:
      return to.q8_0_quantize(nullptr, As<float>(b[kX]), n, rows, b[kY].data(),
                              answer);
    case kQuantizeQ81:
      return to.q8_1_quantize(nullptr, As<float>(b[kX]), n, rows, b[kY].data(),
                              answer);
    case kDequantize:
      return to.q8_0_dequantize(nullptr, b[kX].data(), n, rows,
                                As<float>(b[kY]), answer);
    case kDot:
      return to.q8_0_dot(
          nullptr, b[kW].data(), b[kX].data(), n, As<float>(b[kY]),
          call.has_isum != 0 ? As<std::int32_t>(b[kIsum]) : nullptr, answer);
    case kMatvecBlocks:
    case kMatvecFloats: {
      const bool floats = call.operation == kMatvecFloats;
      return to.q8_0_matvec(nullptr, b[kW].data(),
                            floats ? nullptr : b[kX].data(),
                            floats ? As<float>(b[kX]) : nullptr, n, rows,
                            call.cols, call.threads, As<float>(b[kY]), answer);
    }
    case kValidate:
      return to.q8_0_validate(slice, n, rows, answer);
    case kValidateQ81:
      return to.q8_1_validate(slice, n, rows, answer);
    case kFromF32:
      return to.f16_from_f32(nullptr, As<float>(b[kX]), n,
                             As<std::uint16_t>(b[kY]), answer);
    default:
      return to.f16_to_f32(nullptr, As<std::uint16_t>(b[kX]), n,
                           As<float>(b[kY]), answer);
  }
}

bool ServeOne() {
  Call call;
  if (!Read(STDIN_FILENO, &call, sizeof call)) return false;
  std::array<Placed, kBuffers> buffers = {
      Placed(call.size[kW], call.skew[kW]),
      Placed(call.size[kX], call.skew[kX]),
      Placed(call.size[kY], call.skew[kY]),
      Placed(call.size[kIsum], call.skew[kIsum])};
  for (Placed& buffer : buffers) {
    if (!Read(STDIN_FILENO, buffer.data(), buffer.size())) return false;
  }
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  Answer(call, buffers, &answer);
  for (const Placed& buffer : buffers) {
    if (!buffer.MarginsIntact()) std::abort();
  }
  Reply reply{};
  reply.status = answer.status;
  reply.verdict = answer.verdict;
  reply.offset = answer.offset;
  reply.row = answer.row;
  if (answer.rule != nullptr) {
    std::strncpy(reply.rule, answer.rule, sizeof reply.rule - 1);
  }
  std::memcpy(reply.detail, answer.detail, sizeof reply.detail);
  return Write(STDOUT_FILENO, &reply, sizeof reply) &&
         Write(STDOUT_FILENO, buffers[kY].data(), buffers[kY].size()) &&
         Write(STDOUT_FILENO, buffers[kIsum].data(), buffers[kIsum].size());
}

}  // namespace
}  // namespace weightproof::impls::emulated

int main() {
  while (weightproof::impls::emulated::ServeOne()) {
  }
}
