// Planted bugs as they are built: lib/mutants/NAME.so and NAME.json.
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
};

// The mutants of a folder, by name. Errors: there is none, a description is
// not readable, an object is missing.
std::expected<std::vector<Mutant>, std::string> LoadMutants(
    const std::filesystem::path& folder);

// Opens it in this process, for good. The error says what the loader said.
std::expected<const wp_implementation*, std::string> OpenMutant(
    const Mutant& mutant);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_PROOF_MUTANT_H_
