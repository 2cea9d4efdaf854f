// What an implementation answered to one vector: everything the judge needs,
// as the journal keeps it.
#ifndef WEIGHTPROOF_CONFORMANCE_CASE_RECORD_H_
#define WEIGHTPROOF_CONFORMANCE_CASE_RECORD_H_

#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace weightproof::conformance {

using Json = nlohmann::json;

// What happened instead of an answer.
struct Fate {
  // crash, hang, out-of-memory, protocol-error, nondeterministic;
  // "interrupted" if the runner was told to stop (never journaled).
  std::string verdict;
  std::string signal;  // crash: "SIGSEGV", "exit 3"
  std::string detail;
  std::string stderr_tail;
  bool by_wall_clock = false;  // a hang that used no CPU time
};

// An answer as received, without its id, or a fate.
struct Reply {
  Json answer;           // null if there is a fate
  std::string raw;       // the line as received, id included; may be empty
  std::uint64_t id = 0;  // of the request that raw answers
  std::optional<Fate> fate;
  bool operator==(const Reply& other) const;
};

struct CaseRecord {
  std::string vector;
  std::string variant;
  Reply reply;
  std::vector<Reply> tensors;  // gguf.tensor after an accepted gguf.parse
  // The same request again: in the same process, and in a second one. Nothing
  // if it was not asked.
  std::optional<Reply> again;
  std::optional<Reply> second;
  // The runner found the vector's file changed afterwards.
  bool file_modified = false;
  // Not asked at all, and why.
  std::string not_asked;
};

// One journal line without a newline. second alone makes a line of its own
// (SecondToLine), as it comes from another process, later.
std::string RecordToLine(const std::string& implementation,
                         const CaseRecord& record);
std::string SecondToLine(const std::string& implementation,
                         const CaseRecord& record);
// Adds a line to a record of the same vector and variant. The error says what
// is malformed.
std::expected<CaseRecord, std::string> RecordFromJson(const Json& line);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_CASE_RECORD_H_
