// Every numeric implementation against the reference on everything there is,
// or on a sample of it.
//
//   q8_0_exhaustive [MODE...] [--every N] [--blocks N] [--seed N] [--threads N]
//
// Modes (default: all):
//   to-f32    f16 -> f32, all 65,536 halves
//   to-f16    f32 -> f16, all 2^32 patterns
//   round     all floats in [-128, 128] as elements of blocks whose scale is 1
//   element   a block of which one element takes all 2^32 patterns
//   random    --blocks random blocks (default 10,000,000): quantize to Q8_0 and
//             Q8_1, dequantize, dot
//
// --every N tries one chunk of 4,096 patterns in N, chosen by the seed. Prints
// one line for each mode and implementation; exit status 1 if anything
// differed, after the first difference of each.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "impls/cpu/q8_0_testing.h"
#include "reference/q8_0/environment.h"

namespace weightproof::impls {
namespace {

struct Options {
  std::set<std::string> modes;
  std::uint64_t every = 1, blocks = 10'000'000, seed = 1, threads = 1;
};

constexpr std::uint64_t kChunk = 4096;
using Impl = const wp_implementation*;

// What was found of one implementation.
struct Tally {
  std::atomic<std::uint64_t> compared = 0, different = 0;
  std::mutex mutex;
  std::string first;

  void Compare(const Image& expected, const Image& got, std::uint64_t items,
               const std::function<std::string()>& what) {
    compared += items;
    if (expected == got) return;
    ++different;
    const std::lock_guard lock(mutex);
    if (first.empty()) first = what();
  }
};

float* Floats(Image& image) { return reinterpret_cast<float*>(image.data()); }
std::uint16_t* Halves(Image& image) {
  return reinterpret_cast<std::uint16_t*>(image.data());
}

// NaN results, which are compared as a class, become one pattern.
void MergeNans(Image& image, std::size_t width) {
  const std::uint32_t infinity = width == 2 ? 0x7c00 : 0x7f800000;
  const std::uint32_t magnitude = width == 2 ? 0x7fff : 0x7fffffff;
  for (std::size_t at = 0; at < image.size(); at += width) {
    std::uint32_t value = 0;
    std::memcpy(&value, image.data() + at, width);
    if ((value & magnitude) <= infinity) continue;
    value = magnitude;
    std::memcpy(image.data() + at, &value, width);
  }
}

std::string Hex(const std::uint8_t* data, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += "0123456789abcdef"[data[i] >> 4];
    text += "0123456789abcdef"[data[i] & 15];
  }
  return text;
}

// The input block and both outputs where they first differ.
std::string Differing(const Image& x, const Image& expected, const Image& got,
                      std::size_t in, std::size_t out) {
  std::size_t at = 0;
  while (at < got.size() && expected[at] == got[at]) ++at;
  const std::size_t block = at / out;
  if (block * in >= x.size() || block * out >= got.size()) return "sizes";
  return "input " + Hex(x.data() + block * in, in) + ", expected " +
         Hex(expected.data() + block * out, out) + ", got " +
         Hex(got.data() + block * out, out);
}

// ---- one chunk of each mode ----

using Unary = std::function<bool(const wp_implementation&, Image& x, Image& y)>;

// Compares all implementations on x, in_size bytes of which give out_size
// bytes of y; a refusal is compared too.
void CompareAll(const std::vector<Impl>& impls, std::vector<Tally>& tallies,
                Image& x, std::size_t in_size, std::size_t out_size,
                std::size_t nan_width, const Unary& call) {
  const std::size_t items = x.size() / in_size;
  Image expected(items * out_size), got(items * out_size);
  const bool accepted = call(NumericReference(), x, expected);
  for (std::size_t i = 0; i < impls.size(); ++i) {
    std::fill(got.begin(), got.end(), 0xa5);
    const bool also = call(*impls[i], x, got);
    if (!accepted || !also) {
      // Nothing is promised about the output.
      tallies[i].Compare(Image(1, accepted), Image(1, also), items,
                         [] { return std::string("another verdict"); });
      continue;
    }
    if (nan_width > 0 && expected != got) {
      MergeNans(expected, nan_width);
      MergeNans(got, nan_width);
    }
    tallies[i].Compare(expected, got, items, [&] {
      return Differing(x, expected, got, in_size, out_size);
    });
  }
}

bool ToF32(const wp_implementation& i, Image& x, Image& y) {
  wp_answer answer = Fresh();
  i.f16_to_f32(nullptr, Halves(x), x.size() / 2, Floats(y), &answer);
  return answer.verdict == WP_ACCEPT;
}

bool ToF16(const wp_implementation& i, Image& x, Image& y) {
  wp_answer answer = Fresh();
  i.f16_from_f32(nullptr, Floats(x), x.size() / 4, Halves(y), &answer);
  return answer.verdict == WP_ACCEPT;
}

bool Quantize(const wp_implementation& i, Image& x, Image& y) {
  wp_answer answer = Fresh();
  i.q8_0_quantize(nullptr, Floats(x), x.size() / 4, 1, y.data(), &answer);
  return answer.verdict == WP_ACCEPT;
}

bool QuantizeQ81(const wp_implementation& i, Image& x, Image& y) {
  wp_answer answer = Fresh();
  i.q8_1_quantize(nullptr, Floats(x), x.size() / 4, 1, y.data(), &answer);
  return answer.verdict == WP_ACCEPT;
}

bool Dequantize(const wp_implementation& i, Image& x, Image& y) {
  wp_answer answer = Fresh();
  i.q8_0_dequantize(nullptr, x.data(), x.size() / 34 * 32, 1, Floats(y),
                    &answer);
  return answer.verdict == WP_ACCEPT;
}

void PutPattern(Image& image, std::size_t index, std::uint32_t pattern) {
  std::memcpy(image.data() + 4 * index, &pattern, 4);
}

using Chunk = std::function<void(std::uint64_t chunk, std::vector<Tally>&)>;

struct Mode {
  std::string name;
  std::uint64_t chunks;
  bool sampled;  // by --every
  Chunk run;
};

void RunToF32(const std::vector<Impl>& impls, std::uint64_t chunk,
              std::vector<Tally>& tallies) {
  Image x(2 * kChunk);
  for (std::uint64_t i = 0; i < kChunk; ++i) {
    const auto half = static_cast<std::uint16_t>(chunk * kChunk + i);
    std::memcpy(x.data() + 2 * i, &half, 2);
  }
  CompareAll(impls, tallies, x, 2, 4, 4, ToF32);
}

void RunToF16(const std::vector<Impl>& impls, std::uint64_t chunk,
              std::vector<Tally>& tallies) {
  Image x(4 * kChunk);
  for (std::uint64_t i = 0; i < kChunk; ++i) {
    PutPattern(x, i, static_cast<std::uint32_t>(chunk * kChunk + i));
  }
  CompareAll(impls, tallies, x, 4, 2, 2, ToF16);
}

// Patterns of |x| from 0 to 128, by turns of both signs: chunk counts pairs of
// blocks of 31.
constexpr std::uint64_t kRoundPatterns = 0x43000001;
constexpr std::uint64_t kRoundPerChunk = 31 * 64;

void RunRound(const std::vector<Impl>& impls, std::uint64_t chunk,
              std::vector<Tally>& tallies) {
  Image x(128 * 128);
  for (std::uint64_t b = 0; b < 128; ++b) {
    PutPattern(x, 32 * b, 0x42fe0000);  // 127
    for (std::uint64_t i = 0; i < 31; ++i) {
      const std::uint64_t pattern =
          std::min(chunk * kRoundPerChunk + b / 2 * 31 + i, kRoundPatterns - 1);
      PutPattern(x, 32 * b + 1 + i,
                 static_cast<std::uint32_t>(pattern | b % 2 << 31));
    }
  }
  CompareAll(impls, tallies, x, 128, 34, 0, Quantize);
}

// The other 31 elements: nothing special, so that the element is the largest
// from 128 on and one of many below.
void RunElement(const std::vector<Impl>& impls, std::uint64_t chunk,
                std::vector<Tally>& tallies) {
  constexpr std::uint64_t kBlocks = 64;
  const auto first = static_cast<std::uint32_t>(chunk * kChunk);
  // Where there are NaN and infinities every block is a call of its own.
  const bool finite = (first & 0x7f800000) != 0x7f800000;
  const std::uint64_t per_call = finite ? kBlocks : 1;
  Image x(128 * per_call);
  for (std::uint64_t at = 0; at < kChunk; at += per_call) {
    for (std::uint64_t b = 0; b < per_call; ++b) {
      const auto pattern = static_cast<std::uint32_t>(first + at + b);
      for (std::uint32_t i = 0; i < 32; ++i) {
        const float value = 0.37f * static_cast<float>(static_cast<int>(i) - 9);
        std::memcpy(x.data() + 128 * b + 4 * i, &value, 4);
      }
      PutPattern(x, 32 * b + pattern % 32, pattern);
    }
    CompareAll(impls, tallies, x, 128, 34, 0, Quantize);
  }
}

void CompareDots(const std::vector<Impl>& impls, std::vector<Tally>& tallies,
                 const Image& w, const Image& x) {
  std::uint64_t length = 1;
  for (std::uint64_t at = 0; 34 * at < w.size(); at += length, ++length) {
    length = std::min(length, w.size() / 34 - at);
    Image expected(4 + 4 * length), got(4 + 4 * length);
    const auto call = [&](const wp_implementation& i, Image& out) {
      wp_answer answer = Fresh();
      i.q8_0_dot(nullptr, w.data() + 34 * at, x.data() + 34 * at, 32 * length,
                 Floats(out), reinterpret_cast<std::int32_t*>(out.data() + 4),
                 &answer);
      Image alone(4);
      i.q8_0_dot(nullptr, w.data() + 34 * at, x.data() + 34 * at, 32 * length,
                 Floats(alone), nullptr, &answer);
      MergeNans(alone, 4);
      std::copy_n(alone.begin(), 4, out.begin());
    };
    call(NumericReference(), expected);
    for (std::size_t i = 0; i < impls.size(); ++i) {
      call(*impls[i], got);
      tallies[i].Compare(expected, got, 0, [&] {
        return "dot of " + Hex(w.data() + 34 * at, 34 * length) + " and " +
               Hex(x.data() + 34 * at, 34 * length) + ": expected " +
               Hex(expected.data(), 4) + ", got " + Hex(got.data(), 4);
      });
    }
  }
}

constexpr std::uint64_t kRandomBlocks = 512;

void RunRandom(const std::vector<Impl>& impls, std::uint64_t seed,
               std::uint64_t chunk, std::vector<Tally>& tallies) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15 + chunk);
  Image x =
      FloatBlocks(static_cast<int>(chunk % kFloatKinds), kRandomBlocks, random);
  CompareAll(impls, tallies, x, 128, 34, 0, Quantize);
  std::vector<Tally> extra(impls.size());
  CompareAll(impls, extra, x, 128, 36, 0, QuantizeQ81);
  Image w =
      Q80Blocks(static_cast<int>(chunk % kBlockKinds), kRandomBlocks, random);
  CompareAll(impls, extra, w, 34, 128, 4, Dequantize);
  Image y(34 * kRandomBlocks);
  Quantize(NumericReference(), x, y);
  CompareDots(impls, extra, w, y);
  CompareDots(impls, extra, y, w);
  for (std::size_t i = 0; i < impls.size(); ++i) {
    if (extra[i].different == 0) continue;
    tallies[i].different += extra[i].different;
    const std::lock_guard lock(tallies[i].mutex);
    if (tallies[i].first.empty()) tallies[i].first = extra[i].first;
  }
}

// ---- the sweep ----

std::vector<Mode> AllModes(const std::vector<Impl>& impls,
                           const Options& options) {
  constexpr std::uint64_t kAll = std::uint64_t{1} << 32;
  return {
      {"to-f32", 65536 / kChunk, false,
       [=](std::uint64_t c, auto& t) { RunToF32(impls, c, t); }},
      {"to-f16", kAll / kChunk, true,
       [=](std::uint64_t c, auto& t) { RunToF16(impls, c, t); }},
      {"round", (kRoundPatterns + kRoundPerChunk - 1) / kRoundPerChunk, true,
       [=](std::uint64_t c, auto& t) { RunRound(impls, c, t); }},
      {"element", kAll / kChunk, true,
       [=](std::uint64_t c, auto& t) { RunElement(impls, c, t); }},
      {"random", (options.blocks + kRandomBlocks - 1) / kRandomBlocks, false,
       [=](std::uint64_t c, auto& t) { RunRandom(impls, options.seed, c, t); }},
  };
}

// True if all implementations agreed with the reference.
bool Sweep(const Mode& mode, const std::vector<Impl>& impls,
           const Options& options) {
  std::vector<Tally> tallies(impls.size());
  std::atomic<std::uint64_t> next = 0;
  std::atomic<bool> sound = true;
  const auto work = [&] {
    if (!q8_0::CheckFpEnvironment().empty()) sound = false;
    const std::uint64_t every = mode.sampled ? options.every : 1;
    // Another member of each group of chunks, by group and seed.
    for (std::uint64_t group; (group = next++) * every < mode.chunks;) {
      const std::uint64_t pick =
          (group * 0x9e3779b97f4a7c15 + options.seed * 0xd1342543de82ef95) >>
          33;
      const std::uint64_t chunk = group * every + pick % every;
      if (chunk < mode.chunks) mode.run(chunk, tallies);
    }
    if (!q8_0::CheckFpState().empty()) sound = false;
  };
  std::vector<std::thread> workers;
  for (std::uint64_t t = 1; t < options.threads; ++t)
    workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  bool good = sound;
  if (!sound) std::printf("%s: build.fp: a thread is off\n", mode.name.c_str());
  for (std::size_t i = 0; i < impls.size(); ++i) {
    good &= tallies[i].different == 0;
    std::printf("%-8s %-12s %llu compared, %llu calls differ%s%s\n",
                mode.name.c_str(), impls[i]->name,
                static_cast<unsigned long long>(tallies[i].compared),
                static_cast<unsigned long long>(tallies[i].different),
                tallies[i].first.empty() ? "" : "\n  first: ",
                tallies[i].first.c_str());
  }
  std::fflush(stdout);
  return good;
}

std::vector<Impl> Runnable() {
  std::vector<Impl> impls;
  for (const Impl impl : NumericImplementations()) {
    wp_answer answer = Fresh();
    impl->q8_0_quantize(nullptr, nullptr, 0, 0, nullptr, &answer);
    if (answer.status == WP_STATUS_OK) {
      impls.push_back(impl);
    } else {
      std::printf("NOT RUN: %s: %s\n", impl->name, answer.detail);
    }
  }
  return impls;
}

int Usage() {
  std::fprintf(stderr,
               "usage: q8_0_exhaustive [to-f32|to-f16|round|element|random]... "
               "[--every N] [--blocks N] [--seed N] [--threads N]\n");
  return 2;
}

int Main(int argc, char** argv) {
  Options options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    std::uint64_t* const number = word == "--every"     ? &options.every
                                  : word == "--blocks"  ? &options.blocks
                                  : word == "--seed"    ? &options.seed
                                  : word == "--threads" ? &options.threads
                                                        : nullptr;
    if (number == nullptr) {
      options.modes.insert(std::string(word));
      continue;
    }
    char* end = nullptr;
    if (++i == argc) return Usage();
    *number = std::strtoull(argv[i], &end, 10);
    if (*end != '\0' || *number == 0) return Usage();
  }
  const std::vector<Impl> impls = Runnable();
  std::printf("seed %llu, every %llu\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(options.every));
  const std::vector<Mode> modes = AllModes(impls, options);
  for (const std::string& wanted : options.modes) {
    if (std::ranges::none_of(
            modes, [&](const Mode& mode) { return mode.name == wanted; })) {
      return Usage();
    }
  }
  bool good = true;
  for (const Mode& mode : modes) {
    if (!options.modes.empty() && !options.modes.contains(mode.name)) continue;
    good &= Sweep(mode, impls, options);
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace weightproof::impls

int main(int argc, char** argv) { return weightproof::impls::Main(argc, argv); }
