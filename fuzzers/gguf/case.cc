#include "fuzzers/gguf/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "conformance/vector_answers.h"
#include "fuzzers/gguf/token_tree.h"
#include "impls/registry.h"
#include "reference/gguf/profile.h"
#include "reference/gguf/reader.h"
#include "reference/gguf/types.h"

namespace weightproof::fuzzers {
namespace {

using conformance::Expectation;
using conformance::FileView;
using conformance::Question;
using gguf::FieldKind;

constexpr const char* kProfiles[] = {"spec", "ggml", "candle"};

// Adds each id once, in the order in which they come.
class RuleList {
 public:
  void Add(std::string_view id) {
    std::string text = fmt::format("gguf.{}", id);
    AddWhole(std::move(text));
  }
  void AddWhole(std::string id) {
    if (seen_.insert(id).second) list_.push_back(std::move(id));
  }
  std::vector<std::string> Take() { return std::move(list_); }

 private:
  std::set<std::string> seen_;
  std::vector<std::string> list_;
};

// What a profile refuses the file for, then what else if that is waived.
void AddFaults(ByteSpan file, const gguf::Profile& profile, RuleList& rules) {
  constexpr int kMost = 6;
  gguf::Profile waived = profile;
  gguf::Input input;
  input.prefix = file;
  input.file_size = file.size();
  for (int i = 0; i < kMost; ++i) {
    const auto parsed = gguf::Parse(input, waived);
    if (parsed) {
      for (const RuleIndex policy : parsed->policies) {
        rules.AddWhole(std::string(Rules()[policy].id));
      }
      return;
    }
    const RuleIndex rule = parsed.error().rule;
    if (rule == kNoRule) return;
    rules.AddWhole(std::string(Rules()[rule].id));
    Cell& cell = waived.verdict[rule - gguf::rules::kFirst];
    if (cell == Cell::kAccept) return;
    cell = Cell::kAccept;
  }
}

void AddTextFeatures(const Bytes& text, RuleList& rules) {
  if (text.empty()) return rules.Add("kv.string.empty");
  if (text.back() == 0) rules.Add("kv.string.nul_trailing");
  if (std::ranges::find(text.begin(), text.end() - 1, 0) != text.end() - 1) {
    rules.Add("kv.string.nul_embedded");
  }
  const auto is_space = [](std::uint8_t c) { return c <= 32 && c != 0; };
  if (std::ranges::any_of(text, is_space)) rules.Add("kv.string.whitespace");
  if (std::ranges::any_of(text, [](std::uint8_t c) { return c >= 0x80; })) {
    rules.Add("kv.string.multibyte");
  }
}

bool IsNan(const Token& token) {
  if (token.type == gguf::kF32) {
    return (token.number & 0x7fffffff) > 0x7f800000;
  }
  return token.type == gguf::kF64 &&
         (token.number & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

void AddKeyValueFeatures(const Tokens& kv, RuleList& rules) {
  const std::string_view key = NameOf(kv);
  if (key == "__proto__" || key == "constructor") rules.Add("kv.key.proto");
  if (key == "version" || key == "kv_count" || key == "tensor_count") {
    rules.Add("kv.key.reserved_name");
  }
  if (key == "general.alignment") rules.Add("align.value.honoured");
  for (std::size_t i = 3; i < kv.size(); ++i) {
    const Token& token = kv[i];
    if (token.kind == FieldKind::kText) AddTextFeatures(token.bytes, rules);
    if (token.kind == FieldKind::kItems) rules.Add("array.scalar.exact");
    if (token.kind == FieldKind::kScalar) {
      if (IsNan(token)) rules.Add("kv.scalar.nan");
      rules.Add("kv.scalar.exact");
    }
    const bool array =
        token.kind == FieldKind::kLength && token.type == gguf::kArray;
    if (array && token.number == 0) rules.Add("array.empty.typed");
  }
}

void AddTensorFeatures(const Tokens& tensor, RuleList& rules) {
  if (NameOf(tensor).size() == 63) rules.Add("tensor.name.length_63");
  bool any_dim = false;
  for (const Token& token : tensor) {
    if (token.kind == FieldKind::kDim) {
      any_dim = true;
      if (token.number == 0) {
        rules.Add("tensor.dim.zero");
        rules.Add("geometry.layout.empty_tensor");
      }
      if (token.number > 0xffffffff) rules.Add("tensor.dim.above_2p32");
    }
    if (token.kind != FieldKind::kType || !token.tensor_type) continue;
    const auto* type =
        gguf::FindTensorType(static_cast<std::uint32_t>(token.number));
    if (type == nullptr) continue;
    switch (type->tier) {
      case gguf::TypeTier::kCommon:
        rules.Add("tensor.type.common");
        break;
      case gguf::TypeTier::kIntermediate:
        rules.Add("tensor.type.intermediate");
        break;
      case gguf::TypeTier::kExtended:
        rules.Add("tensor.type.extended");
        break;
      default:
        rules.Add("tensor.type.newer");
    }
  }
  if (!any_dim) rules.Add("tensor.n_dims.zero");
}

void AddFileFeatures(const TokenTree& tree, RuleList& rules) {
  if (tree.big_endian) rules.Add("header.version.big_endian");
  if (tree.version == 1) rules.Add("header.version.one");
  if (tree.version == 2) rules.Add("header.version.two");
  if (tree.tensors.empty()) {
    rules.Add("geometry.data_start.no_tensors");
    if (tree.kvs.empty()) rules.Add("header.file.minimal");
  } else {
    rules.Add("data.tail.padding_missing");
    rules.Add("data.tail.padding_present");
    rules.Add("geometry.data_start.aligned");
    rules.Add("data.tensor.bytes");
  }
  rules.Add("header.kv_count.minimum_entry");
  rules.Add("dump.order.kept");
}

}  // namespace

bool GgufVector(ByteSpan file, conformance::Vector& out) {
  out = {};
  out.format = "gguf";
  out.operation = "gguf.parse";
  out.id = fmt::format("fuzz.{:016x}", HashBytes(file));
  out.bytes.chunks.push_back(corpus::Literal{{file.begin(), file.end()}});
  const auto view = FileView::Make(out.bytes);
  if (!view) return false;
  const wp_implementation& reader = *impls::FindBuiltIn("reference");
  for (const char* profile : kProfiles) {
    const auto answer = AskParse(reader, *view, Question{profile, 0, false});
    if (!answer.problem.empty()) return false;
    Expectation expectation;
    expectation.verdict = answer.policies.empty() ? answer.verdict : "policy";
    expectation.rule = answer.rule;
    if (!answer.policies.empty()) expectation.rule = answer.policies.front();
    expectation.offset = answer.offset;
    expectation.policies = answer.policies;
    if (!answer.dump.is_null()) {
      if (out.dump.is_null()) out.dump = answer.dump;
      expectation.dump = answer.dump;
    }
    if (out.rule.empty() && expectation.rule) out.rule = *expectation.rule;
    out.expect.emplace(profile, std::move(expectation));
  }
  return true;
}

std::vector<std::string> GgufRules(ByteSpan file) {
  RuleList rules;
  for (const char* profile : kProfiles) {
    AddFaults(file, *gguf::FindProfile(profile), rules);
  }
  const TokenTree tree = ParseTokens(file);
  for (const Tokens& kv : tree.kvs) AddKeyValueFeatures(kv, rules);
  for (const Tokens& tensor : tree.tensors) AddTensorFeatures(tensor, rules);
  AddFileFeatures(tree, rules);
  return rules.Take();
}

}  // namespace weightproof::fuzzers
