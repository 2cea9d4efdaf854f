// Benchmarks that compare: a peer's work and our own by turns, in one process.
// The machine may be shared and change its speed; a ratio of neighbouring
// turns stays. `weightproof bench` makes a table of them.
//
// Each benchmark leaves the counters "ratio", the median over all turns of time
// of the peer over own time, "ratio_low" and "ratio_high", its quartiles, and
// "target", what the ratio should reach, if there is such a number. Its label
// is "work|own|peer".
#ifndef WEIGHTPROOF_IMPLS_RATIO_BENCH_H_
#define WEIGHTPROOF_IMPLS_RATIO_BENCH_H_

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace weightproof::bench {

enum class Clock {
  kThread,  // time of this thread on a processor
  kWall,    // for work of several threads
};

struct Row {
  std::string work;  // "dot, n = 4096, in L2"
  std::string own;   // "q8_0_avx2"
  std::string peer;  // "ggml 0.23.0, haswell"
  double target = 0;
  std::uint64_t bytes = 0;  // of one turn
  Clock clock = Clock::kThread;
};

inline double Now(Clock clock) {
  timespec now{};
  clock_gettime(
      clock == Clock::kThread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC,
      &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename Work>
double Seconds(Clock clock, const Work& work) {
  const double start = Now(clock);
  work();
  return Now(clock) - start;
}

// sorted is not empty.
inline double Quantile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(
      part * static_cast<double>(sorted.size() - 1))];
}

inline void Report(benchmark::State& state, const Row& row,
                   std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  if (!ratios.empty()) {
    state.counters["ratio"] = Quantile(ratios, 0.5);
    state.counters["ratio_low"] = Quantile(ratios, 0.25);
    state.counters["ratio_high"] = Quantile(ratios, 0.75);
  }
  if (row.target > 0) state.counters["target"] = row.target;
  if (row.bytes > 0) {
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                            static_cast<std::int64_t>(row.bytes));
  }
  state.SetLabel(row.work + "|" + row.own + "|" + row.peer);
}

// Runs peer and own by turns; own time is the time of the benchmark, which
// must be registered with UseManualTime().
template <typename Peer, typename Own>
void Compare(benchmark::State& state, const Row& row, const Peer& peer,
             const Own& own) {
  std::vector<double> ratios;
  peer(), own();
  for (auto _ : state) {
    const double theirs = Seconds(row.clock, peer);
    const double ours = Seconds(row.clock, own);
    ratios.push_back(theirs / ours);
    state.SetIterationTime(ours);
  }
  Report(state, row, std::move(ratios));
}

}  // namespace weightproof::bench

#endif  // WEIGHTPROOF_IMPLS_RATIO_BENCH_H_
