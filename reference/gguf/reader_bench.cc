// What a key, a token and a tensor cost as files grow. The cost per key of
// 100 000 keys is to be at most twice that of 10 000: duplicates are found in
// a set, not pair by pair.
//
//   reader_bench --benchmark_filter=Keys
#include <benchmark/benchmark.h>

#include <string>

#include "reference/gguf/test_file.h"

namespace weightproof::gguf::test {
namespace {

// Parses f and reports seconds per entry of n.
void Run(benchmark::State& state, const TestFile& f, std::int64_t n) {
  for (auto _ : state) {
    const auto file = Parse(f.input(), SpecProfile());
    if (!file) state.SkipWithError(file.error().detail.c_str());
    benchmark::DoNotOptimize(file);
  }
  state.SetItemsProcessed(state.iterations() * n);
  state.counters["per_entry"] = benchmark::Counter(
      static_cast<double>(n), benchmark::Counter::kIsIterationInvariantRate |
                                  benchmark::Counter::kInvert);
}

// In no order that a tree would like.
std::string Shuffled(std::int64_t i) {
  return "key." + std::to_string((i * 7919 + 13) % 1000003);
}

void Keys(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  TestFile f = TestFile().Header(3, 0, static_cast<std::uint64_t>(n));
  for (std::int64_t i = 0; i < n; ++i) f.Key(Shuffled(i), 4).U32(7);
  Run(state, f, n);
}
BENCHMARK(Keys)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

void Tokens(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  TestFile f = TestFile().Header(3, 0, 1).Key("tokens", 9);
  f.Array(8, static_cast<std::uint64_t>(n));
  for (std::int64_t i = 0; i < n; ++i) f.String(Shuffled(i));
  Run(state, f, n);
}
BENCHMARK(Tokens)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

void Tensors(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  TestFile f = TestFile().Header(3, static_cast<std::uint64_t>(n), 0);
  for (std::int64_t i = 0; i < n; ++i) {
    f.Tensor(Shuffled(i), {8}, 0, static_cast<std::uint64_t>(i) * 32);
  }
  f.Pad().Fill(static_cast<std::uint64_t>(n) * 32);
  Run(state, f, n);
}
BENCHMARK(Tensors)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weightproof::gguf::test

BENCHMARK_MAIN();
