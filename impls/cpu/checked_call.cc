#include "impls/cpu/checked_call.h"

#include <setjmp.h>
#include <signal.h>

#include <cstdio>
#include <cstring>
#include <iterator>

#include "reference/q8_0/environment.h"

extern "C" {

// What the trampoline reports; the code below knows the offsets.
struct wp_call_report {
  std::uint64_t integer;
  float real;
  std::uint32_t padding;
  std::uint64_t clobbered;  // bit i: register i of kRegisters
};

void wp_checked_call(void (*function)(), const std::uint64_t* words,
                     wp_call_report* report);

}  // extern "C"

namespace {

#if defined(__x86_64__)
constexpr const char* kRegisters[] = {"rbx", "rbp", "r12",           "r13",
                                      "r14", "r15", "direction flag"};

// Six words in registers, six on the stack (at an aligned address). The
// registers that a callee must keep hold 0x5a00000000000000 + number.
__asm__(R"(
  .text
  .p2align 4
  .globl wp_checked_call
  .hidden wp_checked_call
  .type wp_checked_call, @function
wp_checked_call:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  push %rdx
  sub $48, %rsp
  .irp at, 0, 8, 16, 24, 32, 40
  mov 48+\at(%rsi), %rax
  mov %rax, \at(%rsp)
  .endr
  mov %rdi, %rax
  mov %rsi, %r10
  mov (%r10), %rdi
  mov 8(%r10), %rsi
  mov 16(%r10), %rdx
  mov 24(%r10), %rcx
  mov 32(%r10), %r8
  mov 40(%r10), %r9
  movabs $0x5a00000000000000, %rbx
  lea 1(%rbx), %rbp
  lea 2(%rbx), %r12
  lea 3(%rbx), %r13
  lea 4(%rbx), %r14
  lea 5(%rbx), %r15
  call *%rax
  mov 48(%rsp), %r10
  mov %rax, (%r10)
  movss %xmm0, 8(%r10)
  xor %ecx, %ecx
  movabs $0x5a00000000000000, %rdx
  .set bit, 1
  .irp register, rbx, rbp, r12, r13, r14, r15
  cmp %rdx, %\register
  je 1f
  or $bit, %ecx
1:
  inc %rdx
  .set bit, bit * 2
  .endr
  pushfq
  pop %rdx
  test $0x400, %edx
  je 1f
  or $bit, %ecx
  cld
1:
  mov %rcx, 16(%r10)
  add $56, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
  .size wp_checked_call, .-wp_checked_call
)");
#elif defined(__aarch64__)
constexpr const char* kRegisters[] = {"x19", "x20", "x21", "x22", "x23", "x24",
                                      "x25", "x26", "x27", "x28", "d8",  "d9",
                                      "d10", "d11", "d12", "d13", "d14", "d15"};

// Eight words in registers, four on the stack. The registers that a callee
// must keep hold 0x5a00000000000000 + number; of vector registers that is the
// low half.
__asm__(R"(
  .text
  .p2align 4
  .globl wp_checked_call
  .hidden wp_checked_call
  .type wp_checked_call, %function
wp_checked_call:
  stp x29, x30, [sp, #-176]!
  mov x29, sp
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  str x2, [sp, #160]
  mov x9, x0
  mov x10, x1
  sub sp, sp, #32
  ldp x11, x12, [x10, #64]
  stp x11, x12, [sp]
  ldp x11, x12, [x10, #80]
  stp x11, x12, [sp, #16]
  mov x11, #0x5a00000000000000
  .irp register, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
  mov x\register, x11
  add x11, x11, #1
  .endr
  .irp register, 8, 9, 10, 11, 12, 13, 14, 15
  fmov d\register, x11
  add x11, x11, #1
  .endr
  ldp x0, x1, [x10]
  ldp x2, x3, [x10, #16]
  ldp x4, x5, [x10, #32]
  ldp x6, x7, [x10, #48]
  blr x9
  add sp, sp, #32
  ldr x10, [sp, #160]
  str x0, [x10]
  str s0, [x10, #8]
  mov x11, #0x5a00000000000000
  mov x12, #0
  .set bit, 0
  .irp register, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
  cmp x\register, x11
  cset x13, ne
  orr x12, x12, x13, lsl #bit
  add x11, x11, #1
  .set bit, bit + 1
  .endr
  .irp register, 8, 9, 10, 11, 12, 13, 14, 15
  fmov x14, d\register
  cmp x14, x11
  cset x13, ne
  orr x12, x12, x13, lsl #bit
  add x11, x11, #1
  .set bit, bit + 1
  .endr
  str x12, [x10, #16]
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #176
  ret
  .size wp_checked_call, .-wp_checked_call
)");
#else
#error "no trampoline for this processor"
#endif

thread_local sigjmp_buf g_jump;
thread_local void* g_address;

extern "C" void OnFault(int, siginfo_t* info, void*) {
  g_address = info->si_addr;
  siglongjmp(g_jump, 1);
}

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL};
struct sigaction g_saved[std::size(kSignals)];
int g_scopes = 0;

// Everything that a function must leave as it was.
struct Environment {
  std::uint64_t control = 0;  // MXCSR without its sticky flags, FPCR
  std::uint32_t x87 = 0;      // control word and, above it, tags

  static Environment Now() {
    Environment now;
    now.control = weightproof::q8_0::FpControlWord().value_or(0);
#if defined(__x86_64__)
    now.control &= ~0x3full;
    struct {
      std::uint16_t words[14];
    } state;
    // Storing the state masks exceptions; loading it undoes that.
    __asm__ volatile("fnstenv %0\n\tfldenv %0" : "+m"(state));
    now.x87 = state.words[0] | std::uint32_t{state.words[4]} << 16;
#endif
    return now;
  }
  bool operator==(const Environment&) const = default;
};

std::string Hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "%llx",
                static_cast<unsigned long long>(value));
  return text;
}

std::string Clobbered(std::uint64_t mask) {
  std::string text;
  for (std::size_t i = 0; i < std::size(kRegisters); ++i) {
    if ((mask >> i & 1) == 0) continue;
    text += (text.empty() ? "clobbered " : ", ") + std::string(kRegisters[i]);
  }
  return text;
}

}  // namespace

namespace weightproof::impls {

FaultScope::FaultScope() {
  if (g_scopes++ > 0) return;
  struct sigaction action = {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &action, &g_saved[i]);
  }
}

FaultScope::~FaultScope() {
  if (--g_scopes > 0) return;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &g_saved[i], nullptr);
  }
}

CallResult CallChecked(void (*function)(), const CallWords& words) {
  CallResult result;
  const FaultScope faults;
  const q8_0::FpGuard guard;  // restores, whatever happens
  const Environment before = Environment::Now();
  wp_call_report report = {};
  if (sigsetjmp(g_jump, 0) != 0) {
    result.problem =
        "fault at " + Hex(reinterpret_cast<std::uintptr_t>(g_address));
    return result;
  }
  wp_checked_call(function, words.data(), &report);
  const Environment after = Environment::Now();
  result.integer = report.integer;
  result.real = report.real;
  result.problem = Clobbered(report.clobbered);
  if (result.problem.empty() && before.control != after.control) {
    result.problem = "left the control word " + Hex(after.control) + ", was " +
                     Hex(before.control);
  }
  if (result.problem.empty() && before.x87 != after.x87) {
    result.problem =
        "left the x87 state " + Hex(after.x87) + ", was " + Hex(before.x87);
  }
  return result;
}

}  // namespace weightproof::impls
