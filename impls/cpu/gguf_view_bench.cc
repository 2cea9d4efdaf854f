// The GGUF readers on a header shaped like SmolLM2's and, where it was fetched,
// that of a real file: the optimized one against a bare walk over the length
// fields, ggml and modelvet, the reference against ggml; and the growth of both
// with the number of keys.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "build_paths.h"
#include "impls/cpu/gguf_view.h"
#include "impls/cpu/gguf_view_testing.h"
#include "impls/ignoring_sink.h"
#include "impls/ratio_bench.h"
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

using bench::Row;
using Reader = const wp_implementation*;

// Reads a file from memory and looks for a key that is not there, so that no
// value is handed out; a reader that knows no keys only verifies. False unless
// the file was accepted.
bool ReadBy(Reader reader, const std::string& file) {
  const wp_gguf_sink sink = IgnoringSink();
  wp_gguf_input input{};
  input.data = {reinterpret_cast<const std::uint8_t*>(file.data()),
                file.size()};
  input.file_size = file.size();
  wp_answer answer{};
  if (reader->gguf_get == nullptr) {
    reader->gguf_parse(&input, &sink, &answer);
    return answer.status == WP_STATUS_OK && answer.verdict == WP_ACCEPT;
  }
  reader->gguf_get(&input, {}, 4, &sink, &answer);
  return answer.status == WP_STATUS_OK && answer.rule == nullptr;
}

void OverWalk(benchmark::State& state, const std::string& file,
              const Row& row) {
  bool accepted = true;
  bench::Compare(
      state, row, [&] { benchmark::DoNotOptimize(WalkLengths(file.data())); },
      [&] {
        accepted &= std::holds_alternative<GgufView>(
            ParseBytes(file, GgufProfile::kSpec));
      });
  if (!accepted) state.SkipWithError("the header was not accepted");
}

void OverReader(benchmark::State& state, const std::string& file,
                const Row& row, Reader own, Reader peer) {
  bool accepted = true;
  bench::Compare(
      state, row, [&] { accepted &= ReadBy(peer, file); },
      [&] { accepted &= ReadBy(own, file); });
  if (!accepted) state.SkipWithError("the header was not accepted");
}

// Ten times 10,000 keys against 100,000: 1 if the cost of a key stays.
void KeysTenfold(benchmark::State& state, const Row& row, Reader own) {
  const std::string few = ManyKeys(10000), many = ManyKeys(100000);
  bench::Compare(
      state, row,
      [&] {
        for (int i = 0; i < 10; ++i) ReadBy(own, few);
      },
      [&] { ReadBy(own, many); });
}

// An installed plug-in, or null.
Reader OpenPlugin(const char* name, const std::string& arguments) {
  const std::string build = WEIGHTPROOF_BINARY_DIR;
  void* const plugin = dlopen((build + "/lib/plugin_" + name + ".so").c_str(),
                              RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return nullptr;
  const auto open = reinterpret_cast<wp_open_function>(
      dlsym(plugin, "wp_implementation_open"));
  if (open == nullptr) return nullptr;
  char error[256] = "";
  return open(arguments.c_str(), error, sizeof error);
}

Reader OpenGgml() {
  const std::string build = WEIGHTPROOF_BINARY_DIR;
  return OpenPlugin(
      "ggml", "metadata " + build +
                  "/drivers/ggml/node_modules/@node-llama-cpp/linux-x64/bins/"
                  "linux-x64");
}

Reader OpenModelvet() {
  const std::string build = WEIGHTPROOF_BINARY_DIR;
  return OpenPlugin("modelvet", build + "/drivers/modelvet/libmodelvet.so");
}

struct Readers {
  Reader view, reference, ggml, modelvet;
};

void Add(const std::string& name,
         const std::function<void(benchmark::State&)>& function) {
  benchmark::RegisterBenchmark(name.c_str(), function)->UseManualTime();
}

std::string Named(Reader reader) {
  return fmt::format("{} {}", reader->name, reader->version);
}

// file lives as long as the program.
void AddHeader(const std::string& name, const std::string& work,
               const std::string& file, const Readers& readers) {
  Add("walk/" + name, [=, &file](benchmark::State& state) {
    OverWalk(state, file, {work, "gguf_view", "walk over lengths", 0.25});
  });
  if (readers.ggml != nullptr) {
    Add("ggml/" + name, [=, &file](benchmark::State& state) {
      OverReader(state, file, {work, "gguf_view", Named(readers.ggml), 8},
                 readers.view, readers.ggml);
    });
    Add("reference_ggml/" + name, [=, &file](benchmark::State& state) {
      OverReader(state, file, {work, "reference", Named(readers.ggml), 1},
                 readers.reference, readers.ggml);
    });
  }
  if (readers.modelvet != nullptr) {
    Add("modelvet/" + name, [=, &file](benchmark::State& state) {
      OverReader(state, file, {work, "gguf_view", Named(readers.modelvet), 10},
                 readers.view, readers.modelvet);
    });
  }
}

const std::filesystem::path kModels =
    std::string(WEIGHTPROOF_BINARY_DIR) + "/models";

std::string ReadModel(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What `weightproof check` does with a healthy header, of the model that takes
// it longest, against the 10 ms it is allowed.
void AddAllowance() {
  constexpr double kAllowed = 0.01;
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(kModels, error)) {
    if (entry.path().extension() == ".gguf") {
      paths.push_back(entry.path());
    }
  }
  if (paths.empty()) {
    fmt::print(stderr,
               "headers of models: NOT RUN: not fetched (./weightproof "
               "models)\n");
    return;
  }
  Add("check/models", [paths](benchmark::State& state) {
    std::vector<std::string> files;
    for (const auto& path : paths) files.push_back(ReadModel(path));
    std::vector<double> ratios;
    for (auto _ : state) {
      double slowest = 0;
      for (const std::string& file : files) {
        slowest =
            std::max(slowest, bench::Seconds(bench::Clock::kThread, [&] {
                       for (const GgufProfile profile :
                            {GgufProfile::kSpec, GgufProfile::kGgml,
                             GgufProfile::kCandle}) {
                         benchmark::DoNotOptimize(ParseBytes(file, profile));
                       }
                     }));
      }
      ratios.push_back(kAllowed / slowest);
      state.SetIterationTime(slowest);
    }
    bench::Report(state,
                  {fmt::format("headers of {} models", files.size()), "check",
                   "10 ms for the slowest", 1},
                  std::move(ratios));
  });
}

void AddAll() {
  const Readers readers = {GgufViewImplementation(), ReferenceImplementation(),
                           OpenGgml(), OpenModelvet()};
  if (readers.ggml == nullptr) {
    fmt::print(stderr, "ggml: NOT RUN: it is not installed\n");
  }
  if (readers.modelvet == nullptr) {
    fmt::print(stderr, "modelvet: NOT RUN: it is not installed\n");
  }
  static const std::string shaped = SmolLm2();
  AddHeader("smollm2", "GGUF header as SmolLM2's", shaped, readers);
  static const std::string real =
      ReadModel(kModels / "gemma-3-270m-q4_k_m.gguf");
  if (real.empty()) {
    fmt::print(stderr,
               "Gemma 3 270M: NOT RUN: not fetched (./weightproof models)\n");
  } else {
    AddHeader("gemma3", "GGUF file, Gemma 3 270M", real, readers);
  }
  AddAllowance();
  for (const Reader reader : {readers.view, readers.reference}) {
    Add(fmt::format("keys/{}", reader->name), [=](benchmark::State& state) {
      KeysTenfold(
          state,
          {"100,000 keys in one file", reader->name, "10 x 10,000 keys", 0.5},
          reader);
    });
  }
}

}  // namespace
}  // namespace weightproof::impls::testing

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  weightproof::impls::testing::AddAll();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
