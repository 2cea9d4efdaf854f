// The API as a caller may use it: any order of calls, any prefix.
#include <array>

#include "fuzzers/gguf/oracle.h"
#include "fuzzers/gguf/oracle_difference.h"
#include "fuzzers/gguf/oracle_sets.h"
#include "reference/rule.h"

namespace weightproof::fuzzers {
namespace {

constexpr std::size_t kScriptBytes = 24;
constexpr int kMostCalls = 8;

class Script {
 public:
  Script(const Subjects& subjects, ByteSpan input)
      : subjects_(subjects),
        script_(input.first(std::min(input.size(), kScriptBytes))),
        file_(input.begin() + static_cast<std::ptrdiff_t>(
                                  std::min(input.size(), kScriptBytes)),
              input.end()) {}

  Execution Run() {
    for (int i = 0; i < kMostCalls && !script_.empty(); ++i) Call();
    // What came before must not change what a plain parse says.
    Parse({}, file_);
    execution_.accepted =
        expected_.status == WP_STATUS_OK && expected_.verdict == WP_ACCEPT;
    if (expected_.rule != nullptr) {
      const auto rule = FindRule(expected_.rule);
      execution_.rule = expected_.rule;
      execution_.stage = rule ? Rules()[*rule].stage : "unknown";
    }
    return std::move(execution_);
  }

 private:
  void Call() {
    constexpr std::array<const char*, 4> kProfiles = {"spec", "ggml", "candle",
                                                      "none such"};
    GgufQuestion question;
    const std::uint8_t choice = script_.Byte();
    question.profile = kProfiles[choice >> 6];
    question.require_keys = (choice & 1) != 0;
    Bytes part = file_;
    switch ((choice >> 1) & 7) {
      case 0:
      case 1:
      case 2: {  // the first bytes of the file
        part.resize(script_.Number(2) % (file_.size() + 1));
        part.shrink_to_fit();
        question.file_size = file_.size();
        break;
      }
      case 3:  // a file that ends here
        part.resize(script_.Number(2) % (file_.size() + 1));
        part.shrink_to_fit();
        break;
      case 4:  // a file that is said to be larger, by far
        question.file_size = script_.Number(8);
        break;
      case 5:  // a GGUF that starts somewhere
        question.base = script_.Number(2) % (file_.size() + 8);
        break;
      case 6:
        question.base = script_.Number(8);
        break;
      default:
        return (choice & 1) != 0 ? Parts() : Set(question.profile);
    }
    Parse(question, part);
    Remember();
  }

  void Parse(const GgufQuestion& question, ByteSpan bytes) {
    if (execution_.finding) return;
    AskGguf(*subjects_.trusted, bytes, question, expected_);
    for (const wp_implementation* tested : subjects_.tested) {
      AskGguf(*tested, bytes, question, got_);
      execution_.finding = CompareGguf(*tested, expected_, got_, true);
      if (execution_.finding) return;
    }
  }

  void Parts() {
    if (execution_.finding) return;
    for (const wp_implementation* tested : subjects_.tested) {
      execution_.finding = CompareGgufParts(*subjects_.trusted, *tested, file_);
      if (execution_.finding) return;
    }
  }

  // Copies of the file as a split set.
  void Set(const char* profile) {
    if (execution_.finding) return;
    Random random(script_.Number(3) ^ HashBytes(file_));
    const std::vector<SetFile> files = MakeGgufSet(file_, random);
    for (const wp_implementation* tested : subjects_.tested) {
      execution_.finding =
          CompareGgufSet(*subjects_.trusted, *tested, files, profile);
      if (execution_.finding) return;
    }
  }

  void Remember() {
    if (used_ == execution_.features.size()) return;
    std::uint64_t seen = static_cast<std::uint64_t>(expected_.status) << 8 |
                         static_cast<std::uint64_t>(expected_.verdict);
    if (expected_.rule != nullptr) {
      const auto rule = FindRule(expected_.rule);
      seen |= std::uint64_t{rule ? *rule : 0xffffu} << 16;
    }
    execution_.features[used_++] = Random(seen).Next() | 1;
  }

  const Subjects& subjects_;
  Entropy script_;
  Bytes file_;
  GgufAnswer expected_, got_;
  Execution execution_;
  std::size_t used_ = 0;
};

}  // namespace

Execution CheckGgufScript(const Subjects& subjects, ByteSpan input,
                          Depth /*depth*/) {
  return Script(subjects, input).Run();
}

}  // namespace weightproof::fuzzers
