#include "fuzzers/finding_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <system_error>

#include "fuzzers/corpus_folder.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;

std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// "verdict-gguf_view-gguf.kv.key.empty-1f2e3d4c"
std::string FileNameOf(const Finding& finding) {
  std::string name = fmt::format("{}-{}-{}", ToString(finding.kind),
                                 finding.implementation, finding.rule);
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                       (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
                       c == '-';
    if (!plain) c = '_';
  }
  name.resize(std::min<std::size_t>(name.size(), 100));
  const std::string bucket = BucketOf(finding);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(bucket.data());
  return name + fmt::format("-{:08x}", static_cast<std::uint32_t>(
                                           HashBytes({bytes, bucket.size()})));
}

Json ReadJson(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Json::parse(in, nullptr, false);
}

std::string Substituted(std::string text, const std::string& file) {
  const std::size_t at = text.find("{file}");
  if (at != text.npos) text.replace(at, 6, file);
  return text;
}

}  // namespace

Json ToJson(const Finding& finding) {
  return {{"kind", ToString(finding.kind)},
          {"implementation", finding.implementation},
          {"rule", finding.rule},
          {"behaviour", finding.behaviour},
          {"description", finding.description}};
}

bool FromJson(const Json& json, Finding& finding) {
  const auto text = [&](const char* name, std::string& out) {
    const auto it = json.find(name);
    if (it == json.end() || !it->is_string()) return false;
    out = it->get<std::string>();
    return true;
  };
  std::string kind;
  return json.is_object() && text("kind", kind) &&
         FromString(kind, finding.kind) &&
         text("implementation", finding.implementation) &&
         text("rule", finding.rule) && text("behaviour", finding.behaviour) &&
         text("description", finding.description);
}

std::expected<FindingStore, std::string> FindingStore::Open(fs::path folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return std::unexpected(
        fmt::format("{}: {}", folder.string(), error.message()));
  }
  FindingStore store(std::move(folder));
  for (const StoredFinding& found : store.List()) {
    store.buckets_.insert(found.bucket);
  }
  return store;
}

std::vector<StoredFinding> FindingStore::List() const {
  std::vector<StoredFinding> out;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != ".json") continue;
    const Json json = ReadJson(it->path());
    StoredFinding found;
    if (!FromJson(json, found.finding)) continue;
    found.bucket = BucketOf(found.finding);
    found.file = folder_ / json.value("file", "");
    out.push_back(std::move(found));
  }
  std::ranges::sort(out, {}, &StoredFinding::file);
  return out;
}

std::expected<void, std::string> FindingStore::Add(
    const Finding& finding, ByteSpan input, std::string_view extension,
    const Provenance& provenance) {
  if (Has(finding)) return {};
  const std::string name = FileNameOf(finding);
  const std::string file = fmt::format("{}.{}", name, extension);
  if (auto stored = StoreFile(folder_ / file, input); !stored) return stored;
  Json json = ToJson(finding);
  json["format"] = "weightproof.finding.v1";
  json["file"] = file;
  json["size"] = input.size();
  json["target"] = provenance.target;
  json["engine"] = provenance.engine;
  json["commit"] = provenance.commit;
  json["flags"] = provenance.flags;
  json["seed"] = std::to_string(provenance.seed);
  json["cpu"] = DescribeCpu();
  json["found_at"] = Now();
  json["repro"] =
      Substituted(provenance.repro, fs::absolute(folder_ / file).string());
  const std::string text =
      json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  auto stored = StoreFile(folder_ / (name + ".json"), {bytes, text.size()});
  if (stored) buckets_.insert(BucketOf(finding));
  return stored;
}

std::string DescribeCpu() {
  std::ifstream in("/proc/cpuinfo");
  std::string line, model = "unknown processor", sets;
  while (std::getline(in, line)) {
    const std::size_t colon = line.find(": ");
    if (colon == line.npos) continue;
    if (line.starts_with("model name")) model = line.substr(colon + 2);
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(colon + 2));
    for (std::string word; words >> word;) {
      if (word == "avx2" || word == "fma" || word == "f16c" ||
          word.starts_with("avx512") || word.starts_with("avx_vnni")) {
        sets += (sets.empty() ? "" : " ") + word;
      }
    }
    break;
  }
  return model + "; " + sets;
}

}  // namespace weightproof::fuzzers
