#include "conformance/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace weightproof::conformance {
namespace {

constexpr std::array<std::string_view, 4> kVerdicts = {"accept", "reject",
                                                       "unsupported", "limit"};
constexpr std::array<std::string_view, 3> kProfiles = {"spec", "ggml",
                                                       "candle"};

// Depth of brackets outside strings; text need not be valid JSON.
bool TooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

const Json* Find(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

std::unexpected<std::string> Wrong(std::string what) {
  return std::unexpected(std::move(what));
}

std::expected<std::string, std::string> StringMember(const Json& object,
                                                     const char* name) {
  const Json* value = Find(object, name);
  if (value == nullptr) return Wrong(fmt::format("\"{}\" is missing", name));
  if (!value->is_string()) {
    return Wrong(fmt::format("\"{}\" is not a string", name));
  }
  return value->get<std::string>();
}

std::expected<std::vector<std::string>, std::string> ListMember(
    const Json& object, const char* name) {
  const Json* value = Find(object, name);
  std::vector<std::string> list;
  if (value == nullptr) return list;
  if (!value->is_array()) {
    return Wrong(fmt::format("\"{}\" is not a list", name));
  }
  for (const Json& item : *value) {
    if (!item.is_string()) {
      return Wrong(
          fmt::format("\"{}\" has an element that is not a string", name));
    }
    list.push_back(item.get<std::string>());
  }
  return list;
}

std::expected<void, std::string> ReadCaps(const Json& answer, Hello& hello) {
  const Json* caps = Find(answer, "caps");
  if (caps == nullptr) return {};
  if (!caps->is_object()) return Wrong("\"caps\" is not an object");
  for (const auto& [name, value] : caps->items()) {
    if (!value.is_number_unsigned()) {
      return Wrong(fmt::format("\"caps.{}\" is not an unsigned integer", name));
    }
    hello.caps[name] = value.get<std::uint64_t>();
  }
  return {};
}

std::expected<void, std::string> ReadProfile(const Json& answer, Hello& hello) {
  const Json* profile = Find(answer, "profile");
  if (profile == nullptr) return {};
  if (!profile->is_string() ||
      std::ranges::find(kProfiles, profile->get<std::string>()) ==
          kProfiles.end()) {
    return Wrong("\"profile\" is not null, spec, ggml or candle");
  }
  hello.profile = profile->get<std::string>();
  return {};
}

// rule and offset are optional, and null says the same.
std::expected<void, std::string> ReadFinding(const Json& body, Answer& answer) {
  if (const Json* rule = Find(body, "rule")) {
    if (!rule->is_string()) return Wrong("\"rule\" is not a string");
    answer.rule = rule->get<std::string>();
  }
  if (const Json* offset = Find(body, "offset")) {
    const bool negative = !offset->is_number_unsigned() &&
                          offset->is_number_integer() &&
                          offset->get<std::int64_t>() < 0;
    if (!offset->is_number_integer() || negative) {
      return Wrong("\"offset\" is not an unsigned integer");
    }
    answer.offset = offset->get<std::uint64_t>();
  }
  return {};
}

}  // namespace

bool Hello::Offers(std::string_view operation) const {
  return std::ranges::find(operations, operation) != operations.end();
}

bool Hello::Knows(std::string_view verdict) const {
  return std::ranges::find(verdicts, verdict) != verdicts.end();
}

std::expected<Json, std::string> ParseUntrusted(std::string_view text) {
  if (TooDeep(text)) {
    return Wrong(fmt::format("nested deeper than {} levels", kMaxJsonDepth));
  }
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    return Wrong(fmt::format("not JSON: {}", error.what()));
  }
}

std::string HelloRequest() {
  return fmt::format(R"({{"id":0,"op":"hello","protocol":{}}})",
                     kProtocolVersion);
}

std::expected<Hello, std::string> ParseHello(const Json& answer) {
  if (!answer.is_object()) return Wrong("hello is not an object");
  if (answer.value("id", Json()) != Json(0)) return Wrong("\"id\" is not 0");
  if (answer.value("protocol", Json()) != Json(kProtocolVersion)) {
    return Wrong(fmt::format("\"protocol\" is not {}", kProtocolVersion));
  }
  Hello hello;
  const auto read = [&](const char* name, std::string& out) -> std::string {
    auto value = StringMember(answer, name);
    if (!value) return value.error();
    out = std::move(*value);
    return "";
  };
  const auto read_list = [&](const char* name,
                             std::vector<std::string>& out) -> std::string {
    auto value = ListMember(answer, name);
    if (!value) return value.error();
    out = std::move(*value);
    return "";
  };
  for (const std::string& problem :
       {read("name", hello.name), read("version", hello.version),
        read("language", hello.language),
        read_list("operations", hello.operations),
        read_list("verdicts", hello.verdicts), read_list("dump", hello.dump),
        read_list("variants", hello.variants)}) {
    if (!problem.empty()) return Wrong(problem);
  }
  if (hello.operations.empty()) return Wrong("\"operations\" is empty");
  if (auto caps = ReadCaps(answer, hello); !caps) return Wrong(caps.error());
  if (auto read_it = ReadProfile(answer, hello); !read_it) {
    return Wrong(read_it.error());
  }
  if (hello.verdicts.empty()) hello.verdicts = {"accept", "reject"};
  return hello;
}

std::expected<Answer, std::string> AnswerFromJson(Json json) {
  if (!json.is_object()) return Wrong("an answer is not an object");
  Answer answer;
  answer.body = std::move(json);
  const Json& body = answer.body;
  auto status = StringMember(body, "status");
  if (!status) return Wrong(status.error());
  if (const Json* detail = Find(body, "detail"); detail != nullptr) {
    answer.detail =
        detail->is_string() ? detail->get<std::string>() : detail->dump();
  }
  if (*status == "not-implemented") {
    answer.status = AnswerStatus::kNotImplemented;
    return answer;
  }
  if (*status == "not-run") {
    answer.status = AnswerStatus::kNotRun;
    auto why = StringMember(body, "why");
    if (!why) return Wrong("a not-run answer without \"why\"");
    answer.detail = std::move(*why);
    return answer;
  }
  if (*status == "error") {
    answer.status = AnswerStatus::kError;
    return answer;
  }
  if (*status != "ok") return Wrong(fmt::format("unknown status {}", *status));
  answer.status = AnswerStatus::kOk;
  auto verdict = StringMember(body, "verdict");
  if (!verdict) return Wrong(verdict.error());
  if (std::ranges::find(kVerdicts, *verdict) == kVerdicts.end()) {
    return Wrong(fmt::format("unknown verdict {}", *verdict));
  }
  answer.verdict = std::move(*verdict);
  if (auto finding = ReadFinding(body, answer); !finding) {
    return Wrong(finding.error());
  }
  return answer;
}

std::expected<Answer, std::string> ParseAnswer(std::string_view line,
                                               std::uint64_t id) {
  auto json = ParseUntrusted(line);
  if (!json) return Wrong(json.error());
  if (!json->is_object()) return Wrong("an answer is not an object");
  const auto it = json->find("id");
  if (it == json->end()) return Wrong("an answer without \"id\"");
  if (*it != Json(id)) {
    return Wrong(
        fmt::format("the answer to request {} has id {}", id,
                    it->dump(-1, ' ', true, Json::error_handler_t::replace)));
  }
  json->erase(it);
  return AnswerFromJson(std::move(*json));
}

}  // namespace weightproof::conformance
