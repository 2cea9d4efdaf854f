#include "fuzzers/life/promote.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "conformance/vector_build_one.h"
#include "corpus/assembler.h"
#include "corpus/disassembler.h"
#include "fuzzers/life/classify.h"
#include "reference/rule.h"

namespace weightproof::fuzzers {
namespace {

// The clean counterpart that the rule's other vectors have.
std::string TwinOf(const std::string& rule, const conformance::VectorSet& set) {
  for (const conformance::Vector& vector : set.vectors) {
    const auto spec = vector.expect.find("spec");
    if (vector.rule == rule && !vector.twin.empty() &&
        spec != vector.expect.end() && spec->second.verdict != "accept") {
      return vector.twin;
    }
  }
  for (const conformance::Vector& vector : set.vectors) {
    if (vector.rule == rule) return vector.id;
  }
  return "gguf.header.file.minimal-24";
}

// The first word of text that is the id of a rule, if it is about a second
// fault.
std::string MaskedRule(const std::string& problem) {
  if (!problem.starts_with("a second fault")) return "";
  for (std::string_view mark : {"it is a matter of policy by ", "it is "}) {
    const std::size_t at = problem.rfind(mark);
    if (at == std::string::npos) continue;
    std::string id = problem.substr(at + mark.size());
    id = id.substr(0, id.find(' '));
    if (FindRule(id)) return id;
  }
  return "";
}

struct Draft {
  std::string id, rule, twin, notes;
  FileClass kind;
  std::set<std::string> also, masks;

  std::string Header() const {
    const ProfileClass& spec = kind.profiles[0];
    std::string out =
        fmt::format("recipe {}\nrule {}\nverdict {}", id, rule, spec.verdict);
    if (spec.verdict != "accept") out += fmt::format(" at {}", spec.offset);
    out += "\ntwin " + twin + "\n";
    for (const std::string& other : also) out += "also " + other + "\n";
    for (const std::string& masked : masks) out += "masks " + masked + "\n";
    if (!notes.empty()) out += "notes " + notes + "\n";
    return out;
  }
};

std::string OneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

std::expected<Promoted, std::string> Promote(ByteSpan file,
                                             const conformance::VectorSet& set,
                                             const PromoteOptions& options) {
  Draft draft;
  draft.kind = ClassOf(file);
  draft.rule =
      options.rule.empty() ? draft.kind.profiles[0].rule : options.rule;
  draft.notes = OneLine(options.notes);
  if (draft.rule.empty()) {
    return std::unexpected(
        "the trusted reader accepts the file: name the rule it exercises "
        "(--rule)");
  }
  if (!FindRule(draft.rule)) {
    return std::unexpected("no such rule: " + draft.rule);
  }
  draft.id = fmt::format("{}-found_{:08x}", draft.rule, HashBytes(file) >> 32);
  draft.twin = TwinOf(draft.rule, set);
  for (const ProfileClass& profile : draft.kind.profiles) {
    if (!profile.rule.empty() && profile.rule != draft.rule) {
      draft.also.insert(profile.rule);
    }
  }
  std::vector<std::string> problems;
  // What else the same bytes break, once the rule is waived, is listed.
  for (int round = 0; round < 16; ++round) {
    corpus::DisassembleOptions how;
    how.header = draft.Header();
    const std::string text = corpus::Disassemble(file, how).text;
    const auto assembly = corpus::Assemble(text);
    if (!assembly) {
      return std::unexpected(fmt::format("line {}: {}", assembly.error().line,
                                         assembly.error().message));
    }
    problems.clear();
    conformance::Vector vector = conformance::BuildOne(*assembly, problems);
    const std::size_t known = draft.masks.size();
    for (const std::string& problem : problems) {
      if (const std::string id = MaskedRule(problem); !id.empty()) {
        draft.masks.insert(id);
      }
    }
    if (problems.empty()) {
      return Promoted{draft.id, draft.rule, text, std::move(vector)};
    }
    if (draft.masks.size() == known) break;
  }
  std::string all;
  for (const std::string& problem : problems) all += problem + "\n";
  return std::unexpected(all);
}

}  // namespace weightproof::fuzzers
