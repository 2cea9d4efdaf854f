// Planted bugs as they are built: lib/mutants/NAME.so and NAME.json, and those
// of NEON kernels, with the kernels themselves, for an emulator in aarch64/.
#ifndef WEIGHTPROOF_FUZZERS_PROOF_MUTANT_H_
#define WEIGHTPROOF_FUZZERS_PROOF_MUTANT_H_

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "impls/abi.h"

namespace weightproof::fuzzers {

struct Mutant {
  std::string name;
  std::string implementation;  // the built-in one that has the bug
  std::string file;            // the source with the bug
  std::string rule;            // that must catch it
  std::string story;
  std::string reference;        // a public bug like this one
  std::string instruction_set;  // "" if any machine can run it
  std::filesystem::path object;
  // Programs to emulate, of the bug and of what it was planted in; empty if
  // there are none.
  std::filesystem::path emulated, emulated_original;
};

// The mutants of a folder, by name. Errors: there is none, a description is
// not readable, an object is missing.
std::expected<std::vector<Mutant>, std::string> LoadMutants(
    const std::filesystem::path& folder);

// Opens it in this process, for good. The error says what the loader said.
std::expected<const wp_implementation*, std::string> OpenMutant(
    const Mutant& mutant);

// As a child under an emulator; see impls/emulated/emulated.h. Null if the
// mutant has no programs.
const wp_implementation* OpenEmulatedMutant(const Mutant& mutant);
const wp_implementation* OpenEmulatedOriginal(const Mutant& mutant);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_PROOF_MUTANT_H_
