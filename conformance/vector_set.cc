#include "conformance/vector_build_one.h"
#include "reference/gguf/profile.h"
#include "reference/gguf/reader.h"
#include "reference/gguf/rules.h"
#include "reference/gguf/set.h"
#include "reference/rule.h"

namespace weightproof::conformance {

Expectation AskSet(const std::vector<NamedFile>& files,
                   const std::vector<FileView>& views, const char* profile,
                   const std::string& waived) {
  gguf::Profile used = *gguf::FindProfile(profile);
  if (const auto rule = FindRule(waived)) {
    used.verdict[*rule - gguf::rules::kFirst] = Cell::kAccept;
  }
  std::vector<std::expected<gguf::File, gguf::Stop>> parsed;
  for (const FileView& view : views) {
    gguf::Input input;
    input.prefix = view.bytes();
    input.file_size = view.bytes().size();
    parsed.push_back(gguf::Parse(input, used));
  }
  std::vector<gguf::Shard> shards;
  for (std::size_t i = 0; i < files.size(); ++i) {
    shards.push_back({files[i].name, &parsed[i]});
  }
  Expectation out;
  const auto judged = gguf::JudgeSet(shards, used);
  if (!judged) {
    const gguf::SetStop& stop = judged.error();
    out.verdict = ToString(stop.stop.verdict);
    if (stop.stop.rule == kNoRule) return out;
    out.rule = Rules()[stop.stop.rule].id;
    out.offset = stop.stop.offset;
    out.file = stop.file;
    return out;
  }
  out.verdict = judged->empty() ? "accept" : "policy";
  for (const RuleIndex rule : *judged) {
    out.policies.emplace_back(Rules()[rule].id);
  }
  if (!judged->empty()) out.rule = out.policies.front();
  return out;
}

}  // namespace weightproof::conformance
