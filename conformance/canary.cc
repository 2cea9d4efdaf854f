#include "conformance/canary.h"

#include <fmt/format.h>

#include "conformance/dump.h"
#include "conformance/dump_value.h"
#include "conformance/judge.h"

namespace weightproof::conformance {
namespace {

corpus::Bytes Bytes(std::string_view hex) {
  const auto bytes = HexToBytes(hex);
  corpus::Literal literal;
  if (bytes) literal.bytes.assign(bytes->begin(), bytes->end());
  return {{literal}};
}

Vector Make(std::string_view id, std::string_view rule, std::string_view hex,
            const Expectation& expectation, Json dump) {
  Vector vector;
  vector.id = id;
  vector.format = "gguf";
  vector.operation = "gguf.parse";
  vector.rule = rule;
  vector.bytes = Bytes(hex);
  vector.dump = std::move(dump);
  for (const char* profile : {"spec", "ggml", "candle"}) {
    vector.expect[profile] = expectation;
  }
  return vector;
}

Expectation Reject(std::string_view rule, std::uint64_t offset) {
  Expectation expectation;
  expectation.verdict = "reject";
  expectation.rule = rule;
  expectation.offset = offset;
  return expectation;
}

Expectation Accept() {
  Expectation expectation;
  expectation.verdict = "accept";
  return expectation;
}

Json Dump(std::string_view file_size, Json kv) {
  return {{"version", 3},
          {"endian", "little"},
          {"alignment", 32},
          {"data_offset", nullptr},
          {"file_size", file_size},
          {"kv", std::move(kv)},
          {"tensors", Json::array()},
          {"policies", Json::array()}};
}

VectorSet MakeVectors() {
  // Magic and version, then the counts of tensors and of keys.
  const std::string no_counts(32, '0');
  VectorSet set;
  set.version = "canary";
  set.vectors.push_back(Make("canary-version-zero", "gguf.header.version.zero",
                             "4747554600000000" + no_counts,
                             Reject("gguf.header.version.zero", 4), nullptr));
  set.vectors.push_back(Make("canary-minimal", "gguf.header.file.minimal",
                             "4747554603000000" + no_counts, Accept(),
                             Dump("24", Json::array())));
  set.vectors.push_back(Make("canary-magic", "gguf.header.magic.wrong",
                             "4747554703000000" + no_counts,
                             Reject("gguf.header.magic.wrong", 0), nullptr));
  set.vectors.push_back(
      Make("canary-scalar", "gguf.kv.scalar.exact",
           "4747554603000000"
           "00000000000000000100000000000000"
           "01000000000000006b"  // key "k"
           "04000000"            // u32
           "07000000",
           Accept(),
           Dump("41",
                Json::array({{{"key", "k"}, {"type", "u32"}, {"value", 7}}}))));
  set.vectors.push_back(Make("canary-tensor", "gguf.data.tensor.past_eof",
                             "4747554603000000"
                             "01000000000000000000000000000000"
                             "010000000000000074"  // name "t"
                             "01000000"            // one dim: 8
                             "0800000000000000"
                             "00000000"          // F32
                             "0000000000000000"  // offset
                             "00000000000000"    // padding, 31 data bytes
                             "000000000000000000000000000000"
                             "00000000000000000000000000000000",
                             Reject("gguf.data.tensor.past_eof", 49), nullptr));
  return set;
}

}  // namespace

const VectorSet& CanaryVectors() {
  static const VectorSet kSet = MakeVectors();
  return kSet;
}

CanaryVerdict JudgeCanary(const Hello& hello,
                          const std::vector<CaseRecord>& records) {
  const Subject subject = {"canary", hello, true, ""};
  const auto& vectors = CanaryVectors().vectors;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const Row row = JudgeCase(subject, vectors[i], records[i], {});
    const bool must_fail = i == 0;
    const bool failed = row.outcome == Outcome::kFail;
    const bool passed = row.outcome == Outcome::kPass;
    if (must_fail && (!failed || row.verdict != "accept")) {
      return {false, fmt::format("{}: the planted bug was not caught ({})",
                                 row.vector, row.verdict)};
    }
    if (!must_fail && !passed) {
      return {false, fmt::format("{}: failed without a planted bug: {}",
                                 row.vector, row.reason)};
    }
  }
  return {true, "caught the planted bug in " + vectors[0].rule};
}

std::vector<CaseRecord> RecordedCanary() {
  std::vector<CaseRecord> records;
  for (const Vector& vector : CanaryVectors().vectors) {
    const Expectation& expected = vector.expect.at("spec");
    CaseRecord record;
    record.vector = vector.id;
    record.reply.answer = {{"status", "ok"}, {"verdict", "accept"}};
    if (!vector.dump.is_null()) record.reply.answer["dump"] = vector.dump;
    if (expected.rule && !records.empty()) {
      record.reply.answer["verdict"] = "reject";
      record.reply.answer["rule"] = *expected.rule;
    }
    records.push_back(std::move(record));
  }
  return records;
}

Hello RecordedCanaryHello() {
  Hello hello;
  hello.name = "canary";
  hello.operations = {"gguf.parse"};
  hello.verdicts = {"accept", "reject", "unsupported", "limit"};
  const auto fields = AllDumpFields();
  hello.dump.assign(fields.begin(), fields.end());
  return hello;
}

}  // namespace weightproof::conformance
