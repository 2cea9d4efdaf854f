// What is wrong with the data of a model file: `check --data`.
#ifndef WEIGHTPROOF_REPORTS_CLI_CHECK_DATA_H_
#define WEIGHTPROOF_REPORTS_CLI_CHECK_DATA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference/rule.h"

namespace weightproof::cli {

using Json = nlohmann::json;

// All that one rule finds in one tensor.
struct DataFinding {
  RuleIndex rule = kNoRule;  // gguf.values.*
  std::uint64_t tensor = 0;  // index in the table
  std::string name;          // of the tensor, as in the file
  std::uint64_t block = 0;   // first block with it; 0 if of the whole tensor
  std::uint64_t offset = 0;  // in the file
  std::uint64_t count = 0;   // scales with it; 1 if of the whole tensor

  bool operator==(const DataFinding&) const = default;
};

struct DataCheck {
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;            // of tensors that were looked at
  std::vector<DataFinding> findings;  // by tensor, then offset
  // The two readers differ, in words; empty if they agree or one was asked.
  std::string disagreement;
};

// Told how many bytes of how many were looked at, from any thread.
using DataProgress = std::function<void(std::uint64_t, std::uint64_t)>;

// Looks at the data of every tensor of a file of which bytes is a mapping, on
// all cores; memory is given back as it goes, so that a file may be larger than
// memory. Small files are read by the reference too. trusted: by the reference
// alone, on one core. Nothing if neither spec nor ggml accepts the file.
std::optional<DataCheck> CheckData(std::span<const std::uint8_t> bytes,
                                   bool trusted, const DataProgress& progress);

// {"tensors","bytes","findings":[{rule,severity,tensor,name,block,offset,
// count}]}; a name that is not UTF-8 is shown with replacements.
Json ToJson(const DataCheck& check);

// "[######......] 45 %  NAME" on standard error if that is a terminal; gone
// when the object is.
class DataProgressBar {
 public:
  explicit DataProgressBar(std::string name);
  ~DataProgressBar();
  DataProgressBar(const DataProgressBar&) = delete;
  DataProgressBar& operator=(const DataProgressBar&) = delete;

  DataProgress Callback();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The line without the cursor's movements, at most width columns.
std::string DataProgressLine(std::uint64_t done, std::uint64_t total,
                             const std::string& name, std::size_t width);

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_CHECK_DATA_H_
