// What the built-in GGUF readers say of a file: the raw material of vectors.
#ifndef WEIGHTPROOF_CONFORMANCE_VECTOR_ANSWERS_H_
#define WEIGHTPROOF_CONFORMANCE_VECTOR_ANSWERS_H_

#include <cstdint>
#include <expected>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "corpus/bytes.h"
#include "impls/abi.h"

namespace weightproof::conformance {

using Json = nlohmann::json;

// A file that readers can be shown: in memory while small, else written to a
// temporary sparse file and mapped.
class FileView {
 public:
  static std::expected<FileView, std::string> Make(const corpus::Bytes& bytes);

  FileView(FileView&&) noexcept;
  FileView& operator=(FileView&&) noexcept;
  ~FileView();

  std::span<const std::uint8_t> bytes() const;

 private:
  struct State;
  explicit FileView(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// How to ask: request options of the vector.
struct Question {
  const char* profile = "spec";
  std::uint64_t base = 0;
  bool require_keys = false;
};

struct ReaderAnswer {
  std::string problem;  // why there is no verdict; empty if there is one
  std::string verdict;  // accept, reject, unsupported, limit
  std::optional<std::string> rule;
  std::optional<std::uint64_t> offset;
  std::vector<std::string> policies;
  Json dump;  // null unless accepted
  bool operator==(const ReaderAnswer&) const = default;
};

ReaderAnswer AskParse(const wp_implementation& reader, const FileView& file,
                      const Question& question);

// The answer to gguf.get, its value as the dump; gguf.tensor, its size and
// crc32 as {"size","crc32"}.
ReaderAnswer AskGet(const wp_implementation& reader, const FileView& file,
                    const Question& question, const std::string& key,
                    std::uint32_t type);
ReaderAnswer AskTensor(const wp_implementation& reader, const FileView& file,
                       const Question& question, std::uint64_t index);

// The answer to gguf.check, {"findings"} as its dump, whatever the verdict.
ReaderAnswer AskCheck(const wp_implementation& reader, const FileView& file,
                      const Question& question);

// The answer to gguf.open_set under a profile: as AskParse, without a dump.
// file receives the index of the file that a refusal names.
ReaderAnswer AskOpenSet(const wp_implementation& reader,
                        const std::vector<std::string>& names,
                        const std::vector<FileView>& files, const char* profile,
                        std::uint64_t* file);

// For messages: "reject gguf.kv.key.empty at 24", "accept".
std::string Describe(const ReaderAnswer& answer);

// "u32" -> 4; nothing for another name.
std::optional<std::uint32_t> ValueTypeOf(const std::string& name);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_VECTOR_ANSWERS_H_
