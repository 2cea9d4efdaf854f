// weightproof export DIR: the vectors as plain data, usable without us; with
// --fuzz, seeds and a dictionary for other fuzzers.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "conformance/vector_json.h"
#include "fuzzers/gift/gift.h"
#include "reports/cli/command.h"
#include "reports/cli/snippets.h"
#include "reports/excerpt.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using conformance::Vector;

// Files above this are sparse giants: only with --sparse.
constexpr std::uint64_t kMaxFile = 256 << 10;

std::string Sha256(std::span<const std::uint8_t> bytes) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(),
             nullptr);
  return reports::ToHex(std::span(digest).first(size));
}

class Exporter {
 public:
  Exporter(fs::path folder, bool sparse)
      : folder_(std::move(folder)), sparse_(sparse) {}

  std::expected<void, std::string> Export(
      const conformance::VectorSet& vectors) {
    for (const Vector& vector : vectors.vectors) {
      Json line = conformance::VectorToJson(vector);
      if (!vector.bytes.chunks.empty() || vector.operation == "gguf.parse") {
        line.erase("bytes");
        auto file = Write(vector.bytes, fs::path("files") /
                                            (vector.id + "." + vector.format));
        if (!file) return std::unexpected(file.error());
        line["file"] = *file;
      }
      AddVerdict(vector, line);
      if (!vector.files.empty()) {
        line["files"] = Json::array();
        for (const conformance::NamedFile& named : vector.files) {
          auto file =
              Write(named.bytes, fs::path("files") / vector.id / named.name);
          if (!file) return std::unexpected(file.error());
          line["files"].push_back(*file);
        }
      }
      expected_ += line.dump() + "\n";
    }
    Hash(fs::path("expected.jsonl"), expected_);
    if (auto done = WriteFile(folder_ / "expected.jsonl", expected_); !done) {
      return done;
    }
    Hash(fs::path("verdicts.tsv"), verdicts_);
    if (auto done = WriteFile(folder_ / "verdicts.tsv", verdicts_); !done) {
      return done;
    }
    for (const Snippet& snippet : Snippets()) {
      const fs::path path = fs::path("snippets") / snippet.name;
      const std::string text(snippet.text);
      Hash(path, text);
      if (auto done = WriteFile(folder_ / path, text); !done) return done;
    }
    if (auto done = WriteFile(folder_ / "VERSION", vectors.version + "\n");
        !done) {
      return done;
    }
    return WriteFile(folder_ / "SHA256SUMS", sums_);
  }

  std::uint64_t files() const { return files_; }
  std::uint64_t left_out() const { return left_out_; }

 private:
  // A line of verdicts.tsv for each file on which all profiles agree, and which
  // is asked without options.
  void AddVerdict(const Vector& vector, const Json& line) {
    if (vector.operation != "gguf.parse" || !vector.request.is_null() ||
        !line.value("file", Json()).is_string()) {
      return;
    }
    std::string verdict;
    for (const auto& [profile, expected] : vector.expect) {
      if (!verdict.empty() && verdict != expected.verdict) return;
      verdict = expected.verdict;
    }
    if (verdict != "accept" && verdict != "reject") return;
    verdicts_ += fmt::format("{}\t{}\t{}\t{}\n", vector.id, vector.rule,
                             line["file"].get<std::string>(), verdict);
  }

  // The path in the export, or null for a giant that is left out.
  std::expected<Json, std::string> Write(const corpus::Bytes& bytes,
                                         const fs::path& path) {
    if (bytes.Size() > kMaxFile && !sparse_) {
      ++left_out_;
      return Json(nullptr);
    }
    std::error_code error;
    fs::create_directories((folder_ / path).parent_path(), error);
    if (const auto whole = bytes.Materialize(kMaxFile)) {
      const std::string text(whole->begin(), whole->end());
      Hash(path, text);
      if (auto done = WriteFile(folder_ / path, text); !done) {
        return std::unexpected(done.error());
      }
    } else if (auto done = bytes.WriteFile(folder_ / path); !done) {
      return std::unexpected(done.error());
    }
    ++files_;
    return Json(path.string());
  }

  void Hash(const fs::path& path, const std::string& text) {
    sums_ += Sha256({reinterpret_cast<const std::uint8_t*>(text.data()),
                     text.size()}) +
             "  " + path.string() + "\n";
  }

  fs::path folder_;
  bool sparse_;
  std::string expected_;
  std::string verdicts_;
  std::string sums_;
  std::uint64_t files_ = 0;
  std::uint64_t left_out_ = 0;
};

int Export(const Places& places, const std::string& folder, bool sparse) {
  const auto vectors = LoadAllVectors(places);
  if (!vectors) return Fail(kExitInternal, vectors.error());
  Exporter exporter(folder, sparse);
  const auto done = exporter.Export(*vectors);
  if (!done) return Fail(kExitInternal, done.error());
  Print(fmt::format(
      "{}: {}, {}{}\n", reports::Printable(folder),
      reports::Count(vectors->vectors.size(), "vector"),
      reports::Count(exporter.files(), "file"),
      exporter.left_out() == 0
          ? ""
          : fmt::format("; {} left out, see --sparse",
                        reports::Count(exporter.left_out(), "sparse giant"))));
  return kExitOk;
}

int ExportFuzz(const Places& places, const std::string& folder,
               const std::string& target) {
  const auto vectors = LoadAllVectors(places);
  if (!vectors) return Fail(kExitInternal, vectors.error());
  const fs::path fuzzers = places.source / "fuzzers";
  const auto corpus = fuzzers::LoadCorpus(fuzzers / "corpus" / "gguf_diff");
  if (!corpus) return Fail(kExitInternal, corpus.error());
  const auto dictionary = ReadFile(fuzzers / "gguf" / "gguf.dict", 1 << 20);
  if (!dictionary) return Fail(kExitInternal, dictionary.error());
  const auto seeds = fuzzers::GiftSeeds(*corpus, *vectors);
  const auto done = fuzzers::WriteGift(folder, target, seeds, *dictionary);
  if (!done) return Fail(kExitInternal, done.error());
  Print(fmt::format("{}: {} for OSS-Fuzz and cargo-fuzz, and a dictionary\n",
                    reports::Printable(folder),
                    reports::Count(seeds.size(), "seed")));
  return kExitOk;
}

}  // namespace

void AddExport(CLI::App& app, const Places& places, Action& action) {
  auto folder = std::make_shared<std::string>();
  auto sparse = std::make_shared<bool>(false);
  auto fuzz = std::make_shared<bool>(false);
  auto target = std::make_shared<std::string>("gguf");
  CLI::App* command =
      app.add_subcommand("export", "The vectors as plain files and JSON lines");
  command->add_option("DIR", *folder, "Where to write")->required();
  command->add_flag("--sparse", *sparse,
                    "Also files that are huge but mostly holes");
  command->add_flag("--fuzz", *fuzz,
                    "Instead: seeds and a dictionary for other fuzzers");
  command->add_option("--target", *target,
                      "With --fuzz: the name of the fuzzer; default gguf");
  command->callback([=, &places, &action] {
    action = [=, &places] {
      if (*fuzz) return ExportFuzz(places, *folder, *target);
      return Export(places, *folder, *sparse);
    };
  });
}

}  // namespace weightproof::cli
