// weightproof explain RULE|VECTOR|FILE
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <system_error>

#include "conformance/mapped_file.h"
#include "reference/gguf/fields.h"
#include "reference/rule.h"
#include "reports/cli/check_file.h"
#include "reports/cli/command.h"
#include "reports/excerpt.h"
#include "reports/terminal.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

namespace fs = std::filesystem;
using conformance::Vector;
using conformance::VectorSet;
using reports::Ink;
using reports::Printable;

constexpr std::uint64_t kMaxShown = 16 << 20;  // of a vector's file
constexpr std::uint64_t kFirstElements = 4;    // of an array or a table

class Explainer {
 public:
  Explainer() : style_(reports::StyleFor(STDOUT_FILENO)) {}

  void ExplainRule(const Rule& rule, const VectorSet& vectors) {
    Line(fmt::format("{}  {}", Bold(rule.id), ToString(rule.severity)));
    Wrapped("", std::string(rule.statement) + ".");
    Wrapped("verdict",
            fmt::format("spec {}, ggml {}, candle {}", ToString(rule.spec),
                        ToString(rule.ggml), ToString(rule.candle)));
    Wrapped("points at", std::string(rule.points_at));
    Wrapped("judged by", std::string(rule.judged_by));
    Wrapped("about", std::string(rule.fields));
    Wrapped("known", std::string(rule.notes));
    std::string sources(rule.sources);
    for (std::size_t at = 0; (at = sources.find(';', at)) != sources.npos;) {
      sources.replace(at, 1, ", ");
    }
    Wrapped("sources", sources);
    std::string ids;
    for (const Vector& vector : vectors.vectors) {
      if (vector.rule == rule.id) ids += (ids.empty() ? "" : " ") + vector.id;
    }
    Wrapped("vectors", ids.empty() ? "none" : ids);
    Print(out_);
  }

  void ExplainVector(const Vector& vector) {
    Line(fmt::format("{}  {}", Bold(Printable(vector.id)), vector.operation));
    const auto rule = FindRule(vector.rule);
    Wrapped("rule", fmt::format("{}: {}.", Printable(vector.rule),
                                rule ? Rules()[*rule].statement : ""));
    Wrapped("notes", Printable(vector.notes));
    Wrapped("twin", Printable(vector.twin));
    std::optional<std::uint64_t> offset;
    for (const auto& [profile, want] : vector.expect) {
      std::string words = want.verdict;
      if (want.rule) words += " by " + *want.rule;
      if (want.offset) words += fmt::format(" at byte {}", *want.offset);
      Wrapped(profile, Printable(words));
      if (profile == "spec") offset = want.offset;
    }
    if (!vector.request.is_null()) {
      Wrapped("request",
              Printable(reports::Shorten(vector.request.dump(), 2000)));
    }
    for (const auto& [profile, want] : vector.expect) {
      if (want.answer.is_null()) continue;
      Wrapped(
          "answer",
          fmt::format("{}: {}", profile,
                      Printable(reports::Shorten(want.answer.dump(), 2000))));
    }
    if (!vector.bytes.chunks.empty()) Contents(vector.bytes, offset);
    for (const conformance::NamedFile& file : vector.files) {
      Line();
      Line(Bold(Printable(file.name)));
      Contents(file.bytes, std::nullopt);
    }
    Print(out_);
  }

  int ExplainFile(const fs::path& path) {
    const auto file = conformance::MappedFile::Open(path);
    if (!file) {
      return Fail(kExitFindings,
                  fmt::format("{}: {}", path.string(), file.error().message));
    }
    Line(fmt::format("{}  {}", Bold(Printable(path.string())),
                     reports::ByteCount(file->bytes().size())));
    const FileCheck check = CheckBytes(file->bytes(), {});
    FieldTable(file->bytes(), check.findings);
    if (file->Changed()) {
      return Fail(kExitFindings,
                  fmt::format("{}: {}", path.string(),
                              conformance::MappedFile::ChangedError().message));
    }
    Print(out_);
    return kExitOk;
  }

 private:
  void Line(std::string_view text = "") {
    out_ += text;
    out_ += '\n';
  }
  std::string Bold(std::string_view text) const {
    return reports::Paint(style_, Ink::kBold, text);
  }

  // A labelled paragraph; nothing if the text is empty.
  void Wrapped(std::string_view label, const std::string& text) {
    if (text.empty()) return;
    const std::size_t width =
        std::clamp<std::size_t>(style_.width, 60, 100) - 14;
    std::string head = fmt::format("  {:<10}  ", label);
    for (const std::string& line : reports::Wrap(text, width)) {
      Line(head + line);
      head = std::string(14, ' ');
    }
  }

  void Contents(const corpus::Bytes& bytes,
                std::optional<std::uint64_t> offset) {
    if (const auto whole = bytes.Materialize(kMaxShown)) {
      FieldTable(*whole, CheckBytes(*whole, {}).findings);
      return;
    }
    Wrapped("file", fmt::format("{}; around the offset:",
                                reports::ByteCount(bytes.Size())));
    for (const std::string& line :
         reports::ExcerptLines(reports::MakeExcerpt("", bytes, offset))) {
      Line("  " + line);
    }
  }

  // One line per field: offset, size, first bytes, path, value; findings under
  // the field they point into.
  void FieldTable(std::span<const std::uint8_t> bytes,
                  const std::vector<Finding>& findings) {
    Line();
    Line(reports::Paint(style_, Ink::kDim,
                        fmt::format("{:>10} {:>8}  {:<26} {}", "offset",
                                    "bytes", "first bytes", "field")));
    gguf::Input input;
    input.prefix = bytes;
    input.file_size = bytes.size();
    std::string parent;
    std::uint64_t skipped = 0;
    std::vector<bool> shown(findings.size(), false);
    const auto flush = [&] {
      if (skipped > 0) Line(fmt::format("{:>48} {} more", "...", skipped));
      skipped = 0;
    };
    const gguf::FieldWalk walk =
        gguf::VisitFields(input, [&](const gguf::Field& field) {
          const bool pointed = Points(field, findings);
          if (!pointed && IsLateElement(field)) {
            ++skipped;
            return;
          }
          flush();
          FieldLine(bytes, field, pointed);
          FindingLines(field, findings, &shown);
        });
    flush();
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (findings[i].rule != kNoRule && !shown[i]) {
        FindingLine(findings, i, &shown);
      }
    }
    if (!walk.complete) Wrapped("stopped", Printable(walk.problem));
    Policies(findings);
  }

  static bool Inside(const gguf::Field& field, std::uint64_t offset) {
    return offset >= field.offset && offset - field.offset < field.size;
  }

  static bool Points(const gguf::Field& field,
                     const std::vector<Finding>& findings) {
    return std::ranges::any_of(findings, [&](const Finding& finding) {
      return finding.rule != kNoRule && Inside(field, finding.offset);
    });
  }

  // An element of an array behind the first few.
  static bool IsLateElement(const gguf::Field& field) {
    if (field.depth < 2) return false;
    const std::size_t open = field.path.find('[', field.path.find(".value"));
    if (open == field.path.npos) return false;
    return std::strtoull(field.path.c_str() + open + 1, nullptr, 10) >=
           kFirstElements;
  }

  void FieldLine(std::span<const std::uint8_t> bytes, const gguf::Field& field,
                 bool pointed) {
    constexpr std::uint64_t kFirst = 8;
    std::string hex;
    const std::uint64_t begin =
        std::min<std::uint64_t>(field.offset, bytes.size());
    for (const std::uint8_t byte : bytes.subspan(
             begin, std::min({field.size, kFirst, bytes.size() - begin}))) {
      hex += fmt::format("{:02x} ", byte);
    }
    if (field.size > kFirst) hex += "..";
    std::string text = fmt::format(
        "{:>10} {:>8}  {:<26} {}{}  {}", field.offset, field.size, hex,
        std::string(static_cast<std::size_t>(std::clamp(field.depth, 0, 8)) * 2,
                    ' '),
        Printable(field.path), Printable(field.value));
    Line(pointed ? reports::Paint(style_, Ink::kRed, text) : text);
  }

  // Findings not yet shown that point into the field; one line per rule.
  void FindingLines(const gguf::Field& field,
                    const std::vector<Finding>& findings,
                    std::vector<bool>* shown) {
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (findings[i].rule == kNoRule || (*shown)[i]) continue;
      if (Inside(field, findings[i].offset)) FindingLine(findings, i, shown);
    }
  }

  // Finding number first, together with those of the same rule and byte.
  void FindingLine(const std::vector<Finding>& findings, std::size_t first,
                   std::vector<bool>* shown) {
    std::string who;
    for (std::size_t i = first; i < findings.size(); ++i) {
      if (findings[i].rule != findings[first].rule ||
          findings[i].offset != findings[first].offset) {
        continue;
      }
      (*shown)[i] = true;
      who += fmt::format("{}{} {}", who.empty() ? "" : ", ",
                         findings[i].profile, ToString(findings[i].verdict));
    }
    const Rule& rule = Rules()[findings[first].rule];
    Line(reports::Paint(
        style_, Ink::kRed,
        fmt::format("{:>10} ^ {}: {} ({})", findings[first].offset, rule.id,
                    rule.statement, who)));
  }

  void Policies(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      for (const RuleIndex policy : finding.policies) {
        Wrapped("policy",
                fmt::format("{}: {} ({})", finding.profile, Rules()[policy].id,
                            Rules()[policy].statement));
      }
    }
  }

  reports::TerminalStyle style_;
  std::string out_;
};

// Ids that contain what was asked for.
std::string Suggestions(const std::string& text, const VectorSet& vectors) {
  std::string found;
  int left = 12;
  const auto offer = [&](std::string_view id) {
    if (id.find(text) == id.npos || left == 0) return;
    --left;
    found += fmt::format("\n  {}", id);
  };
  for (const Rule& rule : Rules()) offer(rule.id);
  for (const Vector& vector : vectors.vectors) offer(vector.id);
  return found.empty() ? "" : "\nDid you mean:" + found;
}

int Explain(const Places& places, const std::string& subject) {
  Explainer explainer;
  std::error_code error;
  const auto rule = FindRule(subject);
  const bool is_file = !rule && fs::exists(subject, error);
  if (is_file && subject.find('/') != subject.npos) {
    return explainer.ExplainFile(subject);
  }
  const auto vectors = LoadAllVectors(places);
  if (!vectors) {
    if (is_file) return explainer.ExplainFile(subject);
    return Fail(kExitInternal, vectors.error());
  }
  if (rule) {
    explainer.ExplainRule(Rules()[*rule], *vectors);
    return kExitOk;
  }
  for (const Vector& vector : vectors->vectors) {
    if (vector.id != subject) continue;
    explainer.ExplainVector(vector);
    return kExitOk;
  }
  if (is_file) return explainer.ExplainFile(subject);
  return Fail(kExitUsage,
              fmt::format("{}: no rule, vector or file of this name{}", subject,
                          Suggestions(subject, *vectors)));
}

}  // namespace

void AddExplain(CLI::App& app, const Places& places, Action& action) {
  auto subject = std::make_shared<std::string>();
  CLI::App* explain = app.add_subcommand(
      "explain",
      "A rule in words, or a vector or file as an annotated hex dump");
  explain->add_option("SUBJECT", *subject, "RULE, VECTOR or FILE")->required();
  explain->callback([subject, &places, &action] {
    action = [subject, &places] { return Explain(places, *subject); };
  });
}

}  // namespace weightproof::cli
