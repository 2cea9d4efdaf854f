// The optimized GGUF reader against a bare walk over the length fields, on a
// header shaped like SmolLM2's, and its growth with the number of keys.
//
// Ratios are taken inside one process, walk and parse by turns; the counter
// "ratio" is the median of the ratios of neighbouring turns.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <random>

#include "build_paths.h"
#include "impls/cpu/gguf_view.h"
#include "impls/cpu/gguf_view_testing.h"
#include "impls/reference_ops.h"

namespace weightproof::impls::testing {
namespace {

std::string Token(std::mt19937_64& random, std::uint64_t length) {
  std::string token;
  if (random() % 2 == 0) token += "\xc4\xa0";
  while (token.size() < length) {
    token += static_cast<char>('a' + random() % 26);
  }
  return token;
}

// 37 keys, 98,052 strings, 272 tensors: about 1.76 MB of header, as SmolLM2's;
// little data.
std::string SmolLm2() {
  std::mt19937_64 random(2);
  constexpr std::uint64_t kTokens = 49152, kMerges = 48900;
  std::string kv, tensors;
  kv += Kv("general.architecture", 8, S("llama"));
  for (int i = 0; i < 32; ++i) {
    const std::string key = fmt::format("llama.some.parameter_{}", i);
    kv += i % 2 == 0 ? Kv(key, 4, U32(i)) : Kv(key, 8, S("a short text"));
  }
  kv += Kv("tokenizer.ggml.tokens", 9, A(8, kTokens));
  for (std::uint64_t i = 0; i < kTokens; ++i) {
    kv += S(Token(random, 1 + random() % 12));
  }
  kv += Kv("tokenizer.ggml.merges", 9, A(8, kMerges));
  for (std::uint64_t i = 0; i < kMerges; ++i) {
    kv += S(Token(random, 1 + random() % 7) + " " +
            Token(random, 1 + random() % 5));
  }
  kv += Kv("tokenizer.ggml.token_type", 9, A(5, kTokens)) + Z(4 * kTokens);
  kv += Kv("tokenizer.chat_template", 8, S(std::string(700, '{')));
  std::uint64_t offset = 0;
  for (int i = 0; i < 272; ++i) {
    tensors += Ti(fmt::format("blk.{}.attn_norm_{}.weight", i / 9, i % 9), {32},
                  8, offset);
    offset += 64;
  }
  return Pad(H(3, 272, 37) + kv + tensors) + Z(offset);
}

std::string ManyKeys(std::uint64_t count) {
  std::string bytes = H(3, 0, count);
  for (std::uint64_t i = 0; i < count; ++i) {
    bytes += Kv(fmt::format("k{}", i), 0, "\1");
  }
  return bytes;
}

std::uint64_t Load(const char* p) {
  std::uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

std::uint32_t Load32(const char* p) {
  std::uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// Follows lengths, checks nothing. Returns the end of the tensor entries.
const char* WalkLengths(const char* p) {
  constexpr std::uint64_t kWidth[13] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  const std::uint64_t tensors = Load(p + 8), kvs = Load(p + 16);
  p += 24;
  for (std::uint64_t i = 0; i < kvs; ++i) {
    p += 8 + Load(p);
    const std::uint32_t type = Load32(p);
    p += 4;
    if (type == 8) {
      p += 8 + Load(p);
    } else if (type == 9) {
      const std::uint32_t element = Load32(p);
      std::uint64_t count = Load(p + 4);
      p += 12;
      if (element != 8) p += count * kWidth[element];
      for (; element == 8 && count > 0; --count) p += 8 + Load(p);
    } else {
      p += kWidth[type];
    }
  }
  for (std::uint64_t i = 0; i < tensors; ++i) {
    p += 8 + Load(p);
    p += 4 + 8 * std::uint64_t{Load32(p)} + 12;
  }
  return p;
}

GgufResult ParseBytes(const std::string& bytes, GgufProfile profile) {
  return ParseGguf(
      {.prefix = {reinterpret_cast<const std::uint8_t*>(bytes.data()),
                  bytes.size()},
       .file_size = bytes.size(),
       .base = 0,
       .profile = profile,
       .require_keys = false});
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::nth_element(values, values.begin() + values.size() / 2);
  return values[values.size() / 2];
}

// Time of this thread on a processor: the machine may be shared.
double Now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * now.tv_nsec;
}

template <typename Work>
double Seconds(const Work& work) {
  const double start = Now();
  work();
  return Now() - start;
}

void ParseOverWalk(benchmark::State& state, GgufProfile profile) {
  const std::string file = SmolLm2();
  bool accepted = true;
  std::vector<double> ratios;
  for (auto _ : state) {
    const double walk =
        Seconds([&] { benchmark::DoNotOptimize(WalkLengths(file.data())); });
    const double parse = Seconds([&] {
      accepted &= std::holds_alternative<GgufView>(ParseBytes(file, profile));
    });
    ratios.push_back(parse / walk);
    state.SetIterationTime(parse);
  }
  if (!accepted) state.SkipWithError("the header was not accepted");
  state.counters["ratio"] = Median(ratios);
  state.SetBytesProcessed(state.iterations() * file.size());
}
BENCHMARK_CAPTURE(ParseOverWalk, spec, GgufProfile::kSpec)->UseManualTime();
BENCHMARK_CAPTURE(ParseOverWalk, ggml, GgufProfile::kGgml)->UseManualTime();

void WalkAlone(benchmark::State& state) {
  const std::string file = SmolLm2();
  for (auto _ : state) {
    benchmark::DoNotOptimize(WalkLengths(file.data()));
  }
  state.SetBytesProcessed(state.iterations() * file.size());
}
BENCHMARK(WalkAlone);

// ratio: time for each of 100,000 keys over that for each of 10,000.
void KeysTenfold(benchmark::State& state) {
  const std::string few = ManyKeys(10000), many = ManyKeys(100000);
  std::vector<double> ratios;
  for (auto _ : state) {
    const double small = Seconds([&] {
      for (int i = 0; i < 10; ++i) {
        benchmark::DoNotOptimize(ParseBytes(few, GgufProfile::kSpec));
      }
    });
    const double large = Seconds([&] {
      benchmark::DoNotOptimize(ParseBytes(many, GgufProfile::kSpec));
    });
    ratios.push_back(large / small);
    state.SetIterationTime(large);
  }
  state.counters["ratio"] = Median(ratios);
}
BENCHMARK(KeysTenfold)->UseManualTime()->Unit(benchmark::kMillisecond);

// A sink that ignores everything.
wp_gguf_sink Nowhere() {
  wp_gguf_sink sink{};
  sink.header = [](void*, const wp_gguf_header*) {};
  sink.key = [](void*, wp_slice, std::uint32_t) {};
  sink.scalars = [](void*, std::uint32_t, const void*, std::uint64_t) {};
  sink.string = [](void*, wp_slice) {};
  sink.array_begin = [](void*, std::uint32_t, std::uint64_t) {};
  sink.array_end = [](void*) {};
  sink.tensor = [](void*, const wp_gguf_tensor*) {};
  sink.policy = [](void*, const char*) {};
  return sink;
}

// ratio: time of a peer over that of this reader, both behind the C ABI and
// from memory. Parses and looks for a key that is not there: no value is handed
// out.
void PeerOverParse(benchmark::State& state, const wp_implementation* peer) {
  const std::string file = SmolLm2();
  const wp_gguf_sink sink = Nowhere();
  bool accepted = true;
  const auto seconds = [&](const wp_implementation& reader) {
    return Seconds([&] {
      wp_gguf_input input{};
      input.data = {reinterpret_cast<const std::uint8_t*>(file.data()),
                    file.size()};
      input.file_size = file.size();
      wp_answer answer{};
      reader.gguf_get(&input, {}, 4, &sink, &answer);
      accepted &= answer.status == WP_STATUS_OK && answer.rule == nullptr;
    });
  };
  std::vector<double> ratios;
  for (auto _ : state) {
    const double theirs = seconds(*peer);
    const double ours = seconds(*GgufViewImplementation());
    ratios.push_back(theirs / ours);
    state.SetIterationTime(ours);
  }
  if (!accepted) state.SkipWithError("the header was not accepted");
  state.counters["ratio"] = Median(ratios);
}

// The installed ggml, opened by its plug-in; null if it is not here.
const wp_implementation* OpenGgml() {
  const std::string build = WEIGHTPROOF_BINARY_DIR;
  void* const plugin =
      dlopen((build + "/lib/plugin_ggml.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return nullptr;
  const auto open = reinterpret_cast<wp_open_function>(
      dlsym(plugin, "wp_implementation_open"));
  if (open == nullptr) return nullptr;
  const std::string arguments =
      "metadata " + build +
      "/drivers/ggml/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64";
  char error[256] = "";
  return open(arguments.c_str(), error, sizeof error);
}

void RegisterPeers() {
  benchmark::RegisterBenchmark("PeerOverParse/reference", PeerOverParse,
                               ReferenceImplementation())
      ->UseManualTime();
  if (const wp_implementation* ggml = OpenGgml()) {
    benchmark::RegisterBenchmark("PeerOverParse/ggml", PeerOverParse, ggml)
        ->UseManualTime();
  } else {
    fmt::print(stderr, "PeerOverParse/ggml: NOT RUN: ggml is not installed\n");
  }
}

}  // namespace
}  // namespace weightproof::impls::testing

int main(int argc, char** argv) {
  weightproof::impls::testing::RegisterPeers();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
