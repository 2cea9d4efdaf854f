// Vectors: what is asked and what must come back, as committed under
// conformance/vectors/ and described by conformance/vector.schema.json.
#ifndef WEIGHTPROOF_CONFORMANCE_VECTOR_H_
#define WEIGHTPROOF_CONFORMANCE_VECTOR_H_

#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "corpus/bytes.h"

namespace weightproof::conformance {

using Json = nlohmann::json;

// What one profile expects. verdict is a registry cell: accept, reject,
// unsupported, limit, policy, bound or n/a.
struct Expectation {
  std::string verdict;
  std::optional<std::string> rule;      // the rule found, null if none
  std::optional<std::uint64_t> offset;  // its byte offset, if it has one
  std::optional<std::uint64_t> file;    // gguf.open_set: index of its file
  std::vector<std::string> policies;    // rules accepted under policy, in order
  Json dump;    // null, or the profile's own dump where it differs from dump
  Json answer;  // null, or output fields of a numeric operation ("y", ...)
};

struct NamedFile {
  std::string name;
  corpus::Bytes bytes;
};

struct Vector {
  std::string id;                // "gguf.align.value.zero-1", "q8r-01"
  std::string format;            // "gguf", "q8_0"
  std::string operation;         // "gguf.parse", "q8_0.quantize", ...
  std::string rule;              // the one rule it exercises
  std::string twin;              // id of the clean counterpart, or empty
  corpus::Bytes bytes;           // the file; empty for numeric operations
  std::vector<NamedFile> files;  // gguf.open_set
  Json request;  // further request fields: n, rows, options, buffers
                 // as chunk lists
  std::map<std::string, Expectation> expect;  // profile -> expectation
  Json dump;      // canonical dump if some profile accepts, else null
  Json variants;  // numeric: variant name -> answer that differs
  std::vector<std::string> also;  // rules that come first under a profile
  std::string notes;
};

struct VectorSet {
  std::string version;  // SemVer of the set
  std::vector<Vector> vectors;
};

// What is wrong with a vector file: the file, the JSON pointer, the reason.
struct VectorError {
  std::filesystem::path file;
  std::string pointer;
  std::string message;
};

// Loads every *.json under dir, in name order. All of them must satisfy the
// schema; ids must be unique; twins and rules must exist.
std::expected<VectorSet, VectorError> LoadVectors(
    const std::filesystem::path& dir);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_VECTOR_H_
