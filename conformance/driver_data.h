// Foreign implementations as data: impls/drivers/<folder>/driver.json with
// deviations.json beside it.
#ifndef WEIGHTPROOF_CONFORMANCE_DRIVER_DATA_H_
#define WEIGHTPROOF_CONFORMANCE_DRIVER_DATA_H_

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "conformance/deviations.h"
#include "conformance/driver.h"

namespace weightproof::conformance {

struct DriverPaths {
  std::filesystem::path source;
  std::filesystem::path build;
};

struct DriverInstance {
  std::string name;  // "ggml/metadata"
  std::string version;
  std::string language;
  DriverSpec spec;
  std::vector<Deviation> deviations;
  // Why it cannot run here: not installed, or a required path is missing.
  std::string why_not;
};

// Reads every <folder>/driver.json under directory, in name order. Strings may
// hold {source} {build} {bin} {lib} {driver} {installed}. The error names the
// file and the JSON pointer.
std::expected<std::vector<DriverInstance>, std::string> LoadDrivers(
    const std::filesystem::path& directory, const DriverPaths& paths);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_DRIVER_DATA_H_
