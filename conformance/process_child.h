// What runs between fork and exec. Everything here is async-signal-safe: the
// runner has threads.
#ifndef WEIGHTPROOF_CONFORMANCE_PROCESS_CHILD_H_
#define WEIGHTPROOF_CONFORMANCE_PROCESS_CHILD_H_

#include <sys/types.h>

#include <cstdint>

namespace weightproof::conformance::process_child {

// Sent over the status pipe.
struct StatusMessage {
  char kind;  // 'p' pid of the driver, 'x' its wait status; on the start
              // pipe 'e', the errno of a failed start
  std::int32_t value;
};

// Prepared before the fork; pointers stay valid in the child.
struct Plan {
  const char* program;
  char* const* argv;
  char* const* env;
  const char* directory;
  std::uint64_t file_size_limit;
  std::uint64_t address_space_limit;  // 0: none
  bool obey_permissions;
  int input, output, error;  // the driver's ends
  int control, status;       // the keeper's ends
  int start;                 // closes by itself when the program runs
};

// The body of the keeper; never returns.
[[noreturn]] void RunKeeper(const Plan& plan);

}  // namespace weightproof::conformance::process_child

#endif  // WEIGHTPROOF_CONFORMANCE_PROCESS_CHILD_H_
