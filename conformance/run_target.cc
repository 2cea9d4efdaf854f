#include "conformance/run_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "conformance/driver_data.h"
#include "conformance/one_shot.h"
#include "conformance/run_past.h"
#include "impls/registry.h"

namespace weightproof::conformance {
namespace {

namespace fs = std::filesystem;

std::unexpected<RunError> Error(int exit_code, std::string message) {
  return std::unexpected(RunError{exit_code, std::move(message)});
}

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

fs::path Scratch(const RunOptions& options, std::string name) {
  std::ranges::replace(name, '/', '_');
  return options.build_dir / "scratch" / name;
}

// A command line of the user's declares nothing: it runs in the user's folder,
// where its relative paths mean something, with the environment that programs
// cannot do without, and temporary files go to the scratch folder.
void RunAsTyped(const RunOptions& options, Target& target) {
  for (const char* name : {"PATH", "HOME", "LANG"}) {
    if (const char* value = std::getenv(name)) {
      target.spec.env.push_back(fmt::format("{}={}", name, value));
    }
  }
  const fs::path scratch = Scratch(options, target.name);
  std::error_code error;
  fs::create_directories(scratch, error);
  target.spec.env.push_back("TMPDIR=" + scratch.string());
  target.spec.directory = fs::current_path(error);
}

Target CommandTarget(const RunOptions& options) {
  Target target;
  target.name = "driver";
  target.spec.name = target.name;
  target.spec.argv = {"/bin/sh", "-c", "exec " + options.driver_command};
  RunAsTyped(options, target);
  target.repro = fmt::format("./weightproof repro --driver {}",
                             Quoted(options.driver_command));
  return target;
}

Target OneShotTarget(const RunOptions& options) {
  Target target;
  target.one_shot = options.one_shot;
  target.name = "one-shot";
  target.spec.name = target.name;
  RunAsTyped(options, target);
  target.repro = fmt::format("./weightproof repro --one-shot {}",
                             Quoted(options.one_shot));
  return target;
}

void WrapInCpu(const RunOptions& options, Target& target) {
  if (options.cpu.empty() || target.spec.argv.empty()) return;
  std::vector<std::string> argv = {"qemu-x86_64", "-cpu", options.cpu};
  argv.insert(argv.end(), target.spec.argv.begin(), target.spec.argv.end());
  target.spec.argv = std::move(argv);
  // An emulator needs its own time.
  target.spec.limits.cpu_seconds_small *= 10;
  target.spec.limits.cpu_seconds_large *= 10;
}

}  // namespace

RunOptions WithDefaults(RunOptions options) {
  const auto fill = [](fs::path& path, const fs::path& fallback) {
    if (path.empty()) path = fallback;
    std::error_code error;
    path = fs::absolute(path, error);
  };
  fill(options.source_dir, fs::current_path());
  fill(options.build_dir, options.source_dir / "build");
  fill(options.vectors_dir, options.source_dir / "conformance" / "vectors");
  fill(options.drivers_dir, options.source_dir / "impls" / "drivers");
  fill(options.journal, options.build_dir / "runs" / "last.jsonl");
  options.jobs = std::clamp(options.jobs, 1, 64);
  return options;
}

bool IsBuiltIn(const std::string& name) {
  return impls::FindBuiltIn(name) != nullptr;
}

Target HostTarget(const RunOptions& options, const std::string& name) {
  Target target;
  target.name = name;
  target.built_in = true;
  target.spec.name = name;
  target.spec.argv = {(options.build_dir / "bin" / "weightproof-host").string(),
                      name};
  target.spec.directory = Scratch(options, name);
  target.repro = fmt::format("./weightproof repro {}", name);
  return target;
}

Target TargetOf(const RunOptions& options, DriverInstance driver) {
  Target target;
  target.name = driver.name;
  target.version = driver.version;
  target.language = driver.language;
  target.spec = std::move(driver.spec);
  target.spec.directory = Scratch(options, driver.name);
  target.deviations = std::move(driver.deviations);
  target.why_not = std::move(driver.why_not);
  target.repro = fmt::format("./weightproof repro {}", target.name);
  return target;
}

std::expected<std::vector<Target>, RunError> AllTargets(
    const RunOptions& options) {
  std::vector<Target> targets;
  for (const wp_implementation* built_in : impls::BuiltIns()) {
    Target target = HostTarget(options, built_in->name);
    target.version = built_in->version;
    target.language = built_in->language;
    targets.push_back(std::move(target));
  }
  auto drivers =
      LoadDrivers(options.drivers_dir, {options.source_dir, options.build_dir});
  if (!drivers) return Error(5, drivers.error());
  for (DriverInstance& driver : *drivers) {
    targets.push_back(TargetOf(options, std::move(driver)));
  }
  std::ranges::sort(targets, {}, &Target::name);
  return targets;
}

std::expected<std::vector<Target>, RunError> SelectTargets(
    const RunOptions& options) {
  std::vector<Target> selected;
  if (!options.driver_command.empty()) {
    selected.push_back(CommandTarget(options));
  }
  if (!options.one_shot.empty()) {
    selected.push_back(OneShotTarget(options));
  }
  if (selected.empty() || !options.names.empty()) {
    auto all = AllTargets(options);
    if (!all) return std::unexpected(all.error());
    for (const std::string& pattern : options.names) {
      if (const auto past = ParsePastName(pattern)) {
        auto targets = PastTargets(options, *past);
        if (!targets) return std::unexpected(targets.error());
        for (Target& target : *targets) selected.push_back(std::move(target));
        continue;
      }
      const bool known = std::ranges::any_of(*all, [&](const Target& target) {
        return GlobMatches(pattern, target.name);
      });
      if (!known) {
        return Error(2, fmt::format("no implementation {}; see list", pattern));
      }
    }
    for (Target& target : *all) {
      const bool wanted =
          options.names.empty() ||
          std::ranges::any_of(options.names, [&](const std::string& pattern) {
            return GlobMatches(pattern, target.name);
          });
      if (wanted) selected.push_back(std::move(target));
    }
  }
  for (Target& target : selected) WrapInCpu(options, target);
  return selected;
}

}  // namespace weightproof::conformance
