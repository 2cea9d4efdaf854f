#include "conformance/case_record.h"

#include <utility>

namespace weightproof::conformance {
namespace {

Json FateToJson(const Fate& fate) {
  Json json = {{"verdict", fate.verdict}};
  if (!fate.signal.empty()) json["signal"] = fate.signal;
  if (!fate.detail.empty()) json["detail"] = fate.detail;
  if (!fate.stderr_tail.empty()) json["stderr"] = fate.stderr_tail;
  return json;
}

std::string Text(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string Dump(const Json& line) {
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// As members of an object.
std::string ReplyText(const Reply& reply) {
  if (reply.fate) return "\"fate\":" + Dump(FateToJson(*reply.fate));
  return "\"answer\":" + (reply.raw.empty() ? Dump(reply.answer) : reply.raw);
}

// A repeated reply, with a leading comma: "same", or one of its own.
std::string RepeatText(const std::string& name, const Reply& first,
                       const std::optional<Reply>& repeat) {
  if (!repeat) return "";
  return ",\"" + name + "\":" +
         (*repeat == first ? "\"same\"" : '{' + ReplyText(*repeat) + '}');
}

std::expected<Reply, std::string> ReplyFromJson(const Json& line) {
  Reply reply;
  const auto answer = line.find("answer");
  if (answer != line.end()) {
    reply.answer = *answer;
    if (reply.answer.is_object()) reply.answer.erase("id");
    return reply;
  }
  const auto fate = line.find("fate");
  if (fate == line.end() || !fate->is_object() ||
      Text(*fate, "verdict").empty()) {
    return std::unexpected("neither \"answer\" nor \"fate\" with a verdict");
  }
  reply.fate = Fate{Text(*fate, "verdict"), Text(*fate, "signal"),
                    Text(*fate, "detail"), Text(*fate, "stderr"), false};
  return reply;
}

std::expected<std::optional<Reply>, std::string> RepeatFromJson(
    const Json& line, const char* name, const Reply& first) {
  const auto it = line.find(name);
  if (it == line.end()) return std::nullopt;
  if (*it == Json("same")) return first;
  if (!it->is_object()) {
    return std::unexpected(std::string(name) + " is not \"same\" or a reply");
  }
  auto reply = ReplyFromJson(*it);
  if (!reply) return std::unexpected(reply.error());
  return std::move(*reply);
}

Json Head(const std::string& implementation, const CaseRecord& record) {
  Json line = {{"implementation", implementation}, {"vector", record.vector}};
  if (!record.variant.empty()) line["variant"] = record.variant;
  return line;
}

}  // namespace

bool Reply::operator==(const Reply& other) const {
  if (fate.has_value() != other.fate.has_value()) return false;
  if (!fate) return answer == other.answer;
  return fate->verdict == other.fate->verdict &&
         fate->signal == other.fate->signal;
}

std::string RecordToLine(const std::string& implementation,
                         const CaseRecord& record) {
  if (!record.not_asked.empty()) {
    Json line = Head(implementation, record);
    line["not_asked"] = record.not_asked;
    return Dump(line);
  }
  // Answers are spliced in as they were received.
  std::string line = Dump(Head(implementation, record));
  line.pop_back();
  line += ',' + ReplyText(record.reply);
  if (!record.tensors.empty()) {
    line += ",\"tensors\":[";
    for (const Reply& tensor : record.tensors) {
      line += '{' + ReplyText(tensor) + "},";
    }
    line.back() = ']';
  }
  line += RepeatText("again", record.reply, record.again);
  if (record.file_modified) line += ",\"file_modified\":true";
  return line + '}';
}

std::string SecondToLine(const std::string& implementation,
                         const CaseRecord& record) {
  std::string line = Dump(Head(implementation, record));
  line.pop_back();
  line += RepeatText("second", record.reply, record.second);
  if (record.file_modified) line += ",\"file_modified\":true";
  return line + '}';
}

std::expected<CaseRecord, std::string> RecordFromJson(const Json& line) {
  if (!line.is_object()) return std::unexpected("not an object");
  CaseRecord record;
  record.vector = Text(line, "vector");
  record.variant = Text(line, "variant");
  record.not_asked = Text(line, "not_asked");
  if (record.vector.empty()) return std::unexpected("no \"vector\"");
  if (!record.not_asked.empty()) return record;
  auto reply = ReplyFromJson(line);
  if (!reply) return std::unexpected(reply.error());
  record.reply = std::move(*reply);
  const auto tensors = line.find("tensors");
  if (tensors != line.end()) {
    if (!tensors->is_array()) {
      return std::unexpected("\"tensors\" is not a list");
    }
    for (const Json& tensor : *tensors) {
      auto one = ReplyFromJson(tensor);
      if (!one) return std::unexpected(one.error());
      record.tensors.push_back(std::move(*one));
    }
  }
  auto again = RepeatFromJson(line, "again", record.reply);
  if (!again) return std::unexpected(again.error());
  record.again = std::move(*again);
  auto second = RepeatFromJson(line, "second", record.reply);
  if (!second) return std::unexpected(second.error());
  record.second = std::move(*second);
  record.file_modified = line.value("file_modified", Json()) == Json(true);
  return record;
}

}  // namespace weightproof::conformance
