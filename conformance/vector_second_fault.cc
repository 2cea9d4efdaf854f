#include <fmt/format.h>

#include <algorithm>

#include "conformance/vector_build_one.h"
#include "reference/gguf/profile.h"
#include "reference/gguf/reader.h"
#include "reference/gguf/rules.h"
#include "reference/rule.h"

namespace weightproof::conformance {

std::string SecondFault(const FileView& file, const Question& question,
                        const std::string& rule,
                        const std::vector<std::string>& masks) {
  const auto index = FindRule(rule);
  const gguf::Profile* const profile = gguf::FindProfile(question.profile);
  if (!index || profile == nullptr) return "no such rule or profile: " + rule;
  gguf::Profile waived = *profile;
  waived.verdict[*index - gguf::rules::kFirst] = Cell::kAccept;

  gguf::Input input;
  input.prefix = file.bytes();
  input.file_size = file.bytes().size();
  input.base = question.base;
  input.require_keys = question.require_keys;
  const auto parsed = gguf::Parse(input, waived);
  const auto masked = [&](RuleIndex found) {
    const std::string id(Rules()[found].id);
    return std::find(masks.begin(), masks.end(), id) != masks.end();
  };
  if (!parsed) {
    const gguf::Stop& stop = parsed.error();
    if (stop.rule == *index || masked(stop.rule)) return "";
    return fmt::format("a second fault under {}: without {} it is {} at {}",
                       question.profile, rule, Rules()[stop.rule].id,
                       stop.offset);
  }
  for (const RuleIndex policy : parsed->policies) {
    if (policy == *index || masked(policy)) continue;
    return fmt::format(
        "a second fault under {}: without {} it is a matter of "
        "policy by {}",
        question.profile, rule, Rules()[policy].id);
  }
  return "";
}

}  // namespace weightproof::conformance
