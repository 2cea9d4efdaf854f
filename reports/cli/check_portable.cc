#include "reports/cli/check_portable.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "reference/gguf/profile.h"
#include "reference/gguf/reader.h"
#include "reference/gguf/rules.h"
#include "reference/gguf/types.h"
#include "reference/gguf/value.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

namespace rules = gguf::rules;
using Bytes = std::span<const std::uint8_t>;

// spec, except that what it accepts is a policy: so the reader lists it.
gguf::Profile ListingProfile() {
  gguf::Profile profile = gguf::SpecProfile();
  for (Cell& cell : profile.verdict) {
    if (cell == Cell::kAccept) cell = Cell::kPolicy;
  }
  return profile;
}

// The rules about values, which no parse breaks.
class ValueRules : public gguf::ValueVisitor {
 public:
  explicit ValueRules(std::set<RuleIndex>& met) : met_(met) {}

  void Scalars(std::uint32_t type, Bytes bytes, std::uint64_t) override {
    met_.insert(depth_ == 0 ? rules::kKvScalarExact : rules::kArrayScalarExact);
    if (type == gguf::kF32 && depth_ == 0 && bytes.size() == 4 &&
        (bytes[3] & 0x7f) == 0x7f && (bytes[2] & 0x80) != 0 &&
        ((bytes[2] & 0x7f) | bytes[1] | bytes[0]) != 0) {
      met_.insert(rules::kKvScalarNan);
    }
  }
  void String(Bytes text) override {
    if (text.empty()) {
      met_.insert(rules::kKvStringEmpty);
      return;
    }
    const auto space = [](std::uint8_t c) { return c == ' ' || c - 9u < 5; };
    if (space(text.front()) || space(text.back())) {
      met_.insert(rules::kKvStringWhitespace);
    }
    if (std::ranges::any_of(text, [](std::uint8_t c) { return c >= 0x80; })) {
      met_.insert(rules::kKvStringMultibyte);
    }
    const auto nul = std::ranges::find(text, 0);
    if (nul == text.end()) return;
    met_.insert(nul + 1 == text.end() ? rules::kKvStringNulTrailing
                                      : rules::kKvStringNulEmbedded);
  }
  void ArrayBegin(std::uint32_t, std::uint64_t count) override {
    ++depth_;
    if (count == 0) met_.insert(rules::kArrayEmptyTyped);
  }
  void ArrayEnd() override { --depth_; }

 private:
  std::set<RuleIndex>& met_;
  int depth_ = 0;
};

bool IsText(Bytes bytes, std::string_view text) {
  return std::ranges::equal(bytes, text, [](std::uint8_t a, char b) {
    return a == static_cast<std::uint8_t>(b);
  });
}

void KeyRules(const gguf::File& file, std::set<RuleIndex>& met) {
  for (const gguf::KeyValue& kv : file.kv) {
    const Bytes key = file.Bytes(kv.key);
    for (const char* name : {"version", "tensor_count", "kv_count"}) {
      if (IsText(key, name)) met.insert(rules::kKvKeyReservedName);
    }
    if (IsText(key, "__proto__")) met.insert(rules::kKvKeyProto);
    if (IsText(key, "general.alignment"))
      met.insert(rules::kAlignValueHonoured);
    ValueRules visitor(met);
    gguf::VisitValue(file, kv, visitor);
  }
}

void TensorRules(const gguf::File& file, std::set<RuleIndex>& met) {
  std::uint64_t end = file.data_start;
  for (const gguf::Tensor& tensor : file.tensors) {
    if (tensor.name.size == 63) met.insert(rules::kTensorNameLength63);
    for (std::uint32_t i = 0; i < tensor.n_dims; ++i) {
      if (tensor.dims[i] == 0) met.insert(rules::kTensorDimZero);
      if (tensor.dims[i] >> 32 != 0) met.insert(rules::kTensorDimAbove2p32);
    }
    if (tensor.size != 0) {
      end = std::max(end, file.data_start + tensor.offset + tensor.size);
    }
  }
  if (file.tensors.empty()) {
    met.insert(rules::kGeometryDataStartNoTensors);
    return;
  }
  if (file.entries_end == file.data_start) {
    met.insert(rules::kGeometryDataStartAligned);
  }
  if (end % file.alignment != 0) {
    met.insert(file.file_size == end ? rules::kDataTailPaddingMissing
                                     : rules::kDataTailPaddingPresent);
  }
  if (file.file_size >> 31 != 0) met.insert(rules::kIoOffset64bit);
}

// Whether a deviation speaks of the rule: by name, or by a vector of it.
bool SpeaksOf(const conformance::Deviation& deviation, std::string_view rule) {
  if (!deviation.rule.empty()) {
    return conformance::GlobMatches(deviation.rule, rule);
  }
  return deviation.vector.size() > rule.size() &&
         deviation.vector.starts_with(rule) &&
         deviation.vector[rule.size()] == '-';
}

}  // namespace

std::vector<RuleIndex> RulesMet(Bytes bytes) {
  gguf::Input input;
  input.prefix = bytes;
  input.file_size = bytes.size();
  const auto file = gguf::Parse(input, ListingProfile());
  std::set<RuleIndex> met;
  if (file) {
    met.insert(file->policies.begin(), file->policies.end());
    KeyRules(*file, met);
    TensorRules(*file, met);
  } else if (file.error().rule != kNoRule) {
    met.insert(file.error().rule);
  }
  return {met.begin(), met.end()};
}

std::vector<DivergingRule> FindDivergence(
    Bytes bytes, const std::vector<conformance::DriverInstance>& readers) {
  std::vector<DivergingRule> out;
  for (const RuleIndex index : RulesMet(bytes)) {
    const Rule& rule = Rules()[index];
    DivergingRule diverging{.rule = index, .readers = {}};
    diverging.profiles_differ = rule.spec != rule.ggml ||
                                rule.spec != rule.candle ||
                                rule.spec == Cell::kPolicy;
    std::set<std::pair<std::string, std::string>> seen;
    for (const conformance::DriverInstance& reader : readers) {
      for (const conformance::Deviation& deviation : reader.deviations) {
        const bool parses =
            deviation.operation.empty() || deviation.operation == "gguf.parse";
        if (!parses || !SpeaksOf(deviation, rule.id) ||
            !conformance::AppliesTo(deviation, reader.name, reader.version) ||
            !seen.emplace(reader.name, deviation.reason).second) {
          continue;
        }
        diverging.readers.push_back(
            {reader.name, deviation.verdicts, deviation.reason});
      }
    }
    if (diverging.profiles_differ || !diverging.readers.empty()) {
      out.push_back(std::move(diverging));
    }
  }
  return out;
}

std::string PortableWords(const std::vector<DivergingRule>& diverging,
                          const reports::TerminalStyle& style) {
  if (diverging.empty()) {
    return "  portable: no known reader reads it in another way\n";
  }
  std::string out = fmt::format("  not portable: {}\n",
                                reports::Count(diverging.size(), "rule"));
  const std::size_t width = std::clamp<std::size_t>(style.width, 60, 100) - 4;
  const auto say = [&](const std::string& text) {
    for (const std::string& line : reports::Wrap(text, width)) {
      out += "    " + line + "\n";
    }
  };
  for (const DivergingRule& item : diverging) {
    const Rule& rule = Rules()[item.rule];
    out += fmt::format("  {}\n",
                       reports::Paint(style, reports::Ink::kBold, rule.id));
    say(std::string(rule.statement) + ".");
    if (item.profiles_differ) {
      say(fmt::format("spec {}, ggml {}, candle {}", ToString(rule.spec),
                      ToString(rule.ggml), ToString(rule.candle)));
    }
    for (const DivergingReader& reader : item.readers) {
      std::string verdicts;
      for (const std::string& verdict : reader.verdicts) {
        verdicts += (verdicts.empty() ? "" : "/") + verdict;
      }
      say(fmt::format("{}: {}: {}", reader.name, verdicts, reader.reason));
    }
  }
  return out;
}

Json ToJson(const std::vector<DivergingRule>& diverging) {
  Json out = Json::array();
  for (const DivergingRule& item : diverging) {
    const Rule& rule = Rules()[item.rule];
    Json readers = Json::array();
    for (const DivergingReader& reader : item.readers) {
      readers.push_back({{"name", reader.name},
                         {"verdicts", reader.verdicts},
                         {"reason", reader.reason}});
    }
    out.push_back({{"rule", rule.id},
                   {"profiles",
                    {{"spec", ToString(rule.spec)},
                     {"ggml", ToString(rule.ggml)},
                     {"candle", ToString(rule.candle)}}},
                   {"readers", readers}});
  }
  return out;
}

}  // namespace weightproof::cli
