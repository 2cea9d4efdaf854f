// The fuzz targets of GGUF.
#include "fuzzers/gguf/generator.h"
#include "fuzzers/gguf/mutator.h"
#include "fuzzers/gguf/oracle.h"
#include "fuzzers/gguf/targets_judged.h"
#include "fuzzers/target.h"
#include "impls/registry.h"

namespace weightproof::fuzzers::format_gguf {
namespace {

constexpr std::size_t kScriptBytes = 24;

Subjects TwoReaders() {
  return {impls::FindBuiltIn("reference"), {impls::FindBuiltIn("gguf_view")}};
}

Bytes GenerateFile(Random& random) {
  return GenerateGguf(random.Take(8 + random.Below(300)));
}

// Files half of the time: bytes alone hardly get past the magic.
Bytes GenerateRaw(Random& random) {
  return random.OneIn(2) ? GenerateFile(random) : GenerateBytes(random);
}

Bytes GenerateScript(Random& random) {
  Bytes out = random.Take(kScriptBytes);
  const Bytes file = GenerateFile(random);
  out.insert(out.end(), file.begin(), file.end());
  return out;
}

// The script's bytes and the file behind them are mutated each in its way.
Bytes MutateScript(ByteSpan input, Random& random, std::size_t max_size) {
  if (max_size <= kScriptBytes) return MutateBytes(input, random, max_size);
  Bytes head(input.begin(),
             input.begin() + static_cast<std::ptrdiff_t>(
                                 std::min(input.size(), kScriptBytes)));
  if (head.size() < kScriptBytes) {
    head = GenerateScript(random);
    if (head.size() > max_size) head.resize(max_size);
    return head;
  }
  ByteSpan file = input.subspan(kScriptBytes);
  Bytes changed(file.begin(), file.end());
  if (random.OneIn(2)) {
    head = MutateBytes(head, random, kScriptBytes);
    head.resize(kScriptBytes);
  } else {
    changed = MutateGguf(file, random, max_size - kScriptBytes);
  }
  head.insert(head.end(), changed.begin(), changed.end());
  if (head.size() > max_size) head.resize(max_size);
  return head;
}

}  // namespace

std::span<const Target> FormatTargets() {
  static const std::vector<Target> kTargets = Judged({
      {.name = "gguf_raw",
       .format = "gguf",
       .about = "any bytes as a GGUF file, byte by byte mutation",
       .extension = "gguf",
       .subjects = TwoReaders,
       .run = CheckGguf,
       .generate = GenerateRaw,
       .mutate = MutateBytes,
       .cross = CrossBytes},
      {.name = "gguf_structured",
       .format = "gguf",
       .about = "valid files, generated from bytes",
       .extension = "entropy",
       .max_size = 1024,
       .subjects = TwoReaders,
       .run = CheckGeneratedGguf,
       .generate = GenerateBytes,
       .mutate = MutateBytes,
       .cross = CrossBytes},
      {.name = "gguf_script",
       .format = "gguf",
       .about = "any order of API calls, prefixes of every length",
       .extension = "script",
       .subjects = TwoReaders,
       .run = CheckGgufScript,
       .generate = GenerateScript,
       .mutate = MutateScript,
       .cross = CrossBytes},
      {.name = "gguf_diff",
       .format = "gguf",
       .about = "the reference against the optimized reader, format-aware",
       .extension = "gguf",
       .max_size = 8192,
       .subjects = TwoReaders,
       .run = CheckGguf,
       .generate = GenerateFile,
       .mutate = MutateGguf,
       .cross = CrossGguf},
  });
  return kTargets;
}

}  // namespace weightproof::fuzzers::format_gguf
