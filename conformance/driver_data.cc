#include "conformance/driver_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "conformance/protocol.h"

namespace weightproof::conformance {
namespace {

namespace fs = std::filesystem;

std::expected<Json, std::string> ReadJson(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(path.string() + ": cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  auto json = ParseUntrusted(text.str());
  if (!json) return std::unexpected(path.string() + ": " + json.error());
  return json;
}

// One driver.json being read. Keeps the first problem.
class Reader {
 public:
  // version: a past release, or empty.
  Reader(const fs::path& folder, const DriverPaths& paths,
         const std::string& version = "")
      : file_(folder / "driver.json"),
        values_({{"{source}", paths.source},
                 {"{build}", paths.build},
                 {"{bin}", paths.build / "bin"},
                 {"{lib}", paths.build / "lib"},
                 {"{driver}", folder},
                 {"{installed}", paths.build / "drivers" / folder.filename()}}),
        build_(paths.build),
        version_(version) {
    if (!version.empty()) values_["{installed}"] += "@" + version;
  }

  std::vector<DriverInstance> Read();
  const std::string& problem() const { return problem_; }

 private:
  void Fail(const std::string& pointer, std::string_view what) {
    if (problem_.empty()) {
      problem_ = fmt::format("{}: {}: {}", file_.string(), pointer, what);
    }
  }
  void Members(const Json& object, const std::string& pointer,
               std::initializer_list<std::string_view> known,
               std::initializer_list<std::string_view> needed);
  std::string Text(const Json& object, const char* name,
                   const std::string& pointer);
  std::vector<std::string> Texts(const Json& object, const char* name,
                                 const std::string& pointer);
  void Env(const Json& object, const std::string& pointer,
           std::map<std::string, std::string>& env);
  void Limits(const Json& object, const std::string& pointer,
              DriverLimits& limits);
  std::string Expand(std::string text) const;
  std::string WhyNot(const std::vector<std::string>& required) const;
  void ApplyVersions(Json& json);
  DriverInstance Instance(const Json& json, const std::string& pointer,
                          const DriverInstance& common,
                          const std::map<std::string, std::string>& env);

  fs::path file_;
  std::map<std::string, fs::path> values_;
  fs::path build_;
  std::string version_;
  std::string problem_;
};

void Reader::Members(const Json& object, const std::string& pointer,
                     std::initializer_list<std::string_view> known,
                     std::initializer_list<std::string_view> needed) {
  if (!object.is_object()) return Fail(pointer, "not an object");
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, name) == known.end()) {
      Fail(pointer + "/" + name, "unknown member");
    }
  }
  for (const std::string_view name : needed) {
    if (!object.contains(name)) {
      Fail(fmt::format("{}/{}", pointer, name), "is missing");
    }
  }
}

std::string Reader::Expand(std::string text) const {
  for (const auto& [name, value] : values_) {
    for (std::size_t at; (at = text.find(name)) != text.npos;) {
      text.replace(at, name.size(), value.string());
    }
  }
  return text;
}

std::string Reader::Text(const Json& object, const char* name,
                         const std::string& pointer) {
  const auto it = object.find(name);
  if (it == object.end()) return "";
  if (it->is_string()) return Expand(it->get<std::string>());
  Fail(pointer + "/" + name, "not a string");
  return "";
}

std::vector<std::string> Reader::Texts(const Json& object, const char* name,
                                       const std::string& pointer) {
  std::vector<std::string> texts;
  const auto it = object.find(name);
  if (it == object.end()) return texts;
  if (!it->is_array()) Fail(pointer + "/" + name, "not a list");
  for (const Json& item : *it) {
    if (item.is_string()) {
      texts.push_back(Expand(item.get<std::string>()));
    } else {
      Fail(fmt::format("{}/{}/{}", pointer, name, texts.size()),
           "not a string");
    }
  }
  return texts;
}

void Reader::Env(const Json& object, const std::string& pointer,
                 std::map<std::string, std::string>& env) {
  const auto it = object.find("env");
  if (it == object.end()) return;
  if (!it->is_object()) return Fail(pointer + "/env", "not an object");
  for (const auto& [name, value] : it->items()) {
    if (value.is_string()) {
      env[name] = Expand(value.get<std::string>());
    } else {
      Fail(pointer + "/env/" + name, "not a string");
    }
  }
}

void Reader::Limits(const Json& object, const std::string& pointer,
                    DriverLimits& limits) {
  const auto it = object.find("limits");
  if (it == object.end()) return;
  const std::string here = pointer + "/limits";
  Members(*it, here,
          {"memory_bytes", "address_space_bytes", "cpu_seconds", "wall_seconds",
           "processes", "input_bytes"},
          {});
  if (!it->is_object()) return;
  for (const auto& [name, value] : it->items()) {
    if (value.is_null()) continue;
    if (!value.is_number() || value.get<double>() <= 0) {
      Fail(here + "/" + name, "not a positive number or null");
      continue;
    }
    const auto number = value.get<double>();
    const auto whole = static_cast<std::uint64_t>(number);
    if (name == "memory_bytes") limits.memory_bytes = whole;
    if (name == "address_space_bytes") limits.address_space_bytes = whole;
    if (name == "input_bytes") limits.input_bytes = whole;
    if (name == "wall_seconds") limits.wall_seconds = number;
    if (name == "processes") limits.processes = static_cast<int>(number);
    if (name == "cpu_seconds") {
      limits.cpu_seconds_small = number;
      limits.cpu_seconds_large = 5 * number;
    }
  }
}

// Why nothing of this folder can run; empty if it can.
std::string Reader::WhyNot(const std::vector<std::string>& required) const {
  const fs::path folder = file_.parent_path().filename();
  const fs::path status_file = values_.at("{installed}") / "STATUS.json";
  std::error_code error;
  if (fs::exists(status_file, error)) {
    const auto status = ReadJson(status_file);
    if (!status) return status.error();
    if (status->is_object() && status->value("ok", Json()) != Json(true)) {
      const Json why = status->value("why", Json());
      return why.is_string() ? why.get<std::string>() : "not installed";
    }
  }
  for (const std::string& path : required) {
    if (fs::exists(path, error)) continue;
    return fmt::format(
        "not installed: {} is missing (impls/drivers/install.sh "
        "{} {})",
        fs::path(path).lexically_relative(build_).string(),
        build_.filename().string(),
        version_.empty() ? folder.string() : folder.string() + "@" + version_);
  }
  return "";
}

DriverInstance Reader::Instance(const Json& json, const std::string& pointer,
                                const DriverInstance& common,
                                const std::map<std::string, std::string>& env) {
  DriverInstance instance = common;
  Members(json, pointer,
          {"name", "command", "env", "limits", "version", "requires"},
          {"name", "command"});
  if (!json.is_object()) return instance;
  instance.name = Text(json, "name", pointer);
  if (json.contains("version")) {
    instance.version = Text(json, "version", pointer);
  }
  instance.spec.name = instance.name;
  instance.spec.argv = Texts(json, "command", pointer);
  if (instance.spec.argv.empty()) Fail(pointer + "/command", "is empty");
  std::map<std::string, std::string> all = env;
  Env(json, pointer, all);
  for (const auto& [name, value] : all) {
    instance.spec.env.push_back(name + "=" + value);
  }
  Limits(json, pointer, instance.spec.limits);
  if (instance.why_not.empty()) {
    instance.why_not = WhyNot(Texts(json, "requires", pointer));
  }
  return instance;
}

// What versions.json says instead of driver.json.
void Reader::ApplyVersions(Json& json) {
  const auto versions = ReadJson(file_.parent_path() / "versions.json");
  if (!versions) {
    problem_ = versions.error();
    return;
  }
  for (const char* name : {"requires", "instances"}) {
    if (versions->contains(name)) json[name] = (*versions)[name];
  }
  json["version"] = version_;
  for (Json& instance : json["instances"]) {
    instance["name"] = instance.value("name", "") + "@" + version_;
    instance.erase("version");
  }
}

std::vector<DriverInstance> Reader::Read() {
  auto json = ReadJson(file_);
  if (!json) {
    problem_ = json.error();
    return {};
  }
  if (!version_.empty()) ApplyVersions(*json);
  Members(*json, "",
          {"name", "homepage", "license", "package", "version", "language",
           "install", "requires", "env", "limits", "instances", "notes"},
          {"name", "version", "language", "instances"});
  if (!problem_.empty()) return {};
  DriverInstance common;
  common.version = Text(*json, "version", "");
  common.language = Text(*json, "language", "");
  common.why_not = WhyNot(Texts(*json, "requires", ""));
  std::map<std::string, std::string> env;
  Env(*json, "", env);
  Limits(*json, "", common.spec.limits);
  const fs::path deviations_file = file_.parent_path() / "deviations.json";
  if (version_.empty() && fs::exists(deviations_file)) {
    const auto list = ReadJson(deviations_file);
    auto deviations =
        list ? DeviationsFromJson(*list) : std::unexpected(list.error());
    if (!deviations) {
      problem_ = deviations_file.string() + ": " + deviations.error();
      return {};
    }
    common.deviations = std::move(*deviations);
  }
  std::vector<DriverInstance> instances;
  const Json& list = (*json)["instances"];
  if (!list.is_array() || list.empty()) {
    Fail("/instances", "not a list with an element");
    return {};
  }
  for (const Json& one : list) {
    instances.push_back(Instance(
        one, fmt::format("/instances/{}", instances.size()), common, env));
  }
  return instances;
}

}  // namespace

std::expected<std::vector<DriverInstance>, std::string> LoadDrivers(
    const fs::path& directory, const DriverPaths& paths) {
  std::vector<DriverInstance> all;
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (fs::exists(entry.path() / "driver.json", error)) {
      folders.push_back(entry.path());
    }
  }
  std::ranges::sort(folders);
  std::set<std::string> names;
  for (const fs::path& folder : folders) {
    Reader reader(folder, paths);
    auto instances = reader.Read();
    if (!reader.problem().empty()) return std::unexpected(reader.problem());
    for (DriverInstance& instance : instances) {
      if (!names.insert(instance.name).second) {
        return std::unexpected(fmt::format("{}: the name {} is taken",
                                           (folder / "driver.json").string(),
                                           instance.name));
      }
      all.push_back(std::move(instance));
    }
  }
  return all;
}

std::expected<std::vector<PastRelease>, std::string> PastReleases(
    const fs::path& folder) {
  const fs::path file = folder / "versions.json";
  std::error_code error;
  std::vector<PastRelease> releases;
  if (!fs::exists(file, error)) return releases;
  const auto json = ReadJson(file);
  if (!json) return std::unexpected(json.error());
  const Json list =
      json->is_object() ? json->value("versions", Json()) : Json();
  for (const Json& one : list) {
    const Json version = one.is_object() ? one.value("version", Json()) : one;
    if (!version.is_string()) {
      return std::unexpected(fmt::format("{}: /versions/{}: has no version",
                                         file.string(), releases.size()));
    }
    const Json carries = one.value("carries", Json(""));
    releases.push_back({version.get<std::string>(),
                        carries.is_string() ? carries.get<std::string>() : ""});
  }
  return releases;
}

std::expected<std::vector<DriverInstance>, std::string> LoadPastRelease(
    const fs::path& folder, const std::string& version,
    const DriverPaths& paths) {
  Reader reader(folder, paths, version);
  auto instances = reader.Read();
  if (!reader.problem().empty()) return std::unexpected(reader.problem());
  return instances;
}

}  // namespace weightproof::conformance
