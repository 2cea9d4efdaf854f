// Vectors as JSON: the pieces that loading and building share.
#ifndef WEIGHTPROOF_CONFORMANCE_VECTOR_JSON_H_
#define WEIGHTPROOF_CONFORMANCE_VECTOR_JSON_H_

#include <expected>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/vector.h"
#include "corpus/bytes.h"

namespace weightproof::conformance {

// Name of the format, member "format" of every vector file.
inline constexpr const char* kVectorFormat = "weightproof.vectors.v1";

// What is wrong with a JSON value, and where: pointer is relative to the value
// that was converted ("/bytes/0/hex", or "" for the value itself).
struct JsonProblem {
  std::string pointer;
  std::string message;
};

// A chunk list [{"hex"} | {"repeat","n"} | {"zero"}] <-> bytes. Takes any
// JSON; nothing is allocated beyond the text itself.
std::expected<corpus::Bytes, JsonProblem> BytesFromJson(const Json& chunks);
Json BytesToJson(const corpus::Bytes& bytes);

// One vector. The value must satisfy definitions/vector of the schema; what a
// schema cannot say (hex digits, expectations that contradict themselves) is
// checked here.
std::expected<Vector, JsonProblem> VectorFromJson(const Json& json);
Json VectorToJson(const Vector& vector);

// A whole file: one vector per line, members in a fixed order, a newline at
// the end; equal vectors give equal text.
std::string VectorFileText(const VectorSet& set);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_VECTOR_JSON_H_
