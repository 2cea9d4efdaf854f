// Test support: a call under guard, as assembler code needs it. What a
// compiler cannot get wrong, hand-written and foreign code can: registers that
// belong to the caller, the floating-point environment, the direction flag,
// accesses outside the buffers.
#ifndef WEIGHTPROOF_IMPLS_CPU_CHECKED_CALL_H_
#define WEIGHTPROOF_IMPLS_CPU_CHECKED_CALL_H_

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

namespace weightproof::impls {

// Arguments that are integers or pointers, as the C ABIs of x86-64 and AArch64
// pass them: a word each, structures of two words as two.
using CallWords = std::array<std::uint64_t, 12>;

struct CallResult {
  std::uint64_t integer = 0;  // rax, x0
  float real = 0;             // xmm0, s0
  // What went wrong: "clobbered rbx", "left MXCSR 9fc0, was 1f80", "fault at
  // 0x7f.. (byte 34 of y)"; empty if nothing. After a fault the other members
  // mean nothing.
  std::string problem;
};

// Keeps the handlers of faults over many calls, which spares time.
class FaultScope {
 public:
  FaultScope();
  ~FaultScope();
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;
};

// Calls function with all callee-saved registers set to known values. On other
// processors than x86-64 and AArch64 only the environment and faults are
// checked, and the problem says so.
CallResult CallChecked(void (*function)(), const CallWords& words);

template <typename T>
std::uint64_t WordOf(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uintptr_t>(value);
  } else {
    static_assert(std::is_integral_v<T>);
    return static_cast<std::uint64_t>(value);
  }
}

template <typename Result, typename... Parameters, typename... Arguments>
CallResult CallChecked(Result (*function)(Parameters...),
                       Arguments... arguments) {
  static_assert(sizeof...(Arguments) <= std::tuple_size_v<CallWords>);
  return CallChecked(reinterpret_cast<void (*)()>(function),
                     CallWords{WordOf(arguments)...});
}

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_CHECKED_CALL_H_
