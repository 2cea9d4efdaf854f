#include "conformance/run_past.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/deviations.h"
#include "conformance/driver_data.h"

namespace weightproof::conformance {
namespace {

namespace fs = std::filesystem;

struct Release {
  fs::path folder;
  std::string version;
  std::vector<DriverInstance> instances;  // those that the name means
};

std::unexpected<RunError> Error(int exit_code, std::string message) {
  return std::unexpected(RunError{exit_code, std::move(message)});
}

bool Means(const std::string& pattern, const fs::path& folder,
           const std::string& instance) {
  return pattern == folder.filename() || GlobMatches(pattern, instance);
}

std::string Listed(const std::vector<PastRelease>& releases) {
  std::string text;
  for (const PastRelease& release : releases) {
    text += (text.empty() ? "" : ", ") + release.version;
  }
  return text;
}

// The releases from first to last; the error says what there is.
std::expected<std::vector<PastRelease>, RunError> Select(
    const std::vector<PastRelease>& releases, const PastName& name) {
  const auto at = [&](const std::string& version) {
    return std::ranges::find(releases, version, &PastRelease::version);
  };
  const auto first = at(name.first), last = at(name.last);
  if (first == releases.end() || last == releases.end() || last < first) {
    return Error(2,
                 fmt::format("{}: no releases {}..{}; there are {}", name.name,
                             name.first, name.last, Listed(releases)));
  }
  return std::vector<PastRelease>(first, last + 1);
}

std::expected<std::vector<Release>, RunError> Find(const RunOptions& options,
                                                   const PastName& name) {
  const DriverPaths paths = {options.source_dir, options.build_dir};
  std::vector<Release> out;
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options.drivers_dir, error)) {
    if (fs::exists(entry.path() / "versions.json", error)) {
      folders.push_back(entry.path());
    }
  }
  std::ranges::sort(folders);
  for (const fs::path& folder : folders) {
    const auto releases = PastReleases(folder);
    if (!releases) return Error(5, releases.error());
    if (releases->empty()) continue;
    const auto any = LoadPastRelease(folder, releases->front().version, paths);
    if (!any) return Error(5, any.error());
    const auto meant = [&](const DriverInstance& instance) {
      return Means(name.name, folder,
                   instance.name.substr(0, instance.name.rfind('@')));
    };
    if (std::ranges::none_of(*any, meant)) continue;
    const auto selected = Select(*releases, name);
    if (!selected) return std::unexpected(selected.error());
    for (const PastRelease& release : *selected) {
      auto instances = LoadPastRelease(folder, release.version, paths);
      if (!instances) return Error(5, instances.error());
      std::erase_if(*instances, [&](const DriverInstance& instance) {
        return !meant(instance);
      });
      out.push_back({folder, release.version, std::move(*instances)});
    }
  }
  if (!out.empty()) return out;
  return Error(2, fmt::format("no past releases of {}: no folder of {} with a "
                              "versions.json has it",
                              name.name, options.drivers_dir.string()));
}

}  // namespace

std::optional<PastName> ParsePastName(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == text.npos || at == 0) return std::nullopt;
  PastName name{text.substr(0, at), text.substr(at + 1), ""};
  const std::size_t dots = name.first.find("..");
  if (dots == name.first.npos) {
    name.last = name.first;
  } else {
    name.last = name.first.substr(dots + 2);
    name.first.resize(dots);
  }
  return name;
}

std::expected<std::vector<Target>, RunError> PastTargets(
    const RunOptions& options, const PastName& name) {
  auto releases = Find(options, name);
  if (!releases) return std::unexpected(releases.error());
  std::vector<Target> targets;
  for (Release& release : *releases) {
    for (DriverInstance& driver : release.instances) {
      targets.push_back(TargetOf(options, std::move(driver)));
    }
  }
  return targets;
}

std::expected<std::vector<std::string>, RunError> PastFolders(
    const RunOptions& options, const PastName& name) {
  const auto releases = Find(options, name);
  if (!releases) return std::unexpected(releases.error());
  std::vector<std::string> out;
  for (const Release& release : *releases) {
    out.push_back(fmt::format("{}@{}", release.folder.filename().string(),
                              release.version));
  }
  return out;
}

}  // namespace weightproof::conformance
