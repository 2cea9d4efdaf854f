// What the targets of GGUF have where the judge is linked. Internal to this
// folder; in one of two files, as the build chooses.
#ifndef WEIGHTPROOF_FUZZERS_GGUF_TARGETS_JUDGED_H_
#define WEIGHTPROOF_FUZZERS_GGUF_TARGETS_JUDGED_H_

#include <vector>

#include "fuzzers/target.h"

namespace weightproof::fuzzers {

// targets_judged.cc: gguf_diff's inputs can be given to drivers, and there is
// gguf_ggml besides. targets_alone.cc: the targets as they are.
std::vector<Target> Judged(std::vector<Target> targets);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GGUF_TARGETS_JUDGED_H_
