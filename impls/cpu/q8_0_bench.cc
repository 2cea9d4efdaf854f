// The numeric kernels against ggml's for the same instruction set and against
// a plain read of the same bytes.
//
// Ratios are taken inside one process, peer and own by turns; the counter
// "ratio" is the median of time of the peer over own time.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <random>

#include "build_paths.h"
#include "impls/cpu/q8_0.h"
#include "impls/cpu/q8_0_testing.h"

namespace weightproof::impls {
namespace {

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Time of this thread on a processor: the machine may be shared.
double Now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename Work>
double Seconds(const Work& work) {
  const double start = Now();
  work();
  return Now() - start;
}

// Runs peer and own by turns; bytes are those of one turn.
template <typename Peer, typename Own>
void Compare(benchmark::State& state, const Peer& peer, const Own& own,
             std::size_t bytes) {
  std::vector<double> ratios;
  peer(), own();
  for (auto _ : state) {
    const double theirs = Seconds(peer);
    const double ours = Seconds(own);
    ratios.push_back(theirs / ours);
    state.SetIterationTime(ours);
  }
  state.counters["ratio"] = Median(ratios);
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(bytes));
}

// rows x blocks of weights and one column of activations.
struct Operands {
  std::uint64_t blocks, rows;
  Image w, x, prepared;
  Image y;

  Operands(const Q80Kernels& kernels, std::uint64_t row_blocks,
           std::uint64_t row_count)
      : blocks(row_blocks), rows(row_count) {
    std::mt19937_64 random(1);
    w = Q80Blocks(4, 64, random);
    const Image unit = w;
    w.resize(34 * blocks * rows);
    for (std::size_t at = 0; at < w.size(); at += unit.size()) {
      std::copy_n(unit.begin(), std::min(unit.size(), w.size() - at),
                  w.begin() + static_cast<long>(at));
    }
    x = Q80Blocks(4, blocks, random);
    prepared.resize(kernels.prepared_bytes(blocks));
    kernels.prepare(x.data(), blocks, prepared.data());
    y.resize(4 * rows);
  }
  const std::uint8_t* Row(std::uint64_t r) const {
    return w.data() + 34 * blocks * r;
  }
};

using Peer = const wp_implementation*;

void DotPeer(Peer peer, Operands& o) {
  wp_answer answer{};
  for (std::uint64_t r = 0; r < o.rows; ++r) {
    peer->q8_0_dot(nullptr, o.Row(r), o.x.data(), 32 * o.blocks,
                   reinterpret_cast<float*>(o.y.data()) + r, nullptr, &answer);
  }
}

void MatvecOverPeerDot(benchmark::State& state, const Q80Kernels& kernels,
                       Peer peer) {
  Operands o(kernels, static_cast<std::uint64_t>(state.range(0)) / 32, 96);
  Compare(
      state, [&] { DotPeer(peer, o); },
      [&] {
        kernels.rows(o.w.data(), o.prepared.data(), o.blocks, o.rows,
                     o.y.data());
      },
      o.w.size());
}

void DotOverPeerDot(benchmark::State& state, const Q80Kernels& kernels,
                    Peer peer) {
  Operands o(kernels, static_cast<std::uint64_t>(state.range(0)) / 32, 96);
  Compare(
      state, [&] { DotPeer(peer, o); },
      [&] {
        for (std::uint64_t r = 0; r < o.rows; ++r) {
          const float value =
              kernels.dot(o.Row(r), o.x.data(), o.blocks, nullptr);
          std::memcpy(o.y.data() + 4 * r, &value, 4);
        }
      },
      o.w.size());
}

void QuantizeOverPeer(benchmark::State& state, const Q80Kernels& kernels,
                      Peer peer) {
  std::mt19937_64 random(2);
  const std::uint64_t blocks = 1024;
  const Image x = FloatBlocks(5, blocks, random);
  Image y(34 * blocks);
  wp_answer answer{};
  Compare(
      state,
      [&] {
        peer->q8_0_quantize(nullptr, reinterpret_cast<const float*>(x.data()),
                            32 * blocks, 1, y.data(), &answer);
      },
      [&] { kernels.quantize(x.data(), blocks, y.data()); }, x.size());
}

void DequantizeOverPeer(benchmark::State& state, const Q80Kernels& kernels,
                        Peer peer) {
  std::mt19937_64 random(3);
  const std::uint64_t blocks = 1024;
  const Image x = Q80Blocks(4, blocks, random);
  Image y(128 * blocks);
  wp_answer answer{};
  Compare(
      state,
      [&] {
        peer->q8_0_dequantize(nullptr, x.data(), 32 * blocks, 1,
                              reinterpret_cast<float*>(y.data()), &answer);
      },
      [&] { kernels.dequantize(x.data(), blocks, y.data()); }, y.size());
}

// Weights far beyond the caches against a sum of the same bytes.
void MatvecOverRead(benchmark::State& state, const Q80Kernels& kernels) {
  Operands o(kernels, 128, 120000);  // 522 MB
  std::uint64_t sum = 0;
  Compare(
      state,
      [&] {
        for (std::size_t at = 0; at + 64 <= o.w.size(); at += 64) {
          std::uint64_t words[8];
          std::memcpy(words, o.w.data() + at, sizeof(words));
          for (const std::uint64_t word : words) sum += word;
        }
        benchmark::DoNotOptimize(sum);
      },
      [&] {
        kernels.rows(o.w.data(), o.prepared.data(), o.blocks, o.rows,
                     o.y.data());
      },
      o.w.size());
}

// The installed ggml, opened by its plug-in; null if it is not here.
Peer OpenGgml(const char* which) {
  const std::string build = WEIGHTPROOF_BINARY_DIR;
  void* const plugin =
      dlopen((build + "/lib/plugin_ggml.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return nullptr;
  const auto open = reinterpret_cast<wp_open_function>(
      dlsym(plugin, "wp_implementation_open"));
  if (open == nullptr) return nullptr;
  const std::string arguments = fmt::format(
      "cpu {} {}/drivers/ggml/node_modules/@node-llama-cpp/linux-x64/bins/"
      "linux-x64",
      which, build);
  char error[256] = "";
  return open(arguments.c_str(), error, sizeof(error));
}

// cpu names the ggml library; one a process, which knows one ggml.
void Register(const Q80Kernels& kernels, const char* cpu) {
  if (const char* missing = kernels.missing()) {
    fmt::print(stderr, "{}: NOT RUN: {}\n", kernels.name, missing);
    return;
  }
  const auto add = [&](const char* what, auto function, auto... more) {
    return benchmark::RegisterBenchmark(
               fmt::format("{}/{}", what, kernels.name).c_str(), function,
               kernels, more...)
        ->UseManualTime();
  };
  add("MatvecOverRead", MatvecOverRead)->Unit(benchmark::kMillisecond);
  const Peer peer = OpenGgml(cpu);
  if (peer == nullptr) {
    fmt::print(stderr, "{}: peers NOT RUN: ggml is not installed\n",
               kernels.name);
    return;
  }
  add("MatvecOverGgmlDot", MatvecOverPeerDot, peer)->Arg(4096)->Arg(576);
  add("DotOverGgmlDot", DotOverPeerDot, peer)->Arg(4096)->Arg(576);
  add("QuantizeOverGgml", QuantizeOverPeer, peer);
  if (peer->q8_0_dequantize != nullptr) {
    add("DequantizeOverGgml", DequantizeOverPeer, peer);
  }
}

}  // namespace
}  // namespace weightproof::impls

// q8_0_bench [avx2|avx512] [Google Benchmark's flags]
int main(int argc, char** argv) {
  using namespace weightproof::impls;
  const bool avx2 = argc > 1 && std::strcmp(argv[1], "avx2") == 0;
  const bool avx512 = argc > 1 && std::strcmp(argv[1], "avx512") == 0;
  const Q80Kernels& kernels = avx2     ? Q80Avx2Kernels()
                              : avx512 ? Q80Avx512Kernels()
                                       : BestQ80Kernels();
  if (avx2 || avx512) {
    argv[1] = argv[0];
    --argc, ++argv;
  }
  Register(kernels, kernels.name == Q80Avx2Kernels().name ? "haswell" : "zen4");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
