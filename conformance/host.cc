#include "conformance/host.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "conformance/dump_value.h"
#include "conformance/protocol.h"
#include "reference/q8_0/environment.h"

namespace weightproof::conformance {
namespace {

constexpr std::array<std::string_view, 15> kOperations = {
    "gguf.parse",      "gguf.tensor",  "gguf.get",      "gguf.open_set",
    "gguf.check",      "gguf.write",   "q8_0.quantize", "q8_1.quantize",
    "q8_0.dequantize", "q8_0.dot",     "q8_0.matvec",   "q8_0.validate",
    "q8_1.validate",   "f16.from_f32", "f16.to_f32"};

std::vector<std::string> List(const char* const* list) {
  std::vector<std::string> strings;
  for (; list != nullptr && *list != nullptr; ++list) strings.push_back(*list);
  return strings;
}

std::string OrEmpty(const char* text) { return text == nullptr ? "" : text; }

// Text that came over the C border, as valid JSON text.
Json Text(const char* text, std::size_t max) {
  const std::string_view view(text, strnlen(text, max));
  return IsValidUtf8(view) ? Json(view) : Json(BytesToHex(view));
}

const char* VerdictName(std::int32_t verdict) {
  switch (verdict) {
    case WP_ACCEPT:
      return "accept";
    case WP_REJECT:
      return "reject";
    case WP_UNSUPPORTED:
      return "unsupported";
    case WP_LIMIT:
      return "limit";
    default:
      return nullptr;
  }
}

}  // namespace

Json ErrorAnswer(std::string_view detail) {
  return {{"status", "error"}, {"detail", detail}};
}

Json NotRunAnswer(std::string_view why) {
  return {{"status", "not-run"}, {"why", why}};
}

wp_answer EmptyAnswer() {
  wp_answer answer = {};
  answer.offset = WP_NO_OFFSET;
  return answer;
}

Json FromAbi(const wp_answer& answer) {
  const Json detail = Text(answer.detail, sizeof answer.detail);
  if (answer.status == WP_STATUS_NOT_IMPLEMENTED) {
    return {{"status", "not-implemented"}, {"detail", detail}};
  }
  if (answer.status == WP_STATUS_NOT_RUN) {
    return {{"status", "not-run"},
            {"why", detail.get<std::string>().empty() ? Json("no reason given")
                                                      : detail}};
  }
  const char* verdict = VerdictName(answer.verdict);
  if (answer.status != WP_STATUS_OK || verdict == nullptr) {
    return ErrorAnswer(
        fmt::format("status {}, verdict {}", answer.status, answer.verdict));
  }
  Json json = {{"status", "ok"}, {"verdict", verdict}};
  if (answer.verdict == WP_ACCEPT) return json;
  if (answer.rule != nullptr) json["rule"] = Text(answer.rule, 256);
  if (answer.offset != WP_NO_OFFSET) json["offset"] = answer.offset;
  if (!detail.get<std::string>().empty()) json["detail"] = detail;
  return json;
}

bool Offers(const wp_implementation& i, std::string_view operation) {
  const std::array<bool, 15> offered = {
      i.gguf_parse != nullptr,      i.gguf_tensor != nullptr,
      i.gguf_get != nullptr,        i.gguf_open_set != nullptr,
      i.gguf_check != nullptr,      i.gguf_write != nullptr,
      i.q8_0_quantize != nullptr,   i.q8_1_quantize != nullptr,
      i.q8_0_dequantize != nullptr, i.q8_0_dot != nullptr,
      i.q8_0_matvec != nullptr,     i.q8_0_validate != nullptr,
      i.q8_1_validate != nullptr,   i.f16_from_f32 != nullptr,
      i.f16_to_f32 != nullptr};
  for (std::size_t k = 0; k < kOperations.size(); ++k) {
    if (kOperations[k] == operation) return offered[k];
  }
  return false;
}

Host::Host(const wp_implementation* implementation, std::string leak_at_load)
    : implementation_(implementation),
      leak_at_load_(std::move(leak_at_load)),
      dump_fields_(List(implementation->dump_fields)) {
  for (const std::string_view operation : kOperations) {
    if (Offers(*implementation, operation)) {
      operations_.emplace_back(operation);
    }
  }
}

Json Host::Hello() const {
  const wp_implementation& i = *implementation_;
  Json hello = {{"protocol", kProtocolVersion},
                {"name", OrEmpty(i.name)},
                {"version", OrEmpty(i.version)},
                {"language", OrEmpty(i.language)},
                {"operations", operations_},
                {"verdicts", List(i.verdicts)},
                {"dump", dump_fields_},
                {"variants", List(i.variants)},
                {"profile", nullptr}};
  if (i.profile != nullptr) hello["profile"] = i.profile;
  return hello;
}

template <typename Call>
Json Host::Guarded(Call call) {
  q8_0::FpGuard guard;
  Json answer = call();
  const auto faults = guard.CheckAndRestore();
  if (!leak_at_load_.empty()) answer["fp_leak"] = leak_at_load_;
  if (!faults.empty()) answer["fp_leak"] = faults.front().detail;
  return answer;
}

Json Host::Dispatch(const Json& request) {
  if (!request.is_object()) return ErrorAnswer("a request is an object");
  const auto op = request.find("op");
  if (op == request.end() || !op->is_string()) {
    return ErrorAnswer("\"op\" is missing or not a string");
  }
  const auto& name = op->get_ref<const std::string&>();
  if (name == "hello") return Hello();
  if (!Offers(*implementation_, name)) {
    return {{"status", "not-implemented"}};
  }
  return Guarded([&] {
    if (name == "gguf.parse") {
      return HostGgufParse(*implementation_, dump_fields_, request);
    }
    if (name == "gguf.tensor") return HostGgufTensor(*implementation_, request);
    if (name == "gguf.get") return HostGgufGet(*implementation_, request);
    if (name == "gguf.check") return HostGgufCheck(*implementation_, request);
    if (name == "gguf.write") return HostGgufWrite(*implementation_, request);
    if (name == "gguf.open_set") {
      return HostGgufOpenSet(*implementation_, dump_fields_, request);
    }
    return HostNumeric(*implementation_, name, request);
  });
}

std::string Host::Handle(std::string_view line) {
  const auto request = ParseUntrusted(line);
  Json answer = request ? Dispatch(*request) : ErrorAnswer(request.error());
  answer["id"] = nullptr;
  if (request && request->is_object() && request->contains("id")) {
    answer["id"] = request->at("id");
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace weightproof::conformance
