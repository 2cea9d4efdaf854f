// The numeric kernels against ggml's for the same instruction set, and against
// plain loops that read or fill the same bytes.
//
//   q8_0_bench avx2|avx512 [Google Benchmark's flags]
//
// One instruction set a process, which can know but one CPU library of ggml.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "build_paths.h"
#include "impls/cpu/q8_0.h"
#include "impls/cpu/q8_0_bench_loops.h"
#include "impls/cpu/q8_0_testing.h"
#include "impls/ratio_bench.h"

namespace weightproof::impls {
namespace {

using bench::Clock;
using bench::Row;

using Peer = const wp_implementation*;

// What is compared, and by which numbers it is judged.
struct Subject {
  const Q80Kernels* kernels;
  const wp_implementation* own;
  const char* ggml;  // its CPU library
  double matvec_target;
};

constexpr std::uint64_t kBlock = 34;

// Blocks as a quantizer writes them.
Image Quantized(std::uint64_t blocks) {
  std::mt19937_64 random(1);
  const Image floats = FloatBlocks(5, blocks, random);
  Image image(kBlock * blocks);
  Q80ScalarKernels().quantize(floats.data(), blocks, image.data());
  return image;
}

// rows x blocks of weights and one column of activations.
struct Operands {
  std::uint64_t blocks, rows;
  LargeBuffer w;
  Image x, prepared, y;

  Operands(const Q80Kernels& kernels, std::uint64_t row_blocks,
           std::uint64_t row_count)
      : blocks(row_blocks),
        rows(row_count),
        w(kBlock * row_blocks * row_count),
        x(Quantized(row_blocks)),
        prepared(kernels.prepared_bytes(row_blocks)),
        y(4 * row_count) {
    w.FillWith(Quantized(64));
    kernels.prepare(x.data(), blocks, prepared.data());
  }
  const std::uint8_t* WeightRow(std::uint64_t r) const {
    return w.data() + kBlock * blocks * r;
  }
  float* Output() { return reinterpret_cast<float*>(y.data()); }
};

void DotRows(Peer peer, Operands& o) {
  wp_answer answer{};
  for (std::uint64_t r = 0; r < o.rows; ++r) {
    peer->q8_0_dot(nullptr, o.WeightRow(r), o.x.data(), 32 * o.blocks,
                   o.Output() + r, nullptr, &answer);
  }
}

void MatvecRows(const Q80Kernels& kernels, Operands& o) {
  kernels.rows(o.w.data(), o.prepared.data(), o.blocks, o.rows, o.y.data());
}

void Matvec(benchmark::State& state, const Subject& subject, Peer peer,
            const Row& row, std::uint64_t n, std::uint64_t rows) {
  Operands o(*subject.kernels, n / 32, rows);
  Row sized = row;
  sized.bytes = o.w.size();
  bench::Compare(
      state, sized, [&] { DotRows(peer, o); },
      [&] { MatvecRows(*subject.kernels, o); });
}

void Dot(benchmark::State& state, const Subject& subject, Peer peer,
         const Row& row, std::uint64_t n) {
  Operands o(*subject.kernels, n / 32, 96);
  Row sized = row;
  sized.bytes = o.w.size();
  bench::Compare(
      state, sized, [&] { DotRows(peer, o); },
      [&] {
        for (std::uint64_t r = 0; r < o.rows; ++r) {
          o.Output()[r] = subject.kernels->dot(o.WeightRow(r), o.x.data(),
                                               o.blocks, nullptr);
        }
      });
}

constexpr std::uint64_t kLargeRows = (std::uint64_t{1} << 30) / (kBlock * 128);

// 1 GiB of weights against a loop that reads them.
void MatvecOverRead(benchmark::State& state, const Subject& subject,
                    const Row& row, std::uint32_t threads) {
  Operands o(*subject.kernels, 128, kLargeRows);
  Row sized = row;
  sized.bytes = o.w.size();
  sized.clock = threads > 1 ? Clock::kWall : Clock::kThread;
  bench::Compare(
      state, sized, [&] { ReadAll(o.w.data(), o.w.size(), threads); },
      [&] {
        wp_answer answer{};
        subject.own->q8_0_matvec(nullptr, o.w.data(), o.x.data(), nullptr,
                                 32 * o.blocks, o.rows, 1, threads, o.Output(),
                                 &answer);
      });
}

void Quantize(benchmark::State& state, const Subject& subject, Peer peer,
              const Row& row) {
  std::mt19937_64 random(2);
  constexpr std::uint64_t kBlocks = 1024;
  const Image x = FloatBlocks(5, kBlocks, random);
  Image y(kBlock * kBlocks);
  Row sized = row;
  sized.bytes = x.size();
  wp_answer answer{};
  bench::Compare(
      state, sized,
      [&] {
        peer->q8_0_quantize(nullptr, reinterpret_cast<const float*>(x.data()),
                            32 * kBlocks, 1, y.data(), &answer);
      },
      [&] { subject.kernels->quantize(x.data(), kBlocks, y.data()); });
}

void Dequantize(benchmark::State& state, const Subject& subject, Peer peer,
                const Row& row) {
  constexpr std::uint64_t kBlocks = 1024;
  const Image x = Quantized(kBlocks);
  LargeBuffer y(128 * kBlocks);
  Row sized = row;
  sized.bytes = y.size();
  wp_answer answer{};
  bench::Compare(
      state, sized,
      [&] {
        peer->q8_0_dequantize(nullptr, x.data(), 32 * kBlocks, 1,
                              reinterpret_cast<float*>(y.data()), &answer);
      },
      [&] { subject.kernels->dequantize(x.data(), kBlocks, y.data()); });
}

// 512 MiB of floats against a loop that fills them.
void DequantizeOverFill(benchmark::State& state, const Subject& subject,
                        const Row& row) {
  constexpr std::uint64_t kBlocks = (std::uint64_t{1} << 29) / 128;
  LargeBuffer x(kBlock * kBlocks), y(128 * kBlocks);
  x.FillWith(Quantized(64));
  y.FillWith(Image(4096, 1));
  Row sized = row;
  sized.bytes = y.size();
  bench::Compare(
      state, sized, [&] { FillAll(y.data(), y.size()); },
      [&] { subject.kernels->dequantize(x.data(), kBlocks, y.data()); });
}

// The installed ggml, opened by its plug-in; null if it is not here.
Peer OpenGgml(const std::string& what) {
  const std::string build = WEIGHTPROOF_BINARY_DIR;
  void* const plugin =
      dlopen((build + "/lib/plugin_ggml.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return nullptr;
  const auto open = reinterpret_cast<wp_open_function>(
      dlsym(plugin, "wp_implementation_open"));
  if (open == nullptr) return nullptr;
  const std::string arguments = fmt::format(
      "{} {}/drivers/ggml/node_modules/@node-llama-cpp/linux-x64/bins/"
      "linux-x64",
      what, build);
  char error[256] = "";
  return open(arguments.c_str(), error, sizeof(error));
}

using Function = std::function<void(benchmark::State&)>;

void Add(const char* name, const Subject& subject, const Function& function) {
  benchmark::RegisterBenchmark(
      fmt::format("{}/{}", name, subject.kernels->name).c_str(), function)
      ->UseManualTime();
}

void AddLoops(const Subject& subject) {
  const std::string own = subject.kernels->name;
  Add("matvec_dram_read_1", subject, [=](benchmark::State& state) {
    MatvecOverRead(state, subject,
                   {"matvec, 1 GiB, 1 thread", own, "read loop", 0.92}, 1);
  });
  Add("matvec_dram_read_2", subject, [=](benchmark::State& state) {
    MatvecOverRead(state, subject,
                   {"matvec, 1 GiB, 2 threads", own, "read loop", 0.85}, 2);
  });
  Add("dequantize_dram_fill", subject, [=](benchmark::State& state) {
    DequantizeOverFill(state, subject,
                       {"dequantize, 512 MiB of f32", own, "fill loop", 0.9});
  });
}

void AddGgml(const Subject& subject, Peer cpu, Peer base) {
  const std::string own = subject.kernels->name;
  const std::string peer =
      fmt::format("ggml {}, {}", cpu->version, subject.ggml);
  for (const std::uint64_t n : {4096, 576}) {
    const double matvec = n == 4096 ? subject.matvec_target : 0;
    const double dot = n == 4096 ? 1.0 : 0;
    Add(n == 4096 ? "matvec_4096" : "matvec_576", subject,
        [=](benchmark::State& state) {
          Matvec(state, subject, cpu,
                 {fmt::format("matvec, n = {}, in L2", n), own, peer, matvec},
                 n, 96);
        });
    Add(n == 4096 ? "dot_4096" : "dot_576", subject,
        [=](benchmark::State& state) {
          Dot(state, subject, cpu,
              {fmt::format("dot, n = {}, in L2", n), own, peer, dot}, n);
        });
  }
  Add("matvec_dram_ggml", subject, [=](benchmark::State& state) {
    Matvec(state, subject, cpu, {"matvec, 1 GiB, 1 thread", own, peer}, 4096,
           kLargeRows);
  });
  Add("quantize", subject, [=](benchmark::State& state) {
    Quantize(state, subject, cpu, {"quantize, in cache", own, peer, 1.15});
  });
  if (base == nullptr) return;
  const std::string base_name = fmt::format("ggml {}, base", base->version);
  Add("dequantize", subject, [=](benchmark::State& state) {
    Dequantize(state, subject, base,
               {"dequantize, in cache", own, base_name, 1.2});
  });
}

// "NAME: NOT RUN: why" on standard error.
void NotRun(const char* name, const std::string& why) {
  fmt::print(stderr, "{}: NOT RUN: {}\n", name, why);
}

int Main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  if (which != "avx2" && which != "avx512") {
    fmt::print(stderr, "usage: q8_0_bench avx2|avx512 [flags]\n");
    return 2;
  }
  argv[1] = argv[0];
  --argc, ++argv;
  const bool wide = which == "avx512";
  static Subject subject;
  subject = {wide ? &Q80Avx512Kernels() : &Q80Avx2Kernels(),
             wide ? Q80Avx512Implementation() : Q80Avx2Implementation(),
             wide ? "zen4" : "haswell", wide ? 1.6 : 1.25};
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (const char* missing = subject.kernels->missing()) {
    NotRun(subject.kernels->name, missing);
    return 0;
  }
  AddLoops(subject);
  const Peer cpu = OpenGgml(fmt::format("cpu {}", subject.ggml));
  if (cpu == nullptr) {
    NotRun(subject.kernels->name, "against ggml: it is not installed");
  } else {
    AddGgml(subject, cpu, OpenGgml("ref"));
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace weightproof::impls

int main(int argc, char** argv) { return weightproof::impls::Main(argc, argv); }
