// Writers are judged too: implementations that offer gguf.write get contents
// and write a file, and the trusted reader judges the file.
#ifndef WEIGHTPROOF_CONFORMANCE_WRITERS_H_
#define WEIGHTPROOF_CONFORMANCE_WRITERS_H_

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "conformance/runner.h"
#include "reference/rule.h"

namespace weightproof::conformance {

// What is to be written: conformance/writing/contents.json. dump has "kv" and
// "tensors" as a canonical dump, tensors without offset and size; data holds
// the bytes of each tensor.
struct WriteContent {
  std::string name;
  Json dump;
  std::vector<std::string> data;
};
std::expected<std::vector<WriteContent>, std::string> LoadContents(
    const std::filesystem::path& file);

// A file as the trusted reader finds it.
struct WrittenFile {
  std::string verdict;  // under spec
  RuleIndex rule = kNoRule;
  std::uint64_t offset = 0;
  std::vector<RuleIndex> policies;
  std::vector<RuleIndex> values;  // rules that its data meets
  // First difference from what was to be written; empty if there is none. Keys
  // that the writer adds are none.
  std::string difference;
};

// Judges bytes against the content they should hold.
WrittenFile JudgeWritten(std::span<const std::uint8_t> bytes,
                         const WriteContent& content);

struct WriteRow {
  std::string implementation;
  std::string version;
  std::string content;
  // "written", or why there is no file: "reject: ...", "crash SIGSEGV", ...
  std::string did;
  std::filesystem::path file;  // if written
  std::optional<WrittenFile> judged;

  // The file is accepted, holds what it should, and no rule that is worse than
  // ambiguous speaks of it.
  bool Healthy() const;
};

// Why a file of a writer is not healthy, where that is known:
// conformance/writing/explained.json. implementation and content are globs;
// found is a rule id or the start of a difference.
struct Explanation {
  std::string implementation, content, found, reason;
};
std::expected<std::vector<Explanation>, std::string> LoadExplanations(
    const std::filesystem::path& file);

// The explanation of an unhealthy file; empty if there is none.
std::string Explain(const WriteRow& row,
                    const std::vector<Explanation>& explanations);

// Asks every implementation that options.names selects and that offers
// gguf.write for every content. Files stay in build_dir/written.
// Implementations that cannot run here make one row without content that says
// why.
std::expected<std::vector<WriteRow>, RunError> RunWriters(
    const std::vector<WriteContent>& contents, RunOptions options);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_WRITERS_H_
