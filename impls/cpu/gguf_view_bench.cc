// The optimized GGUF reader against a bare walk over the length fields, on a
// header shaped like SmolLM2's, and its growth with the number of keys.
//
// Ratios are taken inside one process, walk and parse by turns; the counter
// "ratio" is the median of the ratios of neighbouring turns.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

#include "impls/cpu/gguf_view.h"
#include "impls/cpu/gguf_view_testing.h"

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

// 37 keys, 98,052 strings, 272 tensors, about 1.76 MB of header. The file size
// is stated; the data is not there.
struct Header {
  std::string bytes;
  std::uint64_t file_size;
};

Header SmolLm2() {
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
    tensors += Ti(fmt::format("blk.{}.attn_norm_{}.weight", i / 9, i % 9),
                  {960, 320}, 8, offset);
    offset += 960 / 32 * 34 * 320;
  }
  const std::string bytes = Pad(H(3, 272, 37) + kv + tensors);
  return {bytes, bytes.size() + offset};
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

GgufResult ParseBytes(const std::string& bytes, std::uint64_t file_size,
                      GgufProfile profile) {
  return ParseGguf(
      {.prefix = {reinterpret_cast<const std::uint8_t*>(bytes.data()),
                  bytes.size()},
       .file_size = file_size,
       .base = 0,
       .profile = profile,
       .require_keys = false});
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::nth_element(values, values.begin() + values.size() / 2);
  return values[values.size() / 2];
}

template <typename Work>
double Seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

void ParseOverWalk(benchmark::State& state, GgufProfile profile) {
  const Header header = SmolLm2();
  bool accepted = true;
  std::vector<double> ratios;
  for (auto _ : state) {
    const double walk = Seconds(
        [&] { benchmark::DoNotOptimize(WalkLengths(header.bytes.data())); });
    const double parse = Seconds([&] {
      accepted &= std::holds_alternative<GgufView>(
          ParseBytes(header.bytes, header.file_size, profile));
    });
    ratios.push_back(parse / walk);
    state.SetIterationTime(parse);
  }
  if (!accepted) state.SkipWithError("the header was not accepted");
  state.counters["ratio"] = Median(ratios);
  state.SetBytesProcessed(state.iterations() * header.bytes.size());
}
BENCHMARK_CAPTURE(ParseOverWalk, spec, GgufProfile::kSpec)->UseManualTime();
BENCHMARK_CAPTURE(ParseOverWalk, ggml, GgufProfile::kGgml)->UseManualTime();

void WalkAlone(benchmark::State& state) {
  const Header header = SmolLm2();
  for (auto _ : state) {
    benchmark::DoNotOptimize(WalkLengths(header.bytes.data()));
  }
  state.SetBytesProcessed(state.iterations() * header.bytes.size());
}
BENCHMARK(WalkAlone);

// ratio: time for each of 100,000 keys over that for each of 10,000.
void KeysTenfold(benchmark::State& state) {
  const std::string few = ManyKeys(10000), many = ManyKeys(100000);
  std::vector<double> ratios;
  for (auto _ : state) {
    const double small = Seconds([&] {
      for (int i = 0; i < 10; ++i) {
        benchmark::DoNotOptimize(
            ParseBytes(few, few.size(), GgufProfile::kSpec));
      }
    });
    const double large = Seconds([&] {
      benchmark::DoNotOptimize(
          ParseBytes(many, many.size(), GgufProfile::kSpec));
    });
    ratios.push_back(large / small);
    state.SetIterationTime(large);
  }
  state.counters["ratio"] = Median(ratios);
}
BENCHMARK(KeysTenfold)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weightproof::impls::testing

BENCHMARK_MAIN();
