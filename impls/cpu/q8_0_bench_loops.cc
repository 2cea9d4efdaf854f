#include "impls/cpu/q8_0_bench_loops.h"

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#define WP_LOOP __attribute__((target("avx2")))
#else
#define WP_LOOP
#endif

namespace weightproof::impls {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t Whole(std::size_t size) {
  return (size + kHugePage - 1) / kHugePage * kHugePage;
}

WP_LOOP void Read(const std::uint8_t* data, std::size_t size) {
#if defined(__x86_64__)
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  for (std::size_t at = 0; at + 128 <= size; at += 128) {
    const auto* p = reinterpret_cast<const __m256i*>(data + at);
    a = _mm256_add_epi64(a, _mm256_loadu_si256(p));
    b = _mm256_add_epi64(b, _mm256_loadu_si256(p + 1));
    c = _mm256_add_epi64(c, _mm256_loadu_si256(p + 2));
    d = _mm256_add_epi64(d, _mm256_loadu_si256(p + 3));
  }
  const __m256i sum =
      _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
  std::uint64_t words[4];
  std::memcpy(words, &sum, sizeof(words));
  benchmark::DoNotOptimize(words[0] + words[1] + words[2] + words[3]);
#else
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + 8 <= size; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, data + at, sizeof(word));
    sum += word;
  }
  benchmark::DoNotOptimize(sum);
#endif
}

}  // namespace

LargeBuffer::LargeBuffer(std::size_t size) : size_(size) {
  void* const map = mmap(nullptr, Whole(size), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  madvise(map, Whole(size), MADV_HUGEPAGE);
  data_ = static_cast<std::uint8_t*>(map);
}

LargeBuffer::~LargeBuffer() { munmap(data_, Whole(size_)); }

void LargeBuffer::FillWith(const std::vector<std::uint8_t>& unit) {
  for (std::size_t at = 0; at < size_; at += unit.size()) {
    std::memcpy(data_ + at, unit.data(), std::min(unit.size(), size_ - at));
  }
}

void ReadAll(const std::uint8_t* data, std::size_t size,
             std::uint32_t threads) {
  std::vector<std::thread> workers;
  for (std::uint32_t t = 1; t < threads; ++t) {
    const std::size_t first = size * t / threads;
    workers.emplace_back(Read, data + first, size * (t + 1) / threads - first);
  }
  Read(data, size / threads);
  for (std::thread& worker : workers) worker.join();
}

WP_LOOP void FillAll(std::uint8_t* data, std::size_t size) {
#if defined(__x86_64__)
  const __m256 value = _mm256_set1_ps(1.0f);
  for (std::size_t at = 0; at + 32 <= size; at += 32) {
    _mm256_storeu_ps(reinterpret_cast<float*>(data + at), value);
  }
#else
  for (std::size_t at = 0; at + 4 <= size; at += 4) {
    const float value = 1.0f;
    std::memcpy(data + at, &value, sizeof(value));
  }
#endif
  benchmark::ClobberMemory();
}

}  // namespace weightproof::impls
