#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "conformance/dump.h"
#include "conformance/judge_internal.h"
#include "conformance/tensor_bytes.h"
#include "reference/rule.h"

namespace weightproof::conformance {
namespace judge {
namespace {

std::string InWords(const Difference& difference) {
  return fmt::format("{}: expected {}, got {}", difference.path,
                     difference.expected, difference.got);
}

std::string_view FieldsOf(const Vector& vector) {
  const auto rule = FindRule(vector.rule);
  return rule ? Rules()[*rule].fields : std::string_view();
}

std::optional<std::uint64_t> Decimal(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

// The fields compared: what is reported, policies between built-ins only, and
// not those of a set, which belong to no file.
std::vector<std::string> ComparedFields(const Context& context) {
  std::vector<std::string> fields = context.subject.hello.dump;
  const bool policies =
      context.subject.built_in && context.vector.operation != "gguf.open_set";
  if (!policies) std::erase(fields, "policies");
  return fields;
}

// Takes from fields what one answer turned out not to show.
void RemoveHidden(const Json& got, const std::vector<std::string>& skipped,
                  bool offset_counts, std::vector<std::string>& fields) {
  for (const std::string& path : skipped) {
    std::erase(fields, path.substr(0, path.find_first_of(".[")));
  }
  if (got.is_object() && got.value("ordered", Json(true)) == Json(false)) {
    std::erase(fields, "order");
  }
  if (!offset_counts) std::erase(fields, "data_offset");
}

ColumnFit FitDump(const Context& context, Json expected, const Json& got,
                  const Expectation& expectation) {
  const bool has_tensors = expected.contains("tensors") &&
                           expected["tensors"].is_array() &&
                           !expected["tensors"].empty();
  std::vector<std::string> fields = ComparedFields(context);
  if (context.subject.built_in) expected["policies"] = expectation.policies;
  std::vector<std::string> skipped;
  ColumnFit fit;
  if (got.is_null()) {
    skipped = fields;
  } else if (auto difference = CompareDumps(expected, got, fields, &skipped)) {
    fit.fit = Fit::kDiffers;
    fit.difference = InWords(*difference);
    fit.reason = "accepted but read differently: " + fit.difference;
    return fit;
  }
  // Without tensors the offset is free: it proves no alignment, but a rule
  // about nothing else is met by any.
  const std::string_view needed = FieldsOf(context.vector);
  RemoveHidden(got, skipped, has_tensors || needed == "data_offset", fields);
  if (!ReportsFields(needed, fields)) {
    fit.fit = Fit::kNotCompared;
    fit.reason = fmt::format("does not show {}", needed);
    return fit;
  }
  fit.fit = Fit::kYes;
  return fit;
}

// The entry of the expected dump that a reader means by tensor i. A reader that
// lost the order numbers tensors as its own dump lists them; a name that is not
// there once means none.
const Json* TensorNumber(const Json& expected, const Json& got, std::size_t i) {
  static const Json kNone = Json::array();
  const auto list = [](const Json& dump) -> const Json& {
    const auto it = dump.is_object() ? dump.find("tensors") : dump.end();
    return it != dump.end() && it->is_array() ? *it : kNone;
  };
  const Json& tensors = list(expected);
  if (!got.is_object() || got.value("ordered", Json(true)) != Json(false)) {
    return i < tensors.size() ? &tensors[i] : nullptr;
  }
  const Json& own = list(got);
  if (i >= own.size() || !own[i].is_object()) return nullptr;
  const Json name = own[i].value("name", Json());
  const auto named = [&name](const Json& tensor) {
    return tensor.value("name", Json()) == name;
  };
  if (std::ranges::count_if(tensors, named) != 1) return nullptr;
  return &*std::ranges::find_if(tensors, named);
}

// The bytes of accepted tensors against those at data_offset + offset. dump is
// the expected one, got the reader's own.
std::optional<Difference> CompareTensors(const Context& context,
                                         const Json& dump, const Json& got,
                                         int& compared) {
  const auto start = Decimal(dump.value("data_offset", Json()));
  const Json tensors = dump.value("tensors", Json());
  if (!start || !tensors.is_array()) return std::nullopt;
  const auto& replies = context.record.tensors;
  for (std::size_t i = 0; i < std::min(replies.size(), tensors.size()); ++i) {
    const Json& answer = replies[i].answer;
    if (!answer.is_object() ||
        answer.value("verdict", Json()) != Json("accept")) {
      continue;
    }
    const Json* const tensor = TensorNumber(dump, got, i);
    if (tensor == nullptr) continue;
    const auto offset = Decimal(tensor->value("offset", Json()));
    const auto size = Decimal(tensor->value("size", Json()));
    if (!offset || !size) continue;
    const std::string path = fmt::format("tensor[{}]", i);
    const auto got_size = Decimal(answer.value("size", Json()));
    if (got_size && *got_size != *size) {
      return Difference{path + ".size", fmt::format("{}", *size),
                        fmt::format("{}", *got_size)};
    }
    const auto crc = CrcOfRange(context.vector.bytes, *start + *offset, *size);
    const Json got_crc = answer.value("crc32", Json());
    if (!crc || got_crc.is_null()) continue;
    if (got_crc != Json(*crc)) {
      return Difference{path + ".crc32", fmt::format("{}", *crc),
                        got_crc.dump()};
    }
    ++compared;
  }
  return std::nullopt;
}

ColumnFit FitParse(const Context& context, const Expectation& expectation) {
  const Json& expected = DumpOf(context.vector, expectation);
  if (!expected.is_object()) return {Fit::kYes, false, "", ""};
  const Json got = context.observation.answer.value("dump", Json());
  ColumnFit fit = FitDump(context, expected, got, expectation);
  if (fit.fit == Fit::kDiffers) return fit;
  int compared = 0;
  if (const auto difference =
          CompareTensors(context, expected, got, compared)) {
    fit.fit = Fit::kDiffers;
    fit.difference = InWords(*difference);
    fit.reason = "accepted but read differently: " + fit.difference;
    return fit;
  }
  if (context.vector.rule == "gguf.data.tensor.bytes" && compared == 0 &&
      fit.fit == Fit::kYes) {
    return {Fit::kNotCompared, false, "does not show the bytes of tensors", ""};
  }
  return fit;
}

ColumnFit FitSet(const Context& context, const Expectation& expectation) {
  const Json& expected = DumpOf(context.vector, expectation);
  const Json dumps = context.observation.answer.value("dumps", Json());
  if (!expected.is_array()) return {Fit::kYes, false, "", ""};
  if (!dumps.is_array() || dumps.size() != expected.size()) {
    return {Fit::kNotCompared, false, "does not show a dump per file", ""};
  }
  ColumnFit worst = {Fit::kYes, false, "", ""};
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    ColumnFit fit = FitDump(context, expected[i], dumps[i], expectation);
    if (fit.fit >= worst.fit) continue;
    worst = std::move(fit);
    worst.reason = fmt::format("file {}: {}", i, worst.reason);
  }
  return worst;
}

// A checksum as a number or as eight hex digits.
std::optional<std::uint64_t> Checksum(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number, 16);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

ColumnFit FitTensor(const Context& context, const Expectation& expectation) {
  const Json& expected = expectation.answer;
  const Json& answer = context.observation.answer;
  if (!expected.is_object()) return {Fit::kYes, false, "", ""};
  std::optional<Difference> difference;
  const auto size = Decimal(expected.value("size", Json()));
  const auto got_size = Decimal(answer.value("size", Json()));
  const auto crc = Checksum(expected.value("crc32", Json()));
  const auto got_crc = Checksum(answer.value("crc32", Json()));
  if (!got_size && !got_crc) {
    return {Fit::kNotCompared, false, "shows neither size nor crc32", ""};
  }
  const auto text = [](std::optional<std::uint64_t> number) {
    return number ? fmt::format("{}", *number) : std::string("nothing");
  };
  if (got_size && got_size != size) {
    difference = Difference{"size", text(size), text(got_size)};
  } else if (got_crc && got_crc != crc) {
    difference = Difference{"crc32", text(crc), text(got_crc)};
  }
  if (!difference) return {Fit::kYes, false, "", ""};
  return {Fit::kDiffers, false,
          "accepted but read differently: " + InWords(*difference),
          InWords(*difference)};
}

ColumnFit FitGet(const Context& context, const Expectation& expectation) {
  if (!expectation.answer.is_object() ||
      !expectation.answer.contains("value")) {
    return {Fit::kYes, false, "", ""};
  }
  const Json& answer = context.observation.answer;
  const auto difference =
      CompareValues(context.vector.request.value("type", ""),
                    expectation.answer["value"], answer.value("value", Json()));
  if (!difference) return {Fit::kYes, false, "", ""};
  return {Fit::kDiffers, false,
          "accepted but read differently: " + InWords(*difference),
          InWords(*difference)};
}

// Rule and tensor of each finding; nothing if the answer shows none.
std::optional<std::set<std::pair<std::string, std::string>>> FindingsIn(
    const Json& answer) {
  const auto findings =
      answer.is_object() ? answer.find("findings") : answer.end();
  if (findings == answer.end() || !findings->is_array()) return std::nullopt;
  std::set<std::pair<std::string, std::string>> out;
  for (const Json& finding : *findings) {
    if (!finding.is_object()) continue;
    out.emplace(finding.value("rule", Json()).dump(),
                finding.value("tensor", Json()).dump());
  }
  return out;
}

// What an accepting data check warns of.
ColumnFit FitCheck(const Context& context, const Expectation& expectation) {
  const auto expected = FindingsIn(expectation.answer);
  const auto got = FindingsIn(context.observation.answer);
  if (!expected || expected == got || (expected->empty() && !got)) {
    return {Fit::kYes, false, "", ""};
  }
  if (!got) return {Fit::kNotCompared, false, "does not show findings", ""};
  const auto text = [](const auto& findings) {
    std::string out;
    for (const auto& [rule, tensor] : findings) {
      out += fmt::format("{}{} in tensor {}", out.empty() ? "" : ", ", rule,
                         tensor);
    }
    return out.empty() ? std::string("nothing") : out;
  };
  const Difference difference{"findings", text(*expected), text(*got)};
  return {Fit::kDiffers, false,
          "accepted but read differently: " + InWords(difference),
          InWords(difference)};
}

// " (gguf.align.value.zero at byte 53)", or "".
std::string Finding(const Expectation& expectation) {
  if (!expectation.rule) return "";
  if (!expectation.offset) return fmt::format(" ({})", *expectation.rule);
  return fmt::format(" ({} at byte {})", *expectation.rule,
                     *expectation.offset);
}

}  // namespace

const Json& DumpOf(const Vector& vector, const Expectation& expectation) {
  return expectation.dump.is_null() ? vector.dump : expectation.dump;
}

ColumnFit FitGguf(const Context& context, const std::string& profile) {
  const Expectation& expectation = context.vector.expect.at(profile);
  const std::string& cell = expectation.verdict;
  const std::string& verdict = context.observation.verdict;
  const Admission admission =
      Admits(cell, verdict, context.subject.hello.Knows(cell),
             DeclaredOverCap(context.subject.hello, context.vector));
  if (!admission.admitted) {
    std::string reason = fmt::format("expected {}{}, got {}", cell,
                                     Finding(expectation), verdict);
    if (context.observation.late) {
      reason += " (late: " + context.observation.why + ")";
    }
    return {Fit::kNo, false, reason, ""};
  }
  if (verdict != "accept") {
    return {Fit::kYes, admission.without_reason,
            admission.without_reason ? "refused without reason" : "", ""};
  }
  if (context.vector.operation == "gguf.get") {
    return FitGet(context, expectation);
  }
  if (context.vector.operation == "gguf.tensor") {
    return FitTensor(context, expectation);
  }
  if (context.vector.operation == "gguf.check") {
    return FitCheck(context, expectation);
  }
  if (context.vector.operation == "gguf.open_set") {
    return FitSet(context, expectation);
  }
  return FitParse(context, expectation);
}

}  // namespace judge

bool DeclaredOverCap(const Hello& hello, const Vector& vector) {
  struct Kind {
    std::string_view part;  // of a rule id
    const char* cap;
    int width;
  };
  // Ordered: the first that fits.
  static constexpr Kind kKinds[] = {
      {"gguf.kv.key.", "string", 8},
      {"gguf.kv.string.", "string", 8},
      {"gguf.array.length.", "array", 8},
      {"gguf.header.tensor_count.", "tensors", 8},
      {"gguf.header.kv_count.", "kv", 8},
      {"gguf.header.counts.exceed", "kv", 8},
      {"gguf.tensor.name.", "string", 8},
      {"gguf.tensor.n_dims.", "n_dims", 4},
      {"gguf.tensor.dim.", "dim", 8},
      {"gguf.tensor.elements.", "dim", 8},
  };
  const auto spec = vector.expect.find("spec");
  if (spec == vector.expect.end() || !spec->second.rule ||
      !spec->second.offset) {
    return false;
  }
  for (const Kind& kind : kKinds) {
    if (!spec->second.rule->starts_with(kind.part)) continue;
    const auto cap = hello.caps.find(kind.cap);
    if (cap == hello.caps.end()) return false;
    const auto version = NumberAt(vector.bytes, 4, 4);
    const bool narrow = version == 1u && kind.width == 8;
    const auto declared =
        NumberAt(vector.bytes, *spec->second.offset, narrow ? 4 : kind.width);
    return declared && *declared > cap->second;
  }
  return false;
}

std::string Disagreement(const Vector& vector, const CaseRecord& a,
                         const CaseRecord& b) {
  const Observation first = Observe(vector, a), second = Observe(vector, b);
  if (first.not_run || second.not_run) return "";
  const auto differ = [&](std::string_view what, const std::string& one,
                          const std::string& other) {
    return fmt::format("{}: {} {} against {}", vector.id, what, one, other);
  };
  if (first.verdict != second.verdict) {
    return differ("verdict", first.verdict, second.verdict);
  }
  // A refused read of one value or tensor need not name a rule.
  const bool whole =
      vector.operation != "gguf.get" && vector.operation != "gguf.tensor";
  if (first.rule != second.rule && (whole || (first.rule && second.rule))) {
    return differ("rule", first.rule.value_or("none"),
                  second.rule.value_or("none"));
  }
  if (first.offset != second.offset &&
      (whole || (first.offset && second.offset))) {
    const auto text = [](const std::optional<std::uint64_t>& offset) {
      return offset ? fmt::format("{}", *offset) : std::string("none");
    };
    return differ("offset", text(first.offset), text(second.offset));
  }
  const Json found = first.answer.value("findings", Json());
  if (found != second.answer.value("findings", Json())) {
    return differ("findings", found.dump(),
                  second.answer.value("findings", Json()).dump());
  }
  const auto dump = first.answer.find("dump");
  if (dump == first.answer.end() || first.verdict != "accept") return "";
  const auto difference =
      CompareDumps(*dump, second.answer.value("dump", Json()), AllDumpFields());
  return difference
             ? differ(difference->path, difference->expected, difference->got)
             : "";
}

}  // namespace weightproof::conformance
