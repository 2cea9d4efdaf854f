// Corpora as a layer.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "fuzzers/gguf/oracle_sets.h"
#include "fuzzers/proof/oracle_layer.h"
#include "fuzzers/q8_0/case.h"
#include "fuzzers/q8_0/oracle.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kLargest = 64 << 10;

struct ReplayCase {
  const Target* target;
  std::string name;
  Bytes input;
  std::optional<Q80Case> numeric;  // instead of input
  std::vector<SetFile> set;        // likewise
};

class ReplayLayer : public Layer {
 public:
  std::string_view name() const override { return "replay"; }

  std::expected<void, std::string> Prepare(const fs::path& corpora,
                                           const conformance::VectorSet& set) {
    for (const Target& target : Targets()) {
      if (auto read = ReadCorpus(target, corpora / target.name); !read) {
        return read;
      }
    }
    const Target* const files = FindTarget("gguf_diff");
    const Target* const calls = FindTarget("q8_0_diff");
    if (files == nullptr || calls == nullptr) {
      return std::unexpected("there is no target gguf_diff or q8_0_diff");
    }
    for (const conformance::Vector& vector : set.vectors) {
      if (vector.operation == "gguf.open_set") {
        AddSet(*files, vector);
      } else if (vector.format == "gguf" && vector.bytes.Size() <= kLargest) {
        auto bytes = vector.bytes.Materialize(kLargest);
        if (bytes)
          cases_.push_back({files, vector.id, std::move(*bytes), {}, {}});
      } else if (vector.format == "q8_0") {
        auto numeric = Q80CaseOf(vector);
        if (!numeric) return std::unexpected(numeric.error());
        if (numeric->w.size() + numeric->x.size() > kLargest) continue;
        cases_.push_back({calls, vector.id, {}, std::move(*numeric), {}});
      }
    }
    if (cases_.empty()) return std::unexpected("nothing to replay");
    return {};
  }

  std::vector<std::size_t> CasesOf(std::string_view format) const override {
    return OfFormat(cases_, format);
  }
  std::string NameOf(std::size_t index) const override {
    return fmt::format("{}/{}", cases_[index].target->name, cases_[index].name);
  }
  CaseReport Check(std::size_t index,
                   const wp_implementation& subject) const override {
    const ReplayCase& replayed = cases_[index];
    if (!replayed.set.empty()) {
      for (const char* profile : {"spec", "ggml"}) {
        auto finding = CompareGgufSet(*impls::FindBuiltIn("reference"), subject,
                                      replayed.set, profile);
        if (finding) return Reported(finding);
      }
      return Reported(std::nullopt);
    }
    if (replayed.numeric) {
      return Reported(
          CheckQ80Case(Against(subject), *replayed.numeric, Depth::kAll)
              .finding);
    }
    return Reported(
        replayed.target->run(Against(subject), replayed.input, Depth::kAll)
            .finding);
  }

 private:
  void AddSet(const Target& target, const conformance::Vector& vector) {
    std::vector<SetFile> set;
    for (const auto& file : vector.files) {
      auto bytes = file.bytes.Materialize(kLargest);
      if (!bytes) return;  // too large
      set.push_back({file.name, std::move(*bytes)});
    }
    cases_.push_back({&target, vector.id, {}, {}, std::move(set)});
  }

  // A target without a folder has no corpus; a file that cannot be read is an
  // error.
  std::expected<void, std::string> ReadCorpus(const Target& target,
                                              const fs::path& folder) {
    std::error_code error;
    if (!fs::exists(folder, error)) return {};
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.is_regular_file(error)) paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    for (const fs::path& path : paths) {
      std::ifstream in(path, std::ios::binary);
      Bytes bytes{std::istreambuf_iterator<char>(in), {}};
      if (!in) return std::unexpected(path.string() + ": cannot be read");
      cases_.push_back(
          {&target, path.filename().string(), std::move(bytes), {}, {}});
    }
    return {};
  }

  std::vector<ReplayCase> cases_;
};

}  // namespace

LayerResult MakeReplayLayer(const fs::path& corpora,
                            const conformance::VectorSet& set) {
  auto layer = std::make_unique<ReplayLayer>();
  if (auto prepared = layer->Prepare(corpora, set); !prepared) {
    return std::unexpected(prepared.error());
  }
  return layer;
}

}  // namespace weightproof::fuzzers
