// What the kernels are measured against beyond the caches: plain loops in
// 256-bit registers over the same bytes.
#ifndef WEIGHTPROOF_IMPLS_CPU_Q8_0_BENCH_LOOPS_H_
#define WEIGHTPROOF_IMPLS_CPU_Q8_0_BENCH_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weightproof::impls {

// Memory in huge pages where they are to be had.
class LargeBuffer {
 public:
  explicit LargeBuffer(std::size_t size);
  ~LargeBuffer();
  LargeBuffer(const LargeBuffer&) = delete;
  LargeBuffer& operator=(const LargeBuffer&) = delete;
  std::uint8_t* data() { return data_; }
  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Repeats unit to the end.
  void FillWith(const std::vector<std::uint8_t>& unit);

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

// Loads every byte, each thread its share.
void ReadAll(const std::uint8_t* data, std::size_t size, std::uint32_t threads);

// Stores to every byte, as a loop of ordinary stores does. data from
// LargeBuffer, size a multiple of 32.
void FillAll(std::uint8_t* data, std::size_t size);

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_Q8_0_BENCH_LOOPS_H_
