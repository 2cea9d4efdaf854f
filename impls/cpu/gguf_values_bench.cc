// The data check against a bare read of the same bytes, on all cores.
//
//   gguf_values_bench [FILE]     default: the Gemma model of corpus/models
//
// ratio: time of adding up all words of the tensors over the time of the check,
// by turns and with the same treatment of the mapping; 1 means that the check
// is as fast as the memory.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "build_paths.h"
#include "impls/cpu/gguf_values.h"
#include "impls/ratio_bench.h"

namespace weightproof::impls {
namespace {

using Bytes = std::span<const std::uint8_t>;
constexpr std::size_t kWindow = std::size_t{4} << 20;

void Populate(Bytes bytes) {
#ifdef MADV_POPULATE_READ
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()) & ~4095ull;
  const auto end =
      (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size() + 4095) &
      ~4095ull;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ);
#endif
}

void Drop(Bytes bytes) {
  const auto begin =
      (reinterpret_cast<std::uintptr_t>(bytes.data()) + 4095) & ~4095ull;
  const auto end =
      (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size()) &
      ~4095ull;
  if (begin < end) {
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

std::uint64_t Sum(Bytes bytes) {
  std::uint64_t sums[4] = {};
  std::size_t i = 0;
  for (; i + 32 <= bytes.size(); i += 32) {
    std::uint64_t words[4];
    std::memcpy(words, bytes.data() + i, 32);
    for (int k = 0; k < 4; ++k) sums[k] += words[k];
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

void ReadAll(Bytes data) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t at; (at = next.fetch_add(kWindow)) < data.size();) {
      const Bytes window =
          data.subspan(at, std::min(kWindow, data.size() - at));
      Populate(window);
      benchmark::DoNotOptimize(Sum(window));
      Drop(window);
    }
  };
  std::vector<std::thread> others;
  while (others.size() + 1 < std::thread::hardware_concurrency()) {
    others.emplace_back(work);
  }
  work();
  for (std::thread& other : others) other.join();
}

void CheckData(benchmark::State& state, const GgufView& view) {
  GgufDataOptions options;
  options.before = Populate;
  options.after = Drop;
  std::uint64_t bytes = 0;
  for (const GgufTensor& tensor : view.tensors) bytes += tensor.size;
  const Bytes data = view.prefix.subspan(view.data_start, bytes);
  bench::Compare(
      state,
      {.work = "data of Gemma 3 270M",
       .own = "check --data",
       .peer = "a read of it",
       .target = 0.8,
       .bytes = bytes,
       .clock = bench::Clock::kWall},
      [&] { ReadAll(data); },
      [&] { benchmark::DoNotOptimize(CheckGgufValues(view, options)); });
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::string file = argc > 1 ? argv[1]
                                    : WEIGHTPROOF_BINARY_DIR
                               "/models/gemma-3-270m-q4_k_m.gguf";
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (fd < 0 || fstat(fd, &status) != 0) {
    fmt::print(stderr,
               "data of Gemma 3 270M: NOT RUN: not fetched (./weightproof "
               "models)\n");
    return 0;
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (map == MAP_FAILED) return 1;
  GgufInput input;
  input.prefix = {static_cast<const std::uint8_t*>(map), size};
  input.file_size = size;
  const GgufResult result = ParseGguf(input);
  const auto* view = std::get_if<GgufView>(&result);
  if (view == nullptr) {
    fmt::print(stderr, "{} is not accepted\n", file);
    return 1;
  }
  benchmark::RegisterBenchmark(
      "check_data/gemma3",
      [view](benchmark::State& state) { CheckData(state, *view); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace weightproof::impls

int main(int argc, char** argv) { return weightproof::impls::Main(argc, argv); }
