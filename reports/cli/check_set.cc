#include "reports/cli/check_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "impls/cpu/gguf_view.h"
#include "impls/ignoring_sink.h"
#include "reference/gguf/profile.h"
#include "reference/gguf/reader.h"
#include "reference/gguf/set.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;

SetFinding Judge(const std::vector<std::string>& names,
                 const std::vector<conformance::MappedFile>& mapped,
                 const gguf::Profile& profile) {
  std::vector<std::expected<gguf::File, gguf::Stop>> parsed;
  for (const conformance::MappedFile& file : mapped) {
    gguf::Input input;
    input.prefix = file.bytes();
    input.file_size = file.bytes().size();
    parsed.push_back(gguf::Parse(input, profile));
  }
  std::vector<gguf::Shard> shards;
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    shards.push_back({names[i], &parsed[i]});
  }
  SetFinding out;
  out.finding.profile = profile.name;
  const auto judged = gguf::JudgeSet(shards, profile);
  if (judged) {
    out.finding.policies = *judged;
    return out;
  }
  out.file = judged.error().file;
  out.finding.verdict = judged.error().stop.verdict;
  out.finding.rule = judged.error().stop.rule;
  out.finding.offset = judged.error().stop.offset;
  out.finding.detail = judged.error().stop.detail;
  return out;
}

// What the optimized reader says, if it is not what the reference found.
std::string Disagreement(const std::vector<std::string>& names,
                         const std::vector<conformance::MappedFile>& mapped,
                         const SetFinding& trusted) {
  std::vector<wp_gguf_input> files;
  std::vector<const char*> pointers;
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    wp_gguf_input file{};
    file.data = {mapped[i].bytes().data(), mapped[i].bytes().size()};
    file.file_size = file.data.size;
    file.profile = trusted.finding.profile.c_str();
    files.push_back(file);
    pointers.push_back(names[i].c_str());
  }
  const std::vector<wp_gguf_sink> sinks(files.size(), impls::IgnoringSink());
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  impls::GgufViewImplementation()->gguf_open_set(
      files.data(), pointers.data(), files.size(), sinks.data(), &answer);
  const Finding& finding = trusted.finding;
  const bool accepted = finding.verdict == Cell::kAccept;
  const std::string rule = answer.rule != nullptr ? answer.rule : "";
  const bool same =
      accepted == (answer.verdict == WP_ACCEPT) &&
      (finding.rule == kNoRule
           ? rule.empty()
           : rule == Rules()[finding.rule].id &&
                 answer.offset == finding.offset &&
                 static_cast<std::size_t>(answer.row) == trusted.file);
  if (same) return "";
  return fmt::format("profile {}: the optimized reader says {} {} of the set",
                     finding.profile, accepted ? "no accept but" : "verdict",
                     rule.empty() ? "accept" : rule);
}

}  // namespace

std::vector<fs::path> ShardsOf(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto shard = gguf::ParseShardName(name);
  if (!shard) return {path};
  const fs::path folder =
      path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::map<std::pair<std::uint64_t, fs::path>, fs::path> found;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string other = at->path().filename().string();
    const auto sibling = gguf::ParseShardName(other);
    if (!sibling || sibling->prefix != shard->prefix ||
        sibling->count != shard->count) {
      continue;
    }
    found[{sibling->number, other}] =
        path.has_parent_path() ? at->path() : fs::path(other);
  }
  std::vector<fs::path> files;
  for (const auto& [key, file] : found) files.push_back(file);
  return files.empty() ? std::vector<fs::path>{path} : files;
}

std::expected<SetCheck, SetError> CheckSet(const std::vector<fs::path>& files,
                                           const CheckOptions& options) {
  SetCheck check;
  check.files = files;
  std::vector<conformance::MappedFile> mapped;
  std::vector<std::string> names;
  for (const fs::path& file : files) {
    auto opened = conformance::MappedFile::Open(file);
    if (!opened) return std::unexpected(SetError{file, opened.error()});
    mapped.push_back(std::move(*opened));
    names.push_back(file.filename().string());
  }
  for (const std::string& profile : options.profiles) {
    check.findings.push_back(Judge(names, mapped, *gguf::FindProfile(profile)));
    if (check.disagreement.empty()) {
      check.disagreement = Disagreement(names, mapped, check.findings.back());
    }
  }
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    if (!mapped[i].Changed()) continue;
    return std::unexpected(
        SetError{files[i], conformance::MappedFile::ChangedError()});
  }
  return check;
}

Json ToJson(const SetCheck& check) {
  Json files = Json::array();
  for (const fs::path& file : check.files) {
    files.push_back(reports::ValidUtf8(file.string()));
  }
  Json profiles = Json::object();
  for (const SetFinding& item : check.findings) {
    Json json = ToJson(item.finding);
    json["file"] = nullptr;
    if (item.finding.verdict != Cell::kAccept) json["file"] = item.file;
    profiles[item.finding.profile] = json;
  }
  return {{"files", files}, {"format", "gguf"}, {"profiles", profiles}};
}

}  // namespace weightproof::cli
