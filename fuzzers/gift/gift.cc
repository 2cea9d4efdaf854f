#include "fuzzers/gift/gift.h"

#include <fmt/format.h>

#include <map>
#include <system_error>

#include "fuzzers/dictionary.h"
#include "fuzzers/gift/zip.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kLargestSeed = 16 << 10;

Bytes BytesOf(std::string_view text) { return {text.begin(), text.end()}; }

std::string Readme(const std::string& target, std::size_t seeds) {
  return fmt::format(
      R"(# Seeds for fuzzers of GGUF readers

{1} small files, sound ones and ones that break one rule of the format each, and
a dictionary of its tokens (binary: magic, types, boundary lengths and counts).

- OSS-Fuzz, ClusterFuzzLite: copy `oss-fuzz/*` to `$OUT` and rename `{0}` to
  the name of your fuzzer.
- libFuzzer: `your_fuzzer -dict=oss-fuzz/{0}.dict corpus cargo-fuzz/fuzz/corpus/{0}`
- cargo-fuzz: copy `cargo-fuzz/fuzz` over yours, then
  `cargo fuzz run {0} -- -dict=fuzz/{0}.dict`
- AFL++: `afl-fuzz -i cargo-fuzz/fuzz/corpus/{0} -x oss-fuzz/{0}.dict ...`
)",
      target, seeds);
}

}  // namespace

std::vector<CorpusInput> GiftSeeds(const std::vector<CorpusInput>& corpus,
                                   const conformance::VectorSet& set) {
  std::map<std::string, Bytes> seeds;
  for (const CorpusInput& input : corpus) {
    if (input.bytes.size() <= kLargestSeed) {
      seeds.emplace(CorpusName(input.bytes), input.bytes);
    }
  }
  for (const conformance::Vector& vector : set.vectors) {
    if (vector.format != "gguf" || vector.bytes.Size() > kLargestSeed) continue;
    auto bytes = vector.bytes.Materialize(kLargestSeed);
    if (bytes && !bytes->empty()) {
      seeds.emplace(CorpusName(*bytes), std::move(*bytes));
    }
  }
  std::vector<CorpusInput> out;
  for (auto& [name, bytes] : seeds) out.push_back({name, std::move(bytes)});
  return out;
}

std::expected<void, std::string> WriteGift(
    const fs::path& dir, const std::string& target,
    const std::vector<CorpusInput>& seeds, const std::string& dictionary) {
  if (target.empty() || target.find('/') != target.npos) {
    return std::unexpected(target + ": not a name of a target");
  }
  if (auto parsed = ParseDictionary(dictionary); !parsed) {
    return std::unexpected("dictionary: " + parsed.error());
  }
  if (seeds.empty()) return std::unexpected("there are no seeds");
  const auto archive = ZipStored(seeds);
  if (!archive) return std::unexpected(archive.error());
  const fs::path oss = dir / "oss-fuzz", cargo = dir / "cargo-fuzz" / "fuzz";
  const fs::path corpus = cargo / "corpus" / target;
  std::error_code error;
  for (const fs::path& folder : {oss, corpus}) {
    fs::create_directories(folder, error);
    if (error) return std::unexpected(folder.string() + ": " + error.message());
  }
  const std::string dict = target + ".dict";
  auto done = StoreFile(oss / (target + "_seed_corpus.zip"), *archive, false);
  if (done) done = StoreFile(oss / dict, BytesOf(dictionary), false);
  if (done) done = StoreFile(cargo / dict, BytesOf(dictionary), false);
  for (const CorpusInput& seed : seeds) {
    if (done) done = StoreFile(corpus / seed.name, seed.bytes, false);
  }
  if (done) {
    done = StoreFile(dir / "README.md", BytesOf(Readme(target, seeds.size())),
                     false);
  }
  return done;
}

}  // namespace weightproof::fuzzers
