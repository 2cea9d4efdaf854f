// Properties over the same generators and oracles, by RapidCheck: it shrinks
// the bytes that a generator was given.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "fuzzers/gguf/generator.h"
#include "fuzzers/gguf/mutator.h"
#include "fuzzers/gguf/token_tree.h"
#include "fuzzers/target.h"

namespace weightproof::fuzzers {
namespace {

void Holds(const char* name, const Bytes& input) {
  const Target* target = FindTarget(name);
  RC_ASSERT(target != nullptr);
  const Subjects subjects = target->subjects();
  const Execution execution = target->run(subjects, input, Depth::kAll);
  if (execution.finding) {
    RC_FAIL(BucketOf(*execution.finding) + "\n" +
            execution.finding->description);
  }
}

// Long enough to reach the features that the first bytes choose.
Bytes Entropy256() {
  return *rc::gen::resize(200, rc::gen::arbitrary<Bytes>());
}

RC_GTEST_PROP(FuzzProperties, GeneratedFilesPassEveryOracle, ()) {
  Holds("gguf_structured", Entropy256());
}

RC_GTEST_PROP(FuzzProperties, AnyBytesPassEveryOracle, (const Bytes& bytes)) {
  Holds("gguf_raw", bytes);
}

RC_GTEST_PROP(FuzzProperties, MutatedFilesPassEveryOracle,
              (std::uint64_t seed)) {
  Random random(seed);
  Bytes file = GenerateGguf(Entropy256());
  const std::uint64_t steps = 1 + random.Below(4);
  for (std::uint64_t i = 0; i < steps; ++i) {
    file = MutateGguf(file, random, 2048);
  }
  Holds("gguf_diff", file);
}

RC_GTEST_PROP(FuzzProperties, TokensPutTogetherAgainAreTheFile,
              (std::uint64_t seed)) {
  Random random(seed);
  const Bytes file = MutateGguf(GenerateGguf(Entropy256()), random, 4096);
  RC_ASSERT(Serialize(ParseTokens(file)) == file);
}

RC_GTEST_PROP(FuzzProperties, KernelsPassEveryOracle, ()) {
  Holds("q8_0_diff", Entropy256());
}

}  // namespace
}  // namespace weightproof::fuzzers
