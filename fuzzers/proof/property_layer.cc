// Properties over the generators, drawn and shrunk by RapidCheck.
#include <rapidcheck.h>

#include <array>
#include <string>

#include "fuzzers/gguf/generator.h"
#include "fuzzers/gguf/mutator.h"
#include "fuzzers/gguf/oracle.h"
#include "fuzzers/proof/oracle_layer.h"
#include "fuzzers/q8_0/oracle.h"

namespace weightproof::fuzzers {
namespace {

// Fails the property by its finding.
void Holds(const Execution& execution) {
  if (execution.finding) RC_FAIL(BucketOf(*execution.finding));
}

Bytes AnyBytes(int at_most) {
  return *rc::gen::resize(at_most, rc::gen::arbitrary<Bytes>());
}

std::uint64_t AnySeed() {
  return *rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>());
}

void GeneratedFilesAreReadAlike(const Subjects& subjects) {
  Holds(CheckGeneratedGguf(subjects, AnyBytes(400), Depth::kAll));
}

// A few changes of a sound file, and every state on the way is judged alike.
void ChangedFilesAreJudgedAlike(const Subjects& subjects) {
  Random random(AnySeed());
  Bytes file = GenerateGguf(AnyBytes(200));
  for (int changes = *rc::gen::inRange(1, 6); changes > 0; --changes) {
    file = MutateGguf(file, random, 4096);
    Holds(CheckGguf(subjects, file, Depth::kAll));
  }
}

// Every prefix of a sound file is refused where it ends.
void CutFilesAreJudgedAlike(const Subjects& subjects) {
  Bytes file = GenerateGguf(AnyBytes(200));
  file.resize(static_cast<std::size_t>(*rc::gen::inRange<std::uint64_t>(
      0, static_cast<std::uint64_t>(file.size()) + 1)));
  Holds(CheckGguf(subjects, file, Depth::kAll));
}

void CallsInAnyOrderAreAnsweredAlike(const Subjects& subjects) {
  Random random(AnySeed());
  Bytes script = random.Take(24);
  const Bytes file = GenerateGguf(AnyBytes(200));
  script.insert(script.end(), file.begin(), file.end());
  Holds(CheckGgufScript(subjects, script, Depth::kAll));
}

void KernelsComputeAlike(const Subjects& subjects) {
  Holds(CheckQ80(subjects, AnyBytes(200), Depth::kAll));
}

struct Property {
  std::string_view name;
  std::string_view format;
  void (*check)(const Subjects&);
  int tries;
};

constexpr std::array<Property, 5> kProperties = {{
    {"generated files are read alike", "gguf", GeneratedFilesAreReadAlike, 800},
    {"changed files are judged alike", "gguf", ChangedFilesAreJudgedAlike, 800},
    {"cut files are judged alike", "gguf", CutFilesAreJudgedAlike, 400},
    {"calls in any order are answered alike", "gguf",
     CallsInAnyOrderAreAnsweredAlike, 400},
    {"kernels compute alike", "q8_0", KernelsComputeAlike, 3000},
}};

class PropertyLayer : public Layer {
 public:
  std::string_view name() const override { return "properties"; }
  std::vector<std::size_t> CasesOf(std::string_view format) const override {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < kProperties.size(); ++i) {
      if (kProperties[i].format == format) out.push_back(i);
    }
    return out;
  }
  std::string NameOf(std::size_t index) const override {
    return std::string(kProperties[index].name);
  }
  CaseReport Check(std::size_t index,
                   const wp_implementation& subject) const override {
    const Property& property = kProperties[index];
    const Subjects subjects = Against(subject);
    rc::detail::TestMetadata metadata;
    metadata.id = metadata.description = property.name;
    rc::detail::TestParams params;
    params.seed = 20240229 + index;
    params.maxSuccess = property.tries;
    params.disableShrinking = true;
    const auto result = rc::detail::checkTestable(
        [&] {
          StillAlive();
          property.check(subjects);
        },
        metadata, params);
    rc::detail::FailureResult failure;
    if (result.match(failure))
      return {CaseReport::kFailed, failure.description};
    rc::detail::SuccessResult success;
    if (result.match(success)) return {CaseReport::kPassed, ""};
    return {CaseReport::kFailed, "gave up"};
  }
};

}  // namespace

LayerResult MakePropertyLayer() { return std::make_unique<PropertyLayer>(); }

}  // namespace weightproof::fuzzers
