// The driver protocol, version 1: JSON Lines on stdin and stdout. PROTOCOL.md
// is its full text for people who write drivers.
#ifndef WEIGHTPROOF_CONFORMANCE_PROTOCOL_H_
#define WEIGHTPROOF_CONFORMANCE_PROTOCOL_H_

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weightproof::conformance {

using Json = nlohmann::json;

inline constexpr int kProtocolVersion = 1;
// Nesting of JSON values that either side has to take: an array of 64 levels
// in a dump is two JSON levels each.
inline constexpr int kMaxJsonDepth = 192;
// Longest answer line.
inline constexpr std::size_t kMaxAnswerBytes = 64u << 20;

// What a driver says of itself.
struct Hello {
  std::string name;
  std::string version;
  std::string language;
  std::vector<std::string> operations;
  std::vector<std::string> verdicts;  // those it can tell apart
  std::vector<std::string> dump;      // dump fields it reports
  std::vector<std::string> variants;
  std::optional<std::string> profile;
  // Published caps ("string", "array", "kv", "tensors", "nesting", "n_dims",
  // "dim"), where a reader has them.
  std::map<std::string, std::uint64_t> caps;

  bool Offers(std::string_view operation) const;
  bool Knows(std::string_view verdict) const;
};

// Parses JSON that came from an untrusted process. The error says what is
// wrong: not JSON, not UTF-8, nested deeper than kMaxJsonDepth.
std::expected<Json, std::string> ParseUntrusted(std::string_view text);

// The request {"id":0,"op":"hello","protocol":1}, without a newline.
std::string HelloRequest();
// The error names the member that is missing or has the wrong type.
std::expected<Hello, std::string> ParseHello(const Json& answer);

enum class AnswerStatus { kOk, kNotImplemented, kNotRun, kError };

// A well-formed answer to a request.
struct Answer {
  AnswerStatus status = AnswerStatus::kError;
  std::string verdict;  // accept, reject, unsupported, limit if kOk
  std::optional<std::string> rule;
  std::optional<std::uint64_t> offset;
  std::string detail;  // or why, for kNotRun
  Json body;           // the whole object, without id
};

// Checks an answer to the request of that id. The error is the reason of a
// protocol-error.
std::expected<Answer, std::string> ParseAnswer(std::string_view line,
                                               std::uint64_t id);
// The same for an answer without an id, as a journal or a recording has it.
std::expected<Answer, std::string> AnswerFromJson(Json body);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_PROTOCOL_H_
