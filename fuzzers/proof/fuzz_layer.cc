// Fuzzing from an empty corpus as a layer.
#include <fmt/format.h>

#include <array>

#include "fuzzers/engine.h"
#include "fuzzers/proof/oracle_layer.h"

namespace weightproof::fuzzers {
namespace {

struct FuzzCase {
  const Target* target;
  std::uint64_t seed;
};

class FuzzLayer : public Layer {
 public:
  explicit FuzzLayer(std::uint64_t executions) : executions_(executions) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      for (const Target& target : Targets()) {
        if (target.name == "gguf_raw") continue;  // finds headers only
        cases_.push_back({&target, seed});
      }
    }
  }

  std::string_view name() const override { return "fuzzing"; }
  std::vector<std::size_t> CasesOf(std::string_view format) const override {
    return OfFormat(cases_, format);
  }
  std::string NameOf(std::size_t index) const override {
    return fmt::format("{}, seed {}", cases_[index].target->name,
                       cases_[index].seed);
  }
  CaseReport Check(std::size_t index,
                   const wp_implementation& subject) const override {
    EngineOptions options;
    options.seed = cases_[index].seed;
    options.executions = executions_;
    options.stop_at_finding = true;
    std::optional<Finding> found;
    std::uint64_t executions = 0;
    EngineEvents events;
    events.before = [&](ByteSpan) {
      if (++executions % 256 == 0) StillAlive();
    };
    events.on_finding = [&](const Finding& finding, ByteSpan) {
      found = finding;
    };
    Engine engine(*cases_[index].target, Against(subject), options, events);
    engine.Run();
    CaseReport report = Reported(found);
    if (found) {
      report.what = fmt::format("{} executions: {}", executions, report.what);
    }
    return report;
  }

 private:
  std::uint64_t executions_;
  std::vector<FuzzCase> cases_;
};

}  // namespace

LayerResult MakeFuzzLayer(std::uint64_t executions) {
  return std::make_unique<FuzzLayer>(executions);
}

}  // namespace weightproof::fuzzers
