#include "conformance/vector_json.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace weightproof::conformance {
namespace {

using corpus::Bytes;
using corpus::Literal;
using corpus::Repeat;
using corpus::Zero;
using OrderedJson = nlohmann::ordered_json;

std::unexpected<JsonProblem> Problem(std::string pointer, std::string what) {
  return std::unexpected(JsonProblem{std::move(pointer), std::move(what)});
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::optional<std::vector<std::uint8_t>> FromHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::uint8_t> out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = HexDigit(text[i]), low = HexDigit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return out;
}

std::string ToHex(const std::vector<std::uint8_t>& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::optional<std::vector<std::uint8_t>> HexMember(const Json& object,
                                                   const char* name) {
  const auto it = object.find(name);
  if (it == object.end() || !it->is_string()) return std::nullopt;
  return FromHex(it->get_ref<const std::string&>());
}

std::optional<std::uint64_t> CountMember(const Json& object, const char* name) {
  const auto it = object.find(name);
  if (it == object.end() || !it->is_number_integer()) return std::nullopt;
  if (it->is_number_unsigned()) return it->get<std::uint64_t>();
  const auto value = it->get<std::int64_t>();
  if (value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

std::expected<corpus::Chunk, JsonProblem> ChunkFromJson(const Json& json) {
  if (!json.is_object()) return Problem("", "a chunk must be an object");
  if (json.contains("hex") && json.size() == 1) {
    auto bytes = HexMember(json, "hex");
    if (!bytes) return Problem("/hex", "not an even number of digits 0-9a-f");
    return Literal{std::move(*bytes)};
  }
  if (json.contains("repeat") && json.contains("n") && json.size() == 2) {
    auto unit = HexMember(json, "repeat");
    if (!unit || unit->empty()) {
      return Problem("/repeat", "not a positive even number of digits 0-9a-f");
    }
    const auto n = CountMember(json, "n");
    if (!n) return Problem("/n", "not an unsigned integer");
    return Repeat{std::move(*unit), *n};
  }
  if (json.contains("zero") && json.size() == 1) {
    const auto n = CountMember(json, "zero");
    if (!n) return Problem("/zero", "not an unsigned integer");
    return Zero{*n};
  }
  return Problem("", "a chunk is {hex}, {repeat, n} or {zero}");
}

std::expected<Expectation, JsonProblem> ExpectationFromJson(const Json& json) {
  Expectation out;
  out.verdict = json.at("verdict").get<std::string>();
  if (json.contains("rule") && !json["rule"].is_null()) {
    out.rule = json["rule"].get<std::string>();
  }
  if (json.contains("offset") && !json["offset"].is_null()) {
    out.offset = json["offset"].get<std::uint64_t>();
  }
  if (json.contains("file")) out.file = json["file"].get<std::uint64_t>();
  if (json.contains("policies")) {
    out.policies = json["policies"].get<std::vector<std::string>>();
  }
  if (json.contains("dump")) out.dump = json["dump"];
  if (json.contains("answer")) out.answer = json["answer"];
  if (out.verdict == "accept" && out.rule) {
    return Problem("/rule", "an accepted file has no rule");
  }
  if (out.offset && !out.rule) {
    return Problem("/offset", "an offset needs a rule");
  }
  return out;
}

Json ExpectationToJson(const Expectation& expectation) {
  Json out{{"verdict", expectation.verdict}};
  if (expectation.rule) out["rule"] = *expectation.rule;
  if (expectation.offset) out["offset"] = *expectation.offset;
  if (expectation.file) out["file"] = *expectation.file;
  if (!expectation.policies.empty()) out["policies"] = expectation.policies;
  if (!expectation.dump.is_null()) out["dump"] = expectation.dump;
  if (!expectation.answer.is_null()) out["answer"] = expectation.answer;
  return out;
}

std::expected<void, JsonProblem> ReadFiles(const Json& json, Vector& out) {
  std::size_t index = 0;
  for (const Json& file : json) {
    const std::string at = fmt::format("/files/{}", index++);
    NamedFile named{file.at("name").get<std::string>(), {}};
    auto bytes = BytesFromJson(file.at("bytes"));
    if (!bytes) {
      return Problem(at + "/bytes" + bytes.error().pointer,
                     bytes.error().message);
    }
    named.bytes = std::move(*bytes);
    for (const NamedFile& other : out.files) {
      if (other.name == named.name) {
        return Problem(at + "/name", "repeated in this vector");
      }
    }
    out.files.push_back(std::move(named));
  }
  return {};
}

// What a vector of the GGUF format must say beyond the schema.
std::expected<void, JsonProblem> CheckGguf(const Json& json,
                                           const Vector& vector) {
  const bool is_set = vector.operation == "gguf.open_set";
  if (is_set != json.contains("files") || is_set == json.contains("bytes")) {
    return Problem("", is_set ? "gguf.open_set takes files, not bytes"
                              : "a GGUF operation on one file takes bytes");
  }
  bool accepted = false;
  for (const char* profile : {"spec", "ggml", "candle"}) {
    const auto it = vector.expect.find(profile);
    if (it == vector.expect.end()) {
      return Problem("/expect", fmt::format("profile {} is missing", profile));
    }
    const Expectation& expectation = it->second;
    const std::string at = fmt::format("/expect/{}", profile);
    if (expectation.verdict == "bound" || expectation.verdict == "n/a") {
      return Problem(at + "/verdict", "not a verdict of a GGUF vector");
    }
    if (expectation.verdict != "accept" && !expectation.rule) {
      return Problem(at, "a verdict other than accept names its rule");
    }
    const bool is_policy = expectation.verdict == "policy";
    if (is_policy && expectation.policies.empty()) {
      return Problem(at,
                     "a policy row lists the rule in policies, so that "
                     "both outcomes are known");
    }
    accepted = accepted || is_policy || expectation.verdict == "accept";
  }
  // One value or one tensor is expected in the answer, not as a dump; a data
  // check refuses files that every reader parses.
  const bool dump_is_free = vector.operation == "gguf.get" ||
                            vector.operation == "gguf.tensor" ||
                            vector.operation == "gguf.check";
  if (!dump_is_free && accepted == vector.dump.is_null()) {
    return Problem("/dump", accepted ? "accepted under some profile, but "
                                       "there is no dump"
                                     : "no profile accepts, so there can be "
                                       "no dump");
  }
  return {};
}

}  // namespace

std::expected<Bytes, JsonProblem> BytesFromJson(const Json& chunks) {
  if (!chunks.is_array()) return Problem("", "bytes are a list of chunks");
  Bytes out;
  std::size_t index = 0;
  for (const Json& json : chunks) {
    auto chunk = ChunkFromJson(json);
    if (!chunk) {
      return Problem(fmt::format("/{}{}", index, chunk.error().pointer),
                     chunk.error().message);
    }
    out.chunks.push_back(std::move(*chunk));
    ++index;
  }
  return out;
}

Json BytesToJson(const Bytes& bytes) {
  Json out = Json::array();
  for (const corpus::Chunk& chunk : bytes.chunks) {
    if (const auto* literal = std::get_if<Literal>(&chunk)) {
      if (!literal->bytes.empty()) {
        out.push_back({{"hex", ToHex(literal->bytes)}});
      }
    } else if (const auto* zero = std::get_if<Zero>(&chunk)) {
      if (zero->n > 0) out.push_back({{"zero", zero->n}});
    } else {
      const auto& repeat = std::get<Repeat>(chunk);
      if (repeat.n > 0 && !repeat.unit.empty()) {
        out.push_back({{"repeat", ToHex(repeat.unit)}, {"n", repeat.n}});
      }
    }
  }
  return out;
}

std::expected<Vector, JsonProblem> VectorFromJson(const Json& json) {
  Vector out;
  out.id = json.at("id").get<std::string>();
  out.format = json.at("format").get<std::string>();
  out.operation = json.at("operation").get<std::string>();
  out.rule = json.at("rule").get<std::string>();
  out.twin = json.value("twin", "");
  out.notes = json.value("notes", "");
  if (json.contains("also")) {
    out.also = json["also"].get<std::vector<std::string>>();
  }
  if (json.contains("request")) out.request = json["request"];
  if (json.contains("dump")) out.dump = json["dump"];
  if (json.contains("variants")) out.variants = json["variants"];
  if (json.contains("bytes")) {
    auto bytes = BytesFromJson(json["bytes"]);
    if (!bytes) {
      return Problem("/bytes" + bytes.error().pointer, bytes.error().message);
    }
    out.bytes = std::move(*bytes);
  }
  if (json.contains("files")) {
    auto read = ReadFiles(json["files"], out);
    if (!read) return std::unexpected(read.error());
  }
  for (const auto& [profile, value] : json.at("expect").items()) {
    auto expectation = ExpectationFromJson(value);
    if (!expectation) {
      return Problem("/expect/" + profile + expectation.error().pointer,
                     expectation.error().message);
    }
    out.expect.emplace(profile, std::move(*expectation));
  }
  if (out.format == "gguf") {
    auto checked = CheckGguf(json, out);
    if (!checked) return std::unexpected(checked.error());
  }
  return out;
}

Json VectorToJson(const Vector& vector) {
  return Json::parse(VectorFileText({"0.0.0", {vector}}))["vectors"][0];
}

namespace {

OrderedJson Ordered(const Json& json) {
  return OrderedJson::parse(json.dump());
}

OrderedJson OrderedVector(const Vector& vector) {
  OrderedJson out;
  out["id"] = vector.id;
  out["format"] = vector.format;
  out["operation"] = vector.operation;
  out["rule"] = vector.rule;
  if (!vector.twin.empty()) out["twin"] = vector.twin;
  if (vector.format == "gguf") {
    if (vector.files.empty()) {
      out["bytes"] = Ordered(BytesToJson(vector.bytes));
    } else {
      for (const NamedFile& file : vector.files) {
        OrderedJson named;
        named["name"] = file.name;
        named["bytes"] = Ordered(BytesToJson(file.bytes));
        out["files"].push_back(std::move(named));
      }
    }
  }
  if (!vector.request.is_null()) out["request"] = Ordered(vector.request);
  for (const char* profile : {"spec", "ggml", "candle"}) {
    const auto it = vector.expect.find(profile);
    if (it == vector.expect.end()) continue;
    out["expect"][profile] = Ordered(ExpectationToJson(it->second));
  }
  if (!vector.dump.is_null()) out["dump"] = Ordered(vector.dump);
  if (!vector.variants.is_null()) out["variants"] = Ordered(vector.variants);
  if (!vector.also.empty()) out["also"] = vector.also;
  if (!vector.notes.empty()) out["notes"] = vector.notes;
  return out;
}

}  // namespace

std::string VectorFileText(const VectorSet& set) {
  std::string out =
      fmt::format("{{\"format\":\"{}\",\"set_version\":\"{}\",\"vectors\":[\n",
                  kVectorFormat, set.version);
  for (std::size_t i = 0; i < set.vectors.size(); ++i) {
    out += OrderedVector(set.vectors[i]).dump();
    out += i + 1 < set.vectors.size() ? ",\n" : "\n";
  }
  return out + "]}\n";
}

}  // namespace weightproof::conformance
