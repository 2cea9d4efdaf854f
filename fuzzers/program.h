// The program around one target where no foreign engine brings its own:
// replay of inputs, the built-in engine, and what a campaign asks of a job.
#ifndef WEIGHTPROOF_FUZZERS_PROGRAM_H_
#define WEIGHTPROOF_FUZZERS_PROGRAM_H_

#include "fuzzers/target.h"

namespace weightproof::fuzzers {

// fuzz_NAME FILE|FOLDER...            replays: every oracle on every input
// fuzz_NAME --fuzz [options]          the built-in engine
//   --executions N  --seconds S  --seed N  --stop-at-finding
//   --state DIR     inputs from DIR/corpus, new ones there; findings,
//                   minimised, to DIR/findings
//   --statistics FILE                 counters for whoever watches
// fuzz_NAME --adopt FILE... --state DIR
//                                     confirms, minimises and stores findings
// fuzz_NAME --minimise FOLDER OUT [--most BYTES] [--files N]
//                                     the inputs that together show all
//                                     features of FOLDER, smallest first, as
//                                     far as BYTES and N go
// --tested NAME|PATH.so  anywhere: instead of the target's own subjects
//
// Exit codes: 0 nothing found, 1 findings, 2 usage, 5 an input or the disk, 77
// what the target compares with is not installed here.
int TargetMain(const Target& target, int argc, char** argv);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_PROGRAM_H_
