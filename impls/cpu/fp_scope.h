// The floating-point environment that the numeric contract asks for, for as
// long as a scope lasts: nearest even, no flushing, no traps. A caller, or a
// library that a caller loaded, may have set another one.
#ifndef WEIGHTPROOF_IMPLS_CPU_FP_SCOPE_H_
#define WEIGHTPROOF_IMPLS_CPU_FP_SCOPE_H_

#include <cstdint>

namespace weightproof::impls {

class FpScope {
 public:
  FpScope() : saved_(Read()) {
    if (foreign()) Write(kContract);
  }
  ~FpScope() {
    if (foreign()) Write(saved_);
  }
  FpScope(const FpScope&) = delete;
  FpScope& operator=(const FpScope&) = delete;

  // Whether the caller's environment was another one.
  bool foreign() const { return (saved_ & kMatters) != (kContract & kMatters); }

 private:
#if defined(__x86_64__)
  // MXCSR: flush to zero, rounding control, exception masks, denormals are
  // zero. Kernels never use the x87 unit.
  static constexpr std::uint64_t kMatters = 0xffc0;
  static constexpr std::uint64_t kContract = 0x1f80;
  static std::uint64_t Read() { return __builtin_ia32_stmxcsr(); }
  static void Write(std::uint64_t word) {
    __builtin_ia32_ldmxcsr(static_cast<unsigned>(word));
  }
#elif defined(__aarch64__)
  // FPCR: everything that changes results; traps.
  static constexpr std::uint64_t kMatters = 0x07ff9f07;
  static constexpr std::uint64_t kContract = 0;
  static std::uint64_t Read() {
    std::uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void Write(std::uint64_t word) {
    __asm__ volatile("msr fpcr, %0" : : "r"(word) : "memory");
  }
#else
  static constexpr std::uint64_t kMatters = 0, kContract = 0;
  static std::uint64_t Read() { return 0; }
  static void Write(std::uint64_t) {}
#endif

  const std::uint64_t saved_;
};

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_FP_SCOPE_H_
