// Findings on disk: the input and, beside it, a sidecar that says what it
// shows and how it was found.
#ifndef WEIGHTPROOF_FUZZERS_FINDING_STORE_H_
#define WEIGHTPROOF_FUZZERS_FINDING_STORE_H_

#include <expected>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "fuzzers/entropy.h"
#include "fuzzers/finding.h"

namespace weightproof::fuzzers {

using Json = nlohmann::json;

// How a finding was come by.
struct Provenance {
  std::string target;  // "gguf_diff", or the driver that was fuzzed
  std::string engine;  // "builtin", "libfuzzer", "afl", "driver"
  std::string commit;
  std::string flags;  // compiler and options
  std::uint64_t seed = 0;
  std::string repro;  // command line with {file} for the input's path
};

struct StoredFinding {
  Finding finding;
  std::string bucket;
  std::filesystem::path file;  // the input
};

// A folder of findings, one of each bucket. Everything is on disk when Add
// returns.
class FindingStore {
 public:
  // Makes the folder if it is missing and reads what is there; a sidecar that
  // is not JSON is left alone. The error names the path.
  static std::expected<FindingStore, std::string> Open(
      std::filesystem::path folder);

  bool Has(const Finding& finding) const {
    return buckets_.contains(BucketOf(finding));
  }
  std::size_t size() const { return buckets_.size(); }

  // Nothing happens if the bucket is there already. The error names the path
  // and the cause.
  std::expected<void, std::string> Add(const Finding& finding, ByteSpan input,
                                       std::string_view extension,
                                       const Provenance& provenance);

  // What is there, in name order.
  std::vector<StoredFinding> List() const;

 private:
  explicit FindingStore(std::filesystem::path folder)
      : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
  std::set<std::string> buckets_;
};

Json ToJson(const Finding& finding);
// False if a member is missing or of another type.
bool FromJson(const Json& json, Finding& finding);

// "AMD EPYC ..., avx2 avx512f": the processor and the instruction sets that
// matter here.
std::string DescribeCpu();

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_FINDING_STORE_H_
