#include "impls/emulated/emulated.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "impls/emulated/wire.h"
#include "impls/registry.h"
#include "reference/rule.h"

namespace weightproof::impls {
namespace {

using namespace emulated;

// More cannot be meant: whoever is asked refuses before reading.
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;

struct Child {
  EmulatedProgram program;
  int fd = -1;
  pid_t owner = 0;  // the process whose child it is
};

[[noreturn]] void RunEmulator(const Child& child, int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(fd, STDIN_FILENO);
  dup2(fd, STDOUT_FILENO);
  rlimit space{};
  getrlimit(RLIMIT_AS, &space);
  space.rlim_cur = space.rlim_max;  // of the emulator, not of what it runs
  setrlimit(RLIMIT_AS, &space);
  execl(child.program.emulator.c_str(), child.program.emulator.c_str(),
        child.program.program.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

[[noreturn]] void Die(const Child& child) {
  std::fprintf(stderr, "%s %s: no answer\n", child.program.emulator.c_str(),
               child.program.program.c_str());
  std::abort();
}

void Start(Child& child) {
  if (child.fd >= 0 && child.owner == getpid()) return;
  if (child.fd >= 0) close(child.fd);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) Die(child);
  const pid_t pid = fork();
  if (pid == 0) RunEmulator(child, ends[1]);
  close(ends[1]);
  if (pid < 0) Die(child);
  child.fd = ends[0];
  child.owner = getpid();
}

struct Buffers {
  const void* data[kBuffers] = {};
  std::uint64_t size[kBuffers] = {};
};

std::uint64_t Product(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t out = 0;
  const bool wraps = __builtin_mul_overflow(a, b, &out) ||
                     __builtin_mul_overflow(out, c, &out);
  return wraps || out > kMostBytes ? 0 : out;
}

void Ask(Child& child, Call call, const Buffers& buffers, wp_answer* answer) {
  std::signal(SIGPIPE, SIG_IGN);
  Start(child);
  for (std::uint32_t i = 0; i < kBuffers; ++i) {
    call.size[i] = buffers.size[i];
    call.skew[i] = reinterpret_cast<std::uintptr_t>(buffers.data[i]) % 64;
  }
  call.has_isum = buffers.data[kIsum] != nullptr;
  bool ok = Write(child.fd, &call, sizeof call);
  for (std::uint32_t i = 0; i < kBuffers; ++i) {
    ok = ok && Write(child.fd, buffers.data[i], call.size[i]);
  }
  Reply reply{};
  ok = ok && Read(child.fd, &reply, sizeof reply);
  for (const Buffer out : {kY, kIsum}) {
    ok = ok && Read(child.fd, const_cast<void*>(buffers.data[out]),
                    buffers.size[out]);
  }
  if (!ok) Die(child);
  answer->status = reply.status;
  answer->verdict = reply.verdict;
  answer->offset = reply.offset;
  answer->row = reply.row;
  reply.rule[sizeof reply.rule - 1] = '\0';
  const auto rule = FindRule(reply.rule);
  answer->rule = rule ? Rules()[*rule].id.data() : nullptr;
  std::memcpy(answer->detail, reply.detail, sizeof answer->detail);
}

// The functions of a table have no context: a child for each.
template <EmulatedTable kTable>
struct Table {
  static inline Child child;

  static bool Ready(const char* variant, wp_answer* answer) {
    if (variant == nullptr) return true;
    answer->status = WP_STATUS_NOT_IMPLEMENTED;
    return false;
  }

  // Rows of blocks or floats in, rows of blocks or floats out.
  static void Rows(Operation operation, const char* variant, const void* x,
                   std::uint64_t x_bytes, std::uint64_t n, std::uint64_t rows,
                   void* y, std::uint64_t y_bytes, wp_answer* answer) {
    if (!Ready(variant, answer)) return;
    Buffers buffers;
    buffers.data[kX] = x, buffers.size[kX] = x_bytes;
    buffers.data[kY] = y, buffers.size[kY] = y_bytes;
    Ask(child, {operation, 1, n, rows, 1, {}, {}, 0}, buffers, answer);
  }

  static void Quantize(const char* variant, const float* x, uint64_t n,
                       uint64_t rows, uint8_t* y, wp_answer* answer) {
    Rows(kQuantize, variant, x, Product(n, rows, 4), n, rows, y,
         Product(n / 32, rows, 34), answer);
  }
  static void QuantizeQ81(const char* variant, const float* x, uint64_t n,
                          uint64_t rows, uint8_t* y, wp_answer* answer) {
    Rows(kQuantizeQ81, variant, x, Product(n, rows, 4), n, rows, y,
         Product(n / 32, rows, 36), answer);
  }
  static void Dequantize(const char* variant, const uint8_t* x, uint64_t n,
                         uint64_t rows, float* y, wp_answer* answer) {
    Rows(kDequantize, variant, x, Product(n / 32, rows, 34), n, rows, y,
         Product(n / 32, rows, 128), answer);
  }
  static void FromF32(const char* variant, const float* x, uint64_t count,
                      uint16_t* y, wp_answer* answer) {
    Rows(kFromF32, variant, x, Product(count, 1, 4), count, 1, y,
         Product(count, 1, 2), answer);
  }
  static void ToF32(const char* variant, const uint16_t* x, uint64_t count,
                    float* y, wp_answer* answer) {
    Rows(kToF32, variant, x, Product(count, 1, 2), count, 1, y,
         Product(count, 1, 4), answer);
  }
  static void Validate(wp_slice x, uint64_t n, uint64_t rows,
                       wp_answer* answer) {
    Rows(kValidate, nullptr, x.data, x.size, n, rows, nullptr, 0, answer);
  }
  static void ValidateQ81(wp_slice x, uint64_t n, uint64_t rows,
                          wp_answer* answer) {
    Rows(kValidateQ81, nullptr, x.data, x.size, n, rows, nullptr, 0, answer);
  }

  static void Dot(const char* variant, const uint8_t* w, const uint8_t* x,
                  uint64_t n, float* y, int32_t* isum, wp_answer* answer) {
    if (!Ready(variant, answer)) return;
    const std::uint64_t bytes = Product(n / 32, 1, 34);
    Buffers buffers = {
        {w, x, y, isum},
        {bytes, bytes, 4, isum != nullptr ? Product(n / 32, 1, 4) : 0}};
    Ask(child, {kDot, 1, n, 1, 1, {}, {}, 0}, buffers, answer);
  }
  static void Matvec(const char* variant, const uint8_t* w,
                     const uint8_t* x_blocks, const float* x_f32, uint64_t n,
                     uint64_t rows, uint64_t cols, uint32_t threads, float* y,
                     wp_answer* answer) {
    if (!Ready(variant, answer)) return;
    const bool floats = x_f32 != nullptr;
    const Buffers buffers = {
        {w, floats ? static_cast<const void*>(x_f32) : x_blocks, y, nullptr},
        {Product(n / 32, rows, 34),
         floats ? Product(n, cols, 4) : Product(n / 32, cols, 34),
         Product(rows, cols, 4), 0}};
    Ask(child,
        {floats ? kMatvecFloats : kMatvecBlocks,
         threads,
         n,
         rows,
         cols,
         {},
         {},
         0},
        buffers, answer);
  }

  static const wp_implementation* Open(EmulatedProgram program) {
    if (child.fd >= 0) close(child.fd);
    child = {std::move(program), -1, 0};
    static wp_implementation table = *FindBuiltIn("q8_0_neon");
    table.q8_0_quantize = Quantize;
    table.q8_1_quantize = QuantizeQ81;
    table.q8_0_dequantize = Dequantize;
    table.q8_0_dot = Dot;
    table.q8_0_matvec = Matvec;
    table.q8_0_validate = Validate;
    table.q8_1_validate = ValidateQ81;
    table.f16_from_f32 = FromF32;
    table.f16_to_f32 = ToF32;
    return &table;
  }
};

}  // namespace

const wp_implementation* OpenEmulated(EmulatedTable table,
                                      EmulatedProgram program) {
  return table == EmulatedTable::kOriginal
             ? Table<EmulatedTable::kOriginal>::Open(std::move(program))
             : Table<EmulatedTable::kMutant>::Open(std::move(program));
}

}  // namespace weightproof::impls
