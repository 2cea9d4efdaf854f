#include "reports/cli/check_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <variant>

#include "impls/cpu/gguf_view.h"
#include "reference/gguf/profile.h"
#include "reference/gguf/reader.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

impls::GgufProfile ViewProfile(std::string_view name) {
  if (name == "ggml") return impls::GgufProfile::kGgml;
  if (name == "candle") return impls::GgufProfile::kCandle;
  return impls::GgufProfile::kSpec;
}

// A little-endian u8, u16, u32 or u64 value; 0 for any other type.
std::uint64_t Unsigned(std::span<const std::uint8_t> bytes, std::uint32_t type,
                       std::uint64_t at) {
  const std::uint64_t size = type == 0    ? 1
                             : type == 2  ? 2
                             : type == 4  ? 4
                             : type == 10 ? 8
                                          : 0;
  if (at > bytes.size() || bytes.size() - at < size) return 0;
  std::uint64_t value = 0;
  for (std::uint64_t i = size; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

Finding ReadTrusted(std::span<const std::uint8_t> bytes,
                    const std::string& profile, FileCheck* check) {
  Finding finding;
  finding.profile = profile;
  gguf::Input input;
  input.prefix = bytes;
  input.file_size = bytes.size();
  const auto file = gguf::Parse(input, *gguf::FindProfile(profile));
  if (file) {
    finding.policies = file->policies;
    constexpr std::string_view kKey = "split.count";
    const std::vector<std::uint8_t> key(kKey.begin(), kKey.end());
    if (const auto at = file->Find(key); at && !file->big_endian) {
      const gguf::KeyValue& kv = file->kv[*at];
      check->split_count = Unsigned(bytes, kv.type, kv.value.begin);
    }
    check->checked =
        std::max(check->checked,
                 std::min<std::uint64_t>(file->data_start, bytes.size()));
    return finding;
  }
  finding.verdict = file.error().verdict;
  finding.rule = file.error().rule;
  finding.offset = file.error().offset;
  finding.detail = file.error().detail;
  check->checked = std::max(
      check->checked, std::min<std::uint64_t>(finding.offset, bytes.size()));
  return finding;
}

// What the optimized reader says, in the same words, without a detail.
Finding ReadFast(std::span<const std::uint8_t> bytes,
                 const std::string& profile, FileCheck* check) {
  Finding finding;
  finding.profile = profile;
  impls::GgufInput input;
  input.prefix = bytes;
  input.file_size = bytes.size();
  input.profile = ViewProfile(profile);
  const impls::GgufResult result = impls::ParseGguf(input);
  if (const auto* view = std::get_if<impls::GgufView>(&result)) {
    finding.policies = view->policies;
    for (const impls::GgufKv& kv : view->kvs) {
      if (kv.key != "split.count" || view->big_endian) continue;
      check->split_count = Unsigned(bytes, kv.type, kv.value);
    }
    check->checked =
        std::max(check->checked,
                 std::min<std::uint64_t>(view->data_start, bytes.size()));
    return finding;
  }
  if (const auto* broken = std::get_if<impls::GgufFinding>(&result)) {
    finding.verdict = broken->verdict;
    finding.rule = broken->rule;
    finding.offset = broken->offset;
    return finding;
  }
  finding.verdict = Cell::kReject;  // needs more of a complete file
  return finding;
}

std::string Words(const Finding& finding) {
  if (finding.rule == kNoRule) return std::string(ToString(finding.verdict));
  return fmt::format("{} by {} at byte {}", ToString(finding.verdict),
                     Rules()[finding.rule].id, finding.offset);
}

bool Same(const Finding& a, const Finding& b) {
  return a.verdict == b.verdict && a.rule == b.rule &&
         (a.rule == kNoRule || a.offset == b.offset);
}

}  // namespace

Severity Finding::GetSeverity() const {
  if (rule != kNoRule) return Rules()[rule].severity;
  Severity worst = Severity::kNone;
  for (const RuleIndex policy : policies) {
    worst = std::max(worst, Rules()[policy].severity);
  }
  return worst;
}

FileCheck CheckBytes(std::span<const std::uint8_t> bytes,
                     const CheckOptions& options) {
  FileCheck check;
  check.file_size = bytes.size();
  for (const std::string& profile : options.profiles) {
    if (options.trusted) {
      check.findings.push_back(ReadTrusted(bytes, profile, &check));
      continue;
    }
    Finding fast = ReadFast(bytes, profile, &check);
    if (fast.verdict == Cell::kAccept) {
      check.findings.push_back(std::move(fast));
      continue;
    }
    check.findings.push_back(ReadTrusted(bytes, profile, &check));
    if (!Same(fast, check.findings.back())) {
      check.disagreement = fmt::format(
          "profile {}: the optimized reader says {}, the reference {}", profile,
          Words(fast), Words(check.findings.back()));
    }
  }
  return check;
}

std::expected<FileCheck, conformance::FileError> CheckFile(
    const std::filesystem::path& path, const CheckOptions& options) {
  const auto file = conformance::MappedFile::Open(path);
  if (!file) return std::unexpected(file.error());
  FileCheck check = CheckBytes(file->bytes(), options);
  if (options.data) {
    DataProgressBar bar(path.string());
    check.data = CheckData(file->bytes(), options.trusted, bar.Callback());
    if (check.data && check.disagreement.empty()) {
      check.disagreement = check.data->disagreement;
    }
  }
  if (file->Changed()) {
    return std::unexpected(conformance::MappedFile::ChangedError());
  }
  return check;
}

Json ToJson(const Finding& finding) {
  Json policies = Json::array();
  for (const RuleIndex policy : finding.policies) {
    policies.push_back(Rules()[policy].id);
  }
  Json json = {{"verdict", ToString(finding.verdict)},
               {"rule", nullptr},
               {"offset", nullptr},
               {"severity", ToString(finding.GetSeverity())},
               {"detail", reports::ValidUtf8(finding.detail)},
               {"policies", policies}};
  if (finding.rule != kNoRule) {
    json["rule"] = Rules()[finding.rule].id;
    json["offset"] = finding.offset;
  }
  return json;
}

Json ToJson(const std::filesystem::path& path, const FileCheck& check) {
  Json profiles = Json::object();
  for (const Finding& finding : check.findings) {
    profiles[finding.profile] = ToJson(finding);
  }
  Json json = {{"file", reports::ValidUtf8(path.string())},
               {"format", "gguf"},
               {"profiles", profiles}};
  if (check.data) json["data"] = ToJson(*check.data);
  return json;
}

Json ToJson(const std::filesystem::path& path,
            const conformance::FileError& error) {
  return {{"file", reports::ValidUtf8(path.string())}, {"error", error.code}};
}

}  // namespace weightproof::cli
