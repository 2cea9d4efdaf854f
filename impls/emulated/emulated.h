// The NEON kernels on a machine that lacks them: a table like any other whose
// calls are answered by a child process under an emulator.
#ifndef WEIGHTPROOF_IMPLS_EMULATED_EMULATED_H_
#define WEIGHTPROOF_IMPLS_EMULATED_EMULATED_H_

#include <string>

#include "impls/abi.h"

namespace weightproof::impls {

struct EmulatedProgram {
  std::string emulator;  // "/usr/bin/qemu-aarch64"
  std::string program;   // of serve_main.cc
};

// Which of the two tables: one for the kernels as they are, one for those with
// a planted bug.
enum class EmulatedTable : int { kOriginal, kMutant };

// The table, with nothing but the numeric operations. The child is started by
// the first call of a process and lives as long as it; a forked process starts
// its own. When the child dies in a call, so does the calling process, by
// abort(): only for processes that are guarded.
const wp_implementation* OpenEmulated(EmulatedTable table,
                                      EmulatedProgram program);

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_EMULATED_EMULATED_H_
