#include "conformance/vector_build_one.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "impls/registry.h"
#include "reference/rule.h"

namespace weightproof::conformance {
namespace {

using corpus::Assembly;
using corpus::Recipe;

const Rule* RuleOf(const std::string& id) {
  const auto index = FindRule(id);
  return index ? &Rules()[*index] : nullptr;
}

Cell ColumnOf(const Rule& rule, const std::string& profile) {
  return profile == "spec"   ? rule.spec
         : profile == "ggml" ? rule.ggml
                             : rule.candle;
}

class OneBuilder {
 public:
  OneBuilder(const Assembly& assembly, std::vector<std::string>& problems)
      : assembly_(assembly), recipe_(assembly.recipe), problems_(problems) {}

  Vector Build() {
    if (!Declared()) return {};
    vector_.id = recipe_.id;
    vector_.format = "gguf";
    vector_.rule = recipe_.rule;
    vector_.twin = recipe_.twin;
    vector_.also = recipe_.also;
    vector_.notes = recipe_.notes;
    if (vector_.operation == "gguf.open_set") {
      BuildSet();
    } else {
      BuildSingle();
    }
    return std::move(vector_);
  }

 private:
  template <typename... Args>
  void Problem(fmt::format_string<Args...> text, Args&&... args) {
    problems_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  // The header is complete and names things that exist.
  bool Declared() {
    const std::size_t before = problems_.size();
    if (recipe_.id.empty()) Problem("no id");
    rule_ = RuleOf(recipe_.rule);
    if (rule_ == nullptr) Problem("no such rule: {}", recipe_.rule);
    if (!recipe_.id.starts_with(recipe_.rule + "-")) {
      Problem("the id is the rule, a hyphen and a word");
    }
    if (recipe_.verdict.empty()) Problem("no verdict");
    for (const std::string& id : recipe_.also) {
      if (RuleOf(id) == nullptr) Problem("no such rule: {}", id);
    }
    for (const std::string& id : recipe_.masks) {
      if (RuleOf(id) == nullptr) Problem("no such rule: {}", id);
    }
    for (const corpus::ProfileClaim& claim : recipe_.profiles) {
      if (std::find(std::begin(kProfiles), std::end(kProfiles),
                    claim.profile) == std::end(kProfiles)) {
        Problem("no such profile: {}", claim.profile);
      }
      if (!claim.rule.empty() && RuleOf(claim.rule) == nullptr) {
        Problem("no such rule: {}", claim.rule);
      }
    }
    vector_.operation = recipe_.operation;
    if (vector_.operation.empty()) {
      vector_.operation =
          assembly_.files.empty() ? "gguf.parse" : "gguf.open_set";
    }
    if (!recipe_.request.empty()) {
      vector_.request = Json::parse(recipe_.request, nullptr, false);
      if (!vector_.request.is_object()) Problem("request is not JSON");
    }
    return problems_.size() == before;
  }

  Question Ask(const char* profile) const {
    Question question{profile, 0, false};
    if (vector_.request.is_object()) {
      question.base = vector_.request.value("base", std::uint64_t{0});
      question.require_keys = vector_.request.value("require_keys", false);
    }
    return question;
  }

  // The answer of both readers, if they agree.
  template <typename AskOne>
  std::optional<ReaderAnswer> Both(const char* profile, AskOne ask) {
    const auto* reference = impls::FindBuiltIn("reference");
    const auto* view = impls::FindBuiltIn("gguf_view");
    ReaderAnswer first = ask(*reference);
    const ReaderAnswer second = ask(*view);
    if (!first.problem.empty() || !(first == second)) {
      std::string what = first.dump == second.dump ? "" : " (dumps differ)";
      Problem(
          "the readers differ under {}: reference says {}, gguf_view says "
          "{}{}",
          profile, Describe(first), Describe(second), what);
      return std::nullopt;
    }
    return first;
  }

  static Expectation FromAnswer(const ReaderAnswer& answer) {
    Expectation out;
    out.verdict = answer.verdict;
    out.rule = answer.rule;
    out.offset = answer.offset;
    out.policies = answer.policies;
    if (!answer.policies.empty()) {
      out.verdict = "policy";
      out.rule = answer.policies.front();
    }
    return out;
  }

  // What the recipe states for spec: the rule that the file breaks, if any.
  void CheckSpec(Expectation& got) {
    std::string verdict = recipe_.verdict, rule = recipe_.rule;
    auto at = recipe_.at;
    for (const corpus::ProfileClaim& claim : recipe_.profiles) {
      if (claim.profile != "spec") continue;
      verdict = claim.verdict;
      if (!claim.rule.empty()) rule = claim.rule;
      if (claim.at) at = claim.at;
    }
    if (got.verdict == "policy" && at) got.offset = at->position;
    if (got.verdict != verdict) {
      Problem("spec: the recipe says {}, the readers say {} {}", verdict,
              got.verdict, got.rule.value_or(""));
      return;
    }
    if (verdict == "accept") return;
    if (got.rule != rule) {
      Problem("spec: the recipe says {}, the readers say {} at {}", rule,
              got.rule.value_or("no rule"), got.offset.value_or(0));
    }
    const Rule* const found = RuleOf(rule);
    if (!at && found != nullptr && found->points_at.empty()) return;
    if (!at) {
      Problem("spec: the recipe does not say where; the readers say {}",
              got.offset.value_or(0));
    } else if (got.offset != at->position) {
      Problem("spec: the recipe points at {}, the readers at {}", at->position,
              got.offset ? std::to_string(*got.offset) : "nothing");
    }
  }

  // The answer of a profile fits the registry and what the recipe says of it.
  void CheckProfile(const char* profile, Expectation& got) {
    const bool is_spec = std::string_view(profile) == "spec";
    if (is_spec) CheckSpec(got);
    bool claimed = is_spec && !recipe_.profiles.empty();
    for (const corpus::ProfileClaim& claim : recipe_.profiles) {
      if (claim.profile != profile || is_spec) continue;
      claimed = true;
      const bool same = claim.verdict == got.verdict &&
                        (claim.rule.empty() || claim.rule == got.rule) &&
                        (!claim.at || claim.at->position == got.offset);
      if (!same) {
        Problem("{}: the recipe claims {} {}, the readers say {} {} at {}",
                profile, claim.verdict, claim.rule, got.verdict,
                got.rule.value_or(""), got.offset.value_or(0));
      }
    }
    if (got.rule && *got.rule != recipe_.rule) {
      const bool listed = std::find(recipe_.also.begin(), recipe_.also.end(),
                                    *got.rule) != recipe_.also.end();
      if (!listed && !claimed) {
        Problem("{}: {} {} at {} comes first; list it under also", profile,
                got.verdict, *got.rule, got.offset.value_or(0));
      }
      return;
    }
    // A vector of a rejecting rule may show the sound side of the border.
    if (recipe_.verdict == "accept" && got.verdict == "accept") return;
    const std::string column(ToString(ColumnOf(*rule_, profile)));
    if (column != got.verdict && !claimed && rule_->judged_by == "parse") {
      Problem("{}: the registry says {}, the readers say {}", profile, column,
              got.verdict);
    }
  }

  // The recipe says itself what another profile makes of the file.
  bool Claims(const char* profile) const {
    return std::string_view(profile) != "spec" &&
           std::ranges::any_of(recipe_.profiles,
                               [profile](const corpus::ProfileClaim& claim) {
                                 return claim.profile == profile;
                               });
  }

  void CheckSingleFault(const FileView& file, const char* profile,
                        const Expectation& got) {
    if (!got.rule) return;
    // Behind a rule of another profile lies the recipe's own.
    std::vector<std::string> masks = recipe_.masks;
    masks.push_back(recipe_.rule);
    const std::string second =
        SecondFault(file, Ask(profile), *got.rule, masks);
    if (!second.empty()) problems_.push_back(second);
  }

  // The same dump for every profile that differs in nothing but policies.
  void KeepDump(const char* profile, Expectation& expectation, Json dump) {
    if (dump.is_null()) return;
    if (vector_.dump.is_null()) {
      vector_.dump = std::move(dump);
      return;
    }
    Json without = vector_.dump;
    without["policies"] = dump["policies"];
    if (without != dump) expectation.dump = std::move(dump);
    (void)profile;
  }

  void BuildSingle() {
    vector_.bytes = assembly_.bytes;
    const auto file = FileView::Make(assembly_.bytes);
    if (!file) return Problem("{}", file.error());
    const bool ask_more =
        vector_.operation == "gguf.get" || vector_.operation == "gguf.tensor";
    for (const char* profile : kProfiles) {
      const auto answer = Both(profile, [&](const wp_implementation& reader) {
        return AskParse(reader, *file, Ask(profile));
      });
      if (!answer) continue;
      Expectation expectation = FromAnswer(*answer);
      if (ask_more) {
        if (answer->verdict == "accept" && answer->policies.empty()) {
          AskMore(*file, profile, expectation);
        } else if (Claims(profile)) {
          CheckProfile(profile, expectation);
        } else {
          Problem("{}: {} needs a clean file", profile, vector_.operation);
        }
      } else if (vector_.operation == "gguf.check") {
        if (answer->verdict == "accept" && answer->policies.empty()) {
          FromRegistry(profile, expectation);
          CheckData(*file, profile, expectation);
        } else if (std::string_view(profile) == "spec") {
          Problem("the container is not clean: {}", Describe(*answer));
        } else {
          CheckProfile(profile, expectation);
        }
        KeepDump(profile, expectation, answer->dump);
      } else {
        CheckProfile(profile, expectation);
        CheckSingleFault(*file, profile, expectation);
        KeepDump(profile, expectation, answer->dump);
      }
      vector_.expect.emplace(profile, std::move(expectation));
    }
  }

  // gguf.get and gguf.tensor: the file is clean, the question is judged.
  void AskMore(const FileView& file, const char* profile,
               Expectation& expectation) {
    const Json& request = vector_.request;
    const auto answer = Both(profile, [&](const wp_implementation& reader) {
      if (vector_.operation == "gguf.tensor") {
        return AskTensor(reader, file, Ask(profile), request.value("index", 0));
      }
      const auto type = ValueTypeOf(request.value("type", ""));
      return AskGet(reader, file, Ask(profile), request.value("key", ""),
                    type.value_or(99));
    });
    if (!answer) return;
    if (answer->verdict != recipe_.verdict) {
      Problem("{}: the recipe says {}, the readers say {}", profile,
              recipe_.verdict, Describe(*answer));
    }
    expectation = {};
    expectation.verdict = answer->verdict;
    if (answer->verdict == "accept") {
      expectation.answer = answer->dump;
    } else {
      expectation.rule = recipe_.rule;
    }
  }

  // Verdicts that no parser gives: the registry's column and the place that
  // the recipe states.
  void FromRegistry(const char* profile, Expectation& out) {
    out = {};
    out.verdict = ToString(ColumnOf(*rule_, profile));
    if (std::string_view(profile) == "spec" && recipe_.verdict != "accept" &&
        out.verdict != recipe_.verdict) {
      Problem("spec: the recipe says {}, the registry {}", recipe_.verdict,
              out.verdict);
    }
    if (recipe_.verdict == "accept") out.verdict = "accept";
    if (out.verdict == "accept") return;
    out.rule = recipe_.rule;
    if (!recipe_.at) return Problem("the recipe does not say where");
    out.offset = recipe_.at->position;
    if (out.verdict == "policy") out.policies = {recipe_.rule};
  }

  // Both readers find in the data what the registry says, and the same.
  void CheckData(const FileView& file, const char* profile,
                 Expectation& expectation) {
    const auto answer = Both(profile, [&](const wp_implementation& reader) {
      return AskCheck(reader, file, Ask(profile));
    });
    if (!answer) return;
    if (answer->verdict != expectation.verdict ||
        answer->rule != expectation.rule ||
        answer->offset != expectation.offset) {
      Problem("{}: the registry says {} {} at {}, the readers say {}", profile,
              expectation.verdict, expectation.rule.value_or(""),
              expectation.offset.value_or(0), Describe(*answer));
    }
    const bool found = std::ranges::any_of(
        answer->dump["findings"], [this](const Json& finding) {
          return finding["rule"] == recipe_.rule;
        });
    const bool sound =
        recipe_.verdict == "accept" && rule_->spec == Cell::kReject;
    if (found == sound) {
      Problem("{}: {} is {}found in the data", profile, recipe_.rule,
              found ? "" : "not ");
    }
    expectation.answer = answer->dump;
  }

  // The optimized reader says of a set what the reference says.
  void CheckSetReaders(const std::vector<FileView>& views,
                       const char* profile) {
    std::vector<std::string> names;
    for (const NamedFile& file : vector_.files) names.push_back(file.name);
    std::uint64_t file = 0;
    std::vector<std::pair<ReaderAnswer, std::uint64_t>> answers;
    for (const char* reader : {"reference", "gguf_view"}) {
      ReaderAnswer answer =
          AskOpenSet(*impls::FindBuiltIn(reader), names, views, profile, &file);
      answers.emplace_back(std::move(answer), file);
    }
    if (answers[0] == answers[1] && answers[0].first.problem.empty()) return;
    Problem(
        "the readers differ on the set under {}: reference says {} in {}, "
        "gguf_view says {} in {}",
        profile, Describe(answers[0].first), answers[0].second,
        Describe(answers[1].first), answers[1].second);
  }

  void BuildSet() {
    std::vector<FileView> views;
    Json dumps = Json::array();
    for (const corpus::AssembledFile& part : assembly_.files) {
      vector_.files.push_back({part.name, part.bytes});
      auto file = FileView::Make(part.bytes);
      if (!file) return Problem("{}", file.error());
      const auto answer = Both("spec", [&](const wp_implementation& reader) {
        return AskParse(reader, *file, Ask("spec"));
      });
      if (!answer) return;
      dumps.push_back(answer->dump);
      views.push_back(std::move(*file));
    }
    bool accepted = false;
    for (const char* profile : kProfiles) {
      CheckSetReaders(views, profile);
      Expectation got = AskSet(vector_.files, views, profile, "");
      CheckSet(profile, got);
      if (got.rule) CheckSetFault(views, profile, *got.rule);
      // A reader without sets points at nothing.
      if (got.verdict == "unsupported") got.rule = recipe_.rule;
      accepted |= got.verdict == "accept" || got.verdict == "policy";
      vector_.expect.emplace(profile, std::move(got));
    }
    if (accepted) vector_.dump = std::move(dumps);
  }

  // As CheckProfile, and the finding is in the file that the recipe points at.
  void CheckSet(const char* profile, Expectation& got) {
    if (got.verdict == "unsupported" &&
        ColumnOf(*rule_, profile) == Cell::kUnsupported) {
      return;
    }
    CheckProfile(profile, got);
    if (got.verdict == "policy" && recipe_.at) got.file = recipe_.at->file;
    if (got.file && recipe_.at && *got.file != recipe_.at->file) {
      Problem("{}: the recipe points into file {}, the reader into {}", profile,
              recipe_.at->file, *got.file);
    }
  }

  void CheckSetFault(const std::vector<FileView>& views, const char* profile,
                     const std::string& rule) {
    const Expectation rest = AskSet(vector_.files, views, profile, rule);
    if (!rest.rule || *rest.rule == rule || *rest.rule == recipe_.rule) return;
    if (std::find(recipe_.masks.begin(), recipe_.masks.end(), *rest.rule) ==
        recipe_.masks.end()) {
      Problem("a second fault under {}: without {} it is {}", profile, rule,
              *rest.rule);
    }
  }

  const Assembly& assembly_;
  const Recipe& recipe_;
  std::vector<std::string>& problems_;
  const Rule* rule_ = nullptr;
  Vector vector_;
};

}  // namespace

Vector BuildOne(const Assembly& assembly, std::vector<std::string>& problems) {
  return OneBuilder(assembly, problems).Build();
}

}  // namespace weightproof::conformance
