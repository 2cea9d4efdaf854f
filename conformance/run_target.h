// What a run is asked to run.
#ifndef WEIGHTPROOF_CONFORMANCE_RUN_TARGET_H_
#define WEIGHTPROOF_CONFORMANCE_RUN_TARGET_H_

#include <expected>
#include <string>
#include <vector>

#include "conformance/deviations.h"
#include "conformance/driver.h"
#include "conformance/driver_data.h"
#include "conformance/runner.h"

namespace weightproof::conformance {

// One implementation and how to reach it.
struct Target {
  std::string name;  // of --driver and recordings: known after hello
  std::string version;
  std::string language;
  bool built_in = false;
  DriverSpec spec;
  std::string one_shot;  // the command, if this is one
  std::vector<Deviation> deviations;
  std::string why_not;  // cannot run here
  std::string repro;    // command line up to the vector
};

// The targets that options select, in name order.
std::expected<std::vector<Target>, RunError> SelectTargets(
    const RunOptions& options);

// Every built-in implementation and driver instance.
std::expected<std::vector<Target>, RunError> AllTargets(
    const RunOptions& options);

// A driver instance as a target.
Target TargetOf(const RunOptions& options, DriverInstance driver);

// weightproof-host for a built-in implementation or "canary".
Target HostTarget(const RunOptions& options, const std::string& name);

bool IsBuiltIn(const std::string& name);

// options with every default filled in.
RunOptions WithDefaults(RunOptions options);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_RUN_TARGET_H_
