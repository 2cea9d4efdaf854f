#include "conformance/writers.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <sstream>

#include "conformance/driver.h"
#include "conformance/dump.h"
#include "conformance/dump_value.h"
#include "conformance/protocol.h"
#include "conformance/run_target.h"
#include "impls/registry.h"
#include "reference/gguf/data_values.h"
#include "reference/gguf/reader.h"
#include "reference/gguf/types.h"

namespace weightproof::conformance {
namespace {

namespace fs = std::filesystem;

std::expected<std::string, std::string> Slurp(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return std::unexpected(file.string() + ": cannot be read");
  return text.str();
}

std::uint64_t Number(const Json& text) {
  if (text.is_number_unsigned()) return text.get<std::uint64_t>();
  if (!text.is_string()) return 0;
  return std::strtoull(text.get_ref<const std::string&>().c_str(), nullptr, 10);
}

// Bytes of a tensor of the content: 01 02 .. 3B over and over, so that each
// has a known place and every float is finite.
std::string DataOf(const Json& tensor) {
  const gguf::TensorType* type =
      gguf::FindTensorType(tensor.at("type").get<std::uint32_t>());
  std::uint64_t elements = 1;
  for (const Json& dim : tensor.at("dims")) elements *= Number(dim);
  std::string data;
  if (type == nullptr) return data;
  const std::uint64_t size =
      elements / type->block_elements * type->block_bytes;
  for (std::uint64_t i = 0; i < size; ++i) {
    data += static_cast<char>(1 + i % 59);
  }
  return data;
}

// The canonical dump that the reference makes of bytes; null if it refuses.
Json DumpOf(std::span<const std::uint8_t> bytes) {
  wp_gguf_input input{};
  input.data = {bytes.data(), bytes.size()};
  input.file_size = bytes.size();
  DumpBuilder builder;
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  impls::FindBuiltIn("reference")->gguf_parse(&input, builder.sink(), &answer);
  const bool accepted =
      answer.status == WP_STATUS_OK && answer.verdict == WP_ACCEPT;
  return accepted ? builder.Take(bytes.size()) : Json();
}

const Json* Named(const Json& list, const char* member, const Json& name) {
  for (const Json& item : list) {
    if (item.at(member) == name) return &item;
  }
  return nullptr;
}

std::string DifferenceOfDump(std::span<const std::uint8_t> bytes,
                             const Json& got, const WriteContent& content) {
  for (const Json& kv : content.dump.at("kv")) {
    const auto key = kv.at("key").get<std::string>();
    const Json* found = Named(got.at("kv"), "key", kv.at("key"));
    if (found == nullptr) return key + ": is missing";
    if (found->at("type") != kv.at("type")) {
      return fmt::format("{}: is {} instead of {}", key,
                         found->at("type").dump(), kv.at("type").dump());
    }
    if (const auto difference =
            CompareValues(kv.at("type").get<std::string>(), kv.at("value"),
                          found->at("value"))) {
      return fmt::format("{}{}: {} instead of {}", key, difference->path,
                         difference->got, difference->expected);
    }
  }
  const std::uint64_t start = Number(got.at("data_offset"));
  const Json& tensors = content.dump.at("tensors");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Json& tensor = tensors[i];
    const auto name = tensor.at("name").get<std::string>();
    const Json* found = Named(got.at("tensors"), "name", tensor.at("name"));
    if (found == nullptr) return "tensor " + name + ": is missing";
    for (const char* member : {"dims", "type"}) {
      if (found->at(member) != tensor.at(member)) {
        return fmt::format("tensor {}: {} is {} instead of {}", name, member,
                           found->at(member).dump(), tensor.at(member).dump());
      }
    }
    const std::uint64_t at = start + Number(found->at("offset"));
    const std::string& data = content.data[i];
    if (at + data.size() > bytes.size() ||
        !std::equal(data.begin(), data.end(), bytes.begin() + at,
                    [](char a, std::uint8_t b) {
                      return static_cast<std::uint8_t>(a) == b;
                    })) {
      return "tensor " + name + ": holds other bytes";
    }
  }
  if (got.at("tensors").size() != tensors.size()) return "more tensors";
  return "";
}

// What a driver did with one request, and whether it wrote.
std::string Ask(DriverSession& session, std::uint64_t id,
                const WriteContent& content, const fs::path& out) {
  Json data = Json::array();
  for (const std::string& bytes : content.data) {
    data.push_back({{"hex", BytesToHex(bytes)}});
  }
  const Json request = {{"id", id},
                        {"op", "gguf.write"},
                        {"dump", content.dump},
                        {"data", data},
                        {"out", out.string()}};
  session.Send({id, request.dump(), false});
  const auto line = session.Next();
  if (!line) {
    const Fate& fate = line.error();
    return fmt::format("{} {}{}", fate.verdict, fate.signal, fate.detail);
  }
  const auto parsed = ParseAnswer(*line, id);
  if (!parsed) return "protocol-error: " + parsed.error();
  if (parsed->status == AnswerStatus::kNotRun) {
    return "not-run: " + parsed->detail;
  }
  if (parsed->status != AnswerStatus::kOk) return "error: " + parsed->detail;
  if (parsed->verdict == "accept") return "written";
  return parsed->verdict + ": " + parsed->detail;
}

void RunOne(const Target& target, const std::vector<WriteContent>& contents,
            const fs::path& folder, std::vector<WriteRow>& rows) {
  std::atomic<bool> stop = false;
  auto session = DriverSession::Start(target.spec, &stop);
  if (!session) {
    rows.push_back({target.name, target.version, "", session.error(), {}, {}});
    return;
  }
  if (!(*session)->hello().Offers("gguf.write")) return;
  std::uint64_t id = 1;
  for (const WriteContent& content : contents) {
    WriteRow row{target.name, target.version, content.name, "", {}, {}};
    std::string name = target.name;
    std::ranges::replace(name, '/', '_');
    row.file = folder / (name + "-" + content.name + ".gguf");
    std::error_code ignored;
    fs::remove(row.file, ignored);
    row.did = Ask(**session, id++, content, row.file);
    if (row.did == "written") {
      const auto bytes = Slurp(row.file);
      if (bytes) {
        row.judged =
            JudgeWritten({reinterpret_cast<const std::uint8_t*>(bytes->data()),
                          bytes->size()},
                         content);
      } else {
        row.did = "says it wrote a file that is not there";
      }
    }
    const bool dead = row.did.starts_with("crash") ||
                      row.did.starts_with("hang") ||
                      row.did.starts_with("protocol-error") ||
                      row.did.starts_with("out-of-memory");
    rows.push_back(std::move(row));
    if (!dead) continue;
    session = DriverSession::Start(target.spec, &stop);
    if (!session) return;
  }
  (*session)->Finish();
}

}  // namespace

std::expected<std::vector<WriteContent>, std::string> LoadContents(
    const fs::path& file) {
  const auto text = Slurp(file);
  if (!text) return std::unexpected(text.error());
  const auto json = ParseUntrusted(*text);
  if (!json) return std::unexpected(file.string() + ": " + json.error());
  std::vector<WriteContent> contents;
  for (const Json& one : json->at("contents")) {
    WriteContent content;
    content.name = one.at("name").get<std::string>();
    content.dump = one;
    content.dump.erase("name");
    for (const Json& tensor : one.at("tensors")) {
      content.data.push_back(DataOf(tensor));
    }
    contents.push_back(std::move(content));
  }
  return contents;
}

WrittenFile JudgeWritten(std::span<const std::uint8_t> bytes,
                         const WriteContent& content) {
  WrittenFile written;
  gguf::Input input;
  input.prefix = bytes;
  input.file_size = bytes.size();
  const auto file = gguf::Parse(input, gguf::SpecProfile());
  if (!file) {
    written.verdict = ToString(file.error().verdict);
    written.rule = file.error().rule;
    written.offset = file.error().offset;
    return written;
  }
  written.verdict = "accept";
  written.policies = file->policies;
  for (const gguf::ValueFinding& found : gguf::CheckValues(*file)) {
    if (std::ranges::find(written.values, found.rule) == written.values.end()) {
      written.values.push_back(found.rule);
    }
  }
  written.difference = DifferenceOfDump(bytes, DumpOf(bytes), content);
  return written;
}

bool WriteRow::Healthy() const {
  if (!judged || judged->verdict != "accept" || !judged->difference.empty()) {
    return false;
  }
  const auto mild = [](RuleIndex rule) {
    return Rules()[rule].severity <= Severity::kAmbiguous;
  };
  return std::ranges::all_of(judged->policies, mild) &&
         std::ranges::all_of(judged->values, mild);
}

std::expected<std::vector<Explanation>, std::string> LoadExplanations(
    const fs::path& file) {
  const auto text = Slurp(file);
  if (!text) return std::unexpected(text.error());
  const auto json = ParseUntrusted(*text);
  if (!json) return std::unexpected(file.string() + ": " + json.error());
  std::vector<Explanation> out;
  for (const Json& one : *json) {
    const auto member = [&one](const char* name) {
      return one.at(name).get<std::string>();
    };
    out.push_back({member("implementation"), member("content"), member("found"),
                   member("reason")});
  }
  return out;
}

std::string Explain(const WriteRow& row,
                    const std::vector<Explanation>& explanations) {
  if (!row.judged) return "";
  std::vector<std::string> found = {row.judged->difference};
  const auto add = [&found](RuleIndex rule) {
    if (rule != kNoRule) found.emplace_back(Rules()[rule].id);
  };
  add(row.judged->rule);
  for (const RuleIndex rule : row.judged->policies) add(rule);
  for (const RuleIndex rule : row.judged->values) add(rule);
  for (const Explanation& one : explanations) {
    if (!GlobMatches(one.implementation, row.implementation) ||
        !GlobMatches(one.content, row.content)) {
      continue;
    }
    for (const std::string& what : found) {
      if (!what.empty() && what.starts_with(one.found)) return one.reason;
    }
  }
  return "";
}

std::expected<std::vector<WriteRow>, RunError> RunWriters(
    const std::vector<WriteContent>& contents, RunOptions options) {
  options = WithDefaults(std::move(options));
  const auto targets = SelectTargets(options);
  if (!targets) return std::unexpected(targets.error());
  const fs::path folder = options.build_dir / "written";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return std::unexpected(
        RunError{5, folder.string() + ": " + error.message()});
  }
  std::vector<WriteRow> rows;
  for (const Target& target : *targets) {
    if (target.built_in) continue;
    if (!target.why_not.empty()) {
      rows.push_back({target.name, target.version, "", target.why_not, {}, {}});
      continue;
    }
    RunOne(target, contents, folder, rows);
  }
  return rows;
}

}  // namespace weightproof::conformance
