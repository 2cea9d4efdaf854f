// Numeric calls as bytes, between a process and its child under an emulator.
// Both are little-endian. A call is followed by w, x, y and isum (as they are
// before it), a reply by y and isum.
#ifndef WEIGHTPROOF_IMPLS_EMULATED_WIRE_H_
#define WEIGHTPROOF_IMPLS_EMULATED_WIRE_H_

#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace weightproof::impls::emulated {

enum Operation : std::uint32_t {
  kQuantize,
  kQuantizeQ81,
  kDequantize,
  kDot,
  kMatvecBlocks,
  kMatvecFloats,
  kValidate,
  kValidateQ81,
  kFromF32,
  kToF32,
};

enum Buffer : std::uint32_t { kW, kX, kY, kIsum, kBuffers };

struct Call {
  std::uint32_t operation, threads;
  std::uint64_t n, rows, cols;
  std::uint64_t size[kBuffers];
  std::uint32_t skew[kBuffers];  // address modulo 64
  std::uint32_t has_isum;
  std::uint32_t unused = 0;
};

struct Reply {
  std::int32_t status, verdict;
  std::uint64_t offset;
  std::int64_t row;
  char rule[64];  // "" for none
  char detail[256];
};

// All of it, or false at the end of the stream or an error.
inline bool Read(int fd, void* to, std::size_t size) {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = ::read(fd, at, size);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

inline bool Write(int fd, const void* from, std::size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t put = ::write(fd, at, size);
    if (put <= 0) return false;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace weightproof::impls::emulated

#endif  // WEIGHTPROOF_IMPLS_EMULATED_WIRE_H_
