#include "fuzzers/proof/mutant.h"

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "impls/emulated/emulated.h"

namespace weightproof::fuzzers {

namespace fs = std::filesystem;

std::expected<std::vector<Mutant>, std::string> LoadMutants(
    const fs::path& folder) {
  std::vector<Mutant> mutants;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) return std::unexpected(folder.string() + ": " + error.message());
  for (const fs::directory_entry& entry : entries) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    const auto about = nlohmann::json::parse(in, nullptr, false);
    if (!about.is_object()) {
      return std::unexpected(entry.path().string() + ": not a description");
    }
    Mutant mutant;
    mutant.name = about.value("name", "");
    mutant.implementation = about.value("implementation", "");
    mutant.file = about.value("file", "");
    mutant.rule = about.value("rule", "");
    mutant.story = about.value("story", "");
    mutant.reference = about.value("reference", "");
    mutant.instruction_set = about.value("instruction_set", "");
    mutant.object = fs::path(entry.path()).replace_extension(".so");
    if (!fs::exists(mutant.object, error)) {
      return std::unexpected(mutant.object.string() + ": not built");
    }
    const fs::path emulated = folder / "aarch64";
    if (fs::exists(emulated / mutant.name, error) && *WEIGHTPROOF_EMULATOR) {
      mutant.emulated = emulated / mutant.name;
      mutant.emulated_original = emulated / mutant.implementation;
    }
    mutants.push_back(std::move(mutant));
  }
  if (mutants.empty()) {
    return std::unexpected(folder.string() + ": no mutants here");
  }
  std::ranges::sort(mutants, {}, &Mutant::name);
  return mutants;
}

std::expected<const wp_implementation*, std::string> OpenMutant(
    const Mutant& mutant) {
  void* const object = dlopen(mutant.object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) return std::unexpected(std::string(dlerror()));
  const auto open = reinterpret_cast<wp_open_function>(
      dlsym(object, "wp_implementation_open"));
  if (open == nullptr) return std::unexpected(std::string(dlerror()));
  char error[256] = "";
  const wp_implementation* const opened = open("", error, sizeof error);
  if (opened == nullptr) return std::unexpected(std::string(error));
  return opened;
}

const wp_implementation* OpenEmulatedMutant(const Mutant& mutant) {
  if (mutant.emulated.empty()) return nullptr;
  return impls::OpenEmulated(impls::EmulatedTable::kMutant,
                             {WEIGHTPROOF_EMULATOR, mutant.emulated.string()});
}

const wp_implementation* OpenEmulatedOriginal(const Mutant& mutant) {
  if (mutant.emulated.empty()) return nullptr;
  return impls::OpenEmulated(
      impls::EmulatedTable::kOriginal,
      {WEIGHTPROOF_EMULATOR, mutant.emulated_original.string()});
}

}  // namespace weightproof::fuzzers
