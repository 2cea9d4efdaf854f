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

// Past releases of a driver folder, in the order of what they contain, which
// need not be that of their numbers: its versions.json,
// {"order","requires"?,"instances"?,"versions":[{"version","carries"?,"lock"}]},
// which may replace members of driver.json. lock is what install.sh checks the
// release by. The error names the file; no file, no releases.
struct PastRelease {
  std::string version;
  std::string carries;  // for people: "llama.cpp b6122"; may be empty
};
std::expected<std::vector<PastRelease>, std::string> PastReleases(
    const std::filesystem::path& folder);

// The instances of one release, named NAME@VERSION, installed in
// {build}/drivers/FOLDER@VERSION. They expect no deviations.
std::expected<std::vector<DriverInstance>, std::string> LoadPastRelease(
    const std::filesystem::path& folder, const std::string& version,
    const DriverPaths& paths);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_DRIVER_DATA_H_
