#include "fuzzers/life/classify.h"

#include "fuzzers/gguf/oracle.h"
#include "impls/registry.h"

namespace weightproof::fuzzers {

std::string FileClass::ToString() const {
  const ProfileClass& spec = profiles[0];
  return spec.rule.empty() ? spec.verdict : spec.verdict + " " + spec.rule;
}

FileClass ClassOf(ByteSpan file) {
  constexpr std::array<const char*, 4> kVerdicts = {"accept", "reject",
                                                    "unsupported", "limit"};
  FileClass out;
  GgufAnswer answer;
  for (std::size_t i = 0; i < kClassProfiles.size(); ++i) {
    GgufQuestion question;
    question.profile = kClassProfiles[i];
    AskGguf(*impls::FindBuiltIn("reference"), file, question, answer);
    ProfileClass& profile = out.profiles[i];
    profile.verdict = kVerdicts[static_cast<std::size_t>(answer.verdict & 3)];
    if (answer.rule != nullptr) profile.rule = answer.rule;
    profile.offset = answer.offset;
  }
  return out;
}

bool SameClass(const FileClass& a, const FileClass& b) {
  for (std::size_t i = 0; i < a.profiles.size(); ++i) {
    if (a.profiles[i].verdict != b.profiles[i].verdict ||
        a.profiles[i].rule != b.profiles[i].rule) {
      return false;
    }
  }
  return true;
}

}  // namespace weightproof::fuzzers
