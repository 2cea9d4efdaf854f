#include "fuzzers/gguf/oracle_sets.h"

#include <fmt/format.h>

#include <array>
#include <deque>
#include <string_view>
#include <utility>

#include "fuzzers/gguf/oracle.h"
#include "fuzzers/gguf/recorder.h"
#include "fuzzers/gguf/token_tree.h"
#include "reference/gguf/types.h"

namespace weightproof::fuzzers {
namespace {

using gguf::FieldKind;

void Take(const wp_answer& answer, GgufAnswer& out) {
  out.status = answer.status;
  out.verdict = answer.verdict;
  out.rule = answer.rule;
  out.offset = answer.offset;
}

wp_gguf_input InputOf(ByteSpan file, const char* profile) {
  wp_gguf_input input{};
  input.data = {file.data(), file.size()};
  input.file_size = file.size();
  input.profile = profile;
  return input;
}

void AskCheck(const wp_implementation& reader, ByteSpan file,
              const char* profile, GgufAnswer& out) {
  const wp_gguf_input input = InputOf(file, profile);
  const wp_gguf_data_sink sink = {
      &out.log, [](void* context, const wp_gguf_data_finding* finding) {
        const std::string line = fmt::format(
            "{} tensor {} block {} offset {} count {}\n", finding->rule,
            finding->tensor, finding->block, finding->offset, finding->count);
        auto& log = *static_cast<Bytes*>(context);
        log.insert(log.end(), line.begin(), line.end());
      }};
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  reader.gguf_check(&input, &sink, &answer);
  Take(answer, out);
}

void AskSet(const wp_implementation& reader, std::span<const SetFile> files,
            const char* profile, GgufAnswer& out) {
  std::vector<wp_gguf_input> inputs;
  std::vector<const char*> names;
  std::deque<GgufAnswer> answers(files.size());
  std::deque<Recorder> recorders;
  std::vector<wp_gguf_sink> sinks;
  for (std::size_t i = 0; i < files.size(); ++i) {
    inputs.push_back(InputOf(files[i].bytes, profile));
    names.push_back(files[i].name.c_str());
    recorders.emplace_back(answers[i]);
    sinks.push_back(recorders[i].Sink());
  }
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  reader.gguf_open_set(inputs.data(), names.data(), inputs.size(), sinks.data(),
                       &answer);
  Take(answer, out);
  if (answer.verdict == WP_REJECT) {
    out.log.push_back(static_cast<std::uint8_t>(answer.row));
  }
  if (answer.status != WP_STATUS_OK || answer.verdict != WP_ACCEPT) return;
  for (std::size_t i = 0; i < files.size(); ++i) {
    recorders[i].Finish();
    out.log.insert(out.log.end(), answers[i].log.begin(), answers[i].log.end());
    if (out.violation.empty()) out.violation = answers[i].violation;
  }
}

std::optional<Finding> Compare(const wp_implementation& tested,
                               const GgufAnswer& expected,
                               const GgufAnswer& got, std::string_view what) {
  auto finding = CompareGguf(tested, expected, got, true);
  if (!finding && expected.log != got.log) {
    finding.emplace();
    finding->kind = FindingKind::kDump;
    finding->implementation = tested.name;
    if (expected.rule != nullptr) finding->rule = expected.rule;
    finding->behaviour = "other findings, or of another file";
    finding->description =
        fmt::format("{} and {}", expected.Describe(), got.Describe());
  }
  if (finding) {
    finding->behaviour = fmt::format("{}: {}", what, finding->behaviour);
  }
  return finding;
}

void AddKey(TokenTree& tree, std::string_view name, std::uint64_t value,
            Random& random) {
  constexpr std::array<std::uint32_t, 10> kTypes = {
      gguf::kU16, gguf::kU16, gguf::kU16, gguf::kI32,  gguf::kU8,
      gguf::kI8,  gguf::kU64, gguf::kI64, gguf::kBool, gguf::kF32};
  constexpr std::array<std::uint64_t, 8> kOther = {
      0, 1, 2, 3, 4, 0xffff, 0x10001, UINT64_MAX};
  if (random.OneIn(12)) return;
  // The wide types, bool and float are rare: they hide all other rules.
  const std::uint32_t type = kTypes[random.Below(random.OneIn(6) ? 10 : 4)];
  if (random.OneIn(10)) value = kOther[random.Below(kOther.size())];
  if (type == gguf::kBool) value &= 1;
  Tokens kv;
  AppendText(kv, Bytes(name.begin(), name.end()));
  kv.push_back(NumberToken(FieldKind::kType, type));
  kv.push_back(NumberToken(FieldKind::kScalar, value, 1, type));
  tree.kvs.push_back(std::move(kv));
}

void SetAlignment(TokenTree& tree, Random& random) {
  constexpr std::string_view kKey = "general.alignment";
  std::erase_if(tree.kvs, [&](const Tokens& kv) { return NameOf(kv) == kKey; });
  Tokens kv;
  AppendText(kv, Bytes(kKey.begin(), kKey.end()));
  kv.push_back(NumberToken(FieldKind::kType, gguf::kU32));
  kv.push_back(
      NumberToken(FieldKind::kScalar, 8 << random.Below(5), 1, gguf::kU32));
  tree.kvs.push_back(std::move(kv));
}

}  // namespace

std::optional<Finding> CompareGgufCheck(const wp_implementation& trusted,
                                        const wp_implementation& tested,
                                        ByteSpan file, const char* profile) {
  if (tested.gguf_check == nullptr) return std::nullopt;
  GgufAnswer expected, got;
  AskCheck(trusted, file, profile, expected);
  AskCheck(tested, file, profile, got);
  return Compare(tested, expected, got, "gguf.check");
}

std::vector<SetFile> MakeGgufSet(ByteSpan file, Random& random) {
  TokenTree plain = ParseTokens(file);
  if (plain.front.size() < 4) plain = EmptyFile(3, false);
  std::erase_if(plain.kvs, [](const Tokens& kv) {
    return NameOf(kv).starts_with("split.");
  });
  const std::uint64_t count = 1 + random.Below(3);
  const std::uint64_t tensors = count * plain.tensors.size();
  std::vector<SetFile> files;
  for (std::uint64_t i = 0; i < count; ++i) {
    TokenTree tree = plain;
    AddKey(tree, "split.no", i, random);
    AddKey(tree, "split.count", count, random);
    AddKey(tree, "split.tensors.count",
           random.OneIn(6) ? tensors + 0x10000 : tensors, random);
    if (random.OneIn(8)) SetAlignment(tree, random);
    RefixLengths(tree);
    RefixLayout(tree, Placement::kKept);
    const std::uint64_t number = random.OneIn(10) ? random.Below(5) : i + 1;
    const std::uint64_t of = random.OneIn(10) ? random.Below(5) : count;
    files.push_back({random.OneIn(8)
                         ? fmt::format("m{}.gguf", i)
                         : fmt::format("m-{:05}-of-{:05}.gguf", number, of),
                     Serialize(tree)});
  }
  if (random.OneIn(12)) std::swap(files.front(), files.back());
  if (random.OneIn(12)) files.pop_back();
  if (random.OneIn(8) && !files.empty()) {
    Bytes& broken = files.back().bytes;
    broken.resize(random.Below(broken.size() + 1));
  }
  return files;
}

std::optional<Finding> CompareGgufSet(const wp_implementation& trusted,
                                      const wp_implementation& tested,
                                      std::span<const SetFile> files,
                                      const char* profile) {
  if (tested.gguf_open_set == nullptr) return std::nullopt;
  GgufAnswer expected, got;
  AskSet(trusted, files, profile, expected);
  AskSet(tested, files, profile, got);
  return Compare(tested, expected, got, "gguf.open_set");
}

}  // namespace weightproof::fuzzers
