#include "fuzzers/gguf/targets_judged.h"

#include "fuzzers/gguf/case.h"
#include "fuzzers/gguf/ggml.h"

namespace weightproof::fuzzers {

std::vector<Target> Judged(std::vector<Target> targets) {
  Target three_way;
  for (Target& target : targets) {
    if (target.name != "gguf_diff") continue;
    target.as_vector = GgufVector;
    target.rules_of = GgufRules;
    three_way = target;
  }
  three_way.name = "gguf_ggml";
  three_way.about =
      "the reference, the optimized reader and ggml; known deviations are "
      "counted";
  three_way.subjects = WithGgml;
  three_way.run = CheckWithGgml;
  three_way.as_vector = nullptr;
  three_way.rules_of = nullptr;
  targets.push_back(three_way);
  return targets;
}

}  // namespace weightproof::fuzzers
