// A command that is run once per file: exit 0 accepts, 1 rejects, anything
// else is a crash.
#ifndef WEIGHTPROOF_CONFORMANCE_ONE_SHOT_H_
#define WEIGHTPROOF_CONFORMANCE_ONE_SHOT_H_

#include <atomic>
#include <expected>
#include <string>

#include "conformance/case_record.h"
#include "conformance/driver.h"

namespace weightproof::conformance {

// The command with {file} replaced by the path, quoted for /bin/sh; a command
// without {file} gets the path as its last argument.
std::string OneShotCommand(const std::string& command, const std::string& file);

// Runs it under the limits of spec; spec.argv is not used. Output is ignored,
// stderr kept.
Reply RunOneShot(const std::string& shell_command, const DriverSpec& spec,
                 bool large, bool obey_permissions,
                 const std::atomic<bool>& stop);

// The hello that a one-shot command amounts to.
Hello OneShotHello(const std::string& command);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_ONE_SHOT_H_
