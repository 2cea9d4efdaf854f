#include "fuzzers/gguf/ggml.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "build_paths.h"
#include "conformance/deviations.h"
#include "conformance/dump.h"
#include "conformance/host.h"
#include "conformance/judge.h"
#include "fuzzers/foreign_judge.h"
#include "fuzzers/gguf/case.h"
#include "fuzzers/gguf/oracle.h"
#include "impls/registry.h"
#include "reference/rule.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;
using conformance::Deviation;
using conformance::Json;
using conformance::Outcome;

constexpr const char* kName = "ggml/metadata";

fs::path Place(const char* variable, const char* built) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? built : value;
}

// ggml tells of every file what is wrong with it.
void Silence(const fs::path& library) {
  using Callback = void (*)(int, const char*, void*);
  void* base = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (base == nullptr) return;
  const auto set =
      reinterpret_cast<void (*)(Callback, void*)>(dlsym(base, "ggml_log_set"));
  if (set != nullptr) set([](int, const char*, void*) {}, nullptr);
}

// ggml keeps no dims of 1 behind the last other one, and no caller can ask for
// them: they are taken out of what is expected too.
void DropTrailingOnes(Json& dump) {
  if (!dump.is_object() || !dump.contains("tensors")) return;
  for (Json& tensor : dump["tensors"]) {
    Json& dims = tensor["dims"];
    while (dims.size() > 1 && dims.back() == "1") dims.erase(dims.size() - 1);
  }
}

const wp_implementation* OpenGgml() {
  const fs::path build = Place("WEIGHTPROOF_BUILD", WEIGHTPROOF_BINARY_DIR);
  const fs::path libraries =
      build /
      "drivers/ggml/node_modules/@node-llama-cpp/linux-x64/bins/"
      "linux-x64";
  if (!fs::exists(libraries / "libggml-base.so")) return nullptr;
  void* plugin = dlopen((build / "lib/plugin_ggml.so").c_str(), RTLD_NOW);
  if (plugin == nullptr) return nullptr;
  const auto open = reinterpret_cast<wp_open_function>(
      dlsym(plugin, "wp_implementation_open"));
  char error[256] = {};
  setenv("GGML_NO_BACKTRACE", "1", 1);
  Silence(libraries / "libggml-base.so");
  return open == nullptr ? nullptr
                         : open(("metadata " + libraries.string()).c_str(),
                                error, sizeof error);
}

std::vector<Deviation> LoadDeviations() {
  const fs::path source = Place("WEIGHTPROOF_ROOT", WEIGHTPROOF_SOURCE_DIR);
  std::ifstream in(source / "impls/drivers/ggml/deviations.json");
  auto read = conformance::DeviationsFromJson(Json::parse(in, nullptr, false));
  return read ? std::move(*read) : std::vector<Deviation>();
}

std::vector<std::string> Words(const char* const* list) {
  std::vector<std::string> out;
  for (; list != nullptr && *list != nullptr; ++list) out.push_back(*list);
  return out;
}

class GgmlJudge {
 public:
  explicit GgmlJudge(const wp_implementation& ggml) : ggml_(ggml) {
    subject_.name = kName;
    subject_.hello.name = kName;
    subject_.hello.version = ggml.version;
    subject_.hello.operations = {"gguf.parse"};
    subject_.hello.verdicts = Words(ggml.verdicts);
    subject_.hello.dump = Words(ggml.dump_fields);
    if (ggml.profile != nullptr) subject_.hello.profile = ggml.profile;
    deviations_ = LoadDeviations();
  }

  void Judge(ByteSpan file, Execution& execution) {
    const std::vector<std::string> rules = GgufRules(file);
    const std::string deadly = ForeseenCrash(rules);
    if (!deadly.empty()) {
      execution.known_rule = Permanent(deadly);
      return;
    }
    conformance::Vector vector;
    if (!GgufVector(file, vector)) return;
    DropTrailingOnes(vector.dump);
    for (auto& [profile, expectation] : vector.expect) {
      DropTrailingOnes(expectation.dump);
    }
    conformance::CaseRecord record;
    record.reply.answer = Ask(file);
    conformance::Row row = conformance::JudgeCase(subject_, vector, record, {});
    AttributeRow(rules, deviations_, subject_.name, subject_.hello.version,
                 row);
    if (row.outcome == Outcome::kExpectedDeviation) {
      execution.known_rule = Permanent(row.rule);
    } else if (row.outcome == Outcome::kFail) {
      execution.finding = ToFinding(row);
    }
  }

 private:
  static std::string_view Permanent(const std::string& id) {
    const auto rule = FindRule(id);
    return rule ? Rules()[*rule].id : std::string_view("unknown");
  }

  std::string ForeseenCrash(const std::vector<std::string>& rules) const {
    for (const std::string& rule : rules) {
      for (const Deviation& entry : deviations_) {
        const bool deadly =
            std::ranges::any_of(entry.verdicts, [](const std::string& verdict) {
              return verdict == "crash" || verdict == "hang" ||
                     verdict == "out-of-memory";
            });
        if (deadly && RuleOf(entry) == rule &&
            (entry.operation.empty() || entry.operation == "gguf.parse") &&
            AppliesTo(entry, kName, subject_.hello.version)) {
          return rule;
        }
      }
    }
    return "";
  }

  Json Ask(ByteSpan file) {
    const Bytes exact(file.begin(), file.end());
    wp_gguf_input input{};
    input.data = {exact.data(), exact.size()};
    input.file_size = exact.size();
    conformance::DumpBuilder dump;
    wp_answer answer = conformance::EmptyAnswer();
    ggml_.gguf_parse(&input, dump.sink(), &answer);
    Json out = conformance::FromAbi(answer);
    if (answer.status == WP_STATUS_OK && answer.verdict == WP_ACCEPT) {
      out["dump"] = dump.Take(exact.size());
      conformance::RestrictDump(subject_.hello.dump, out["dump"]);
    }
    return out;
  }

  const wp_implementation& ggml_;
  conformance::Subject subject_;
  std::vector<Deviation> deviations_;
};

}  // namespace

Subjects WithGgml() {
  static const wp_implementation* const ggml = OpenGgml();
  if (ggml == nullptr) return {impls::FindBuiltIn("reference"), {}};
  return {impls::FindBuiltIn("reference"),
          {impls::FindBuiltIn("gguf_view"), ggml}};
}

Execution CheckWithGgml(const Subjects& subjects, ByteSpan file, Depth depth) {
  Subjects own = subjects;
  const wp_implementation* ggml = nullptr;
  if (own.tested.size() > 1) {
    ggml = own.tested.back();
    own.tested.pop_back();
  }
  Execution execution = CheckGguf(own, file, depth);
  if (execution.finding || ggml == nullptr) return execution;
  static GgmlJudge judge(*ggml);
  judge.Judge(file, execution);
  return execution;
}

}  // namespace weightproof::fuzzers
