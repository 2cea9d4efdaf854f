// Every planted bug of the numeric kernels is caught by a vector of the rule it
// names.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "build_paths.h"
#include "conformance/numeric_testing.h"

namespace weightproof::conformance {
namespace {

namespace fs = std::filesystem;

// The descriptions of the mutants of impls/cpu/q8_0_*.
std::vector<Json> NumericMutants() {
  std::vector<Json> mutants;
  for (const auto& entry : fs::directory_iterator(
           fs::path(WEIGHTPROOF_BINARY_DIR) / "lib/mutants")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    const Json about = Json::parse(in);
    if (about.at("file").get<std::string>().starts_with("impls/cpu/q8_0_")) {
      mutants.push_back(about);
    }
  }
  return mutants;
}

const wp_implementation* Load(const std::string& name) {
  const std::string path =
      std::string(WEIGHTPROOF_BINARY_DIR) + "/lib/mutants/" + name + ".so";
  void* const object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  const auto open = reinterpret_cast<wp_open_function>(
      dlsym(object, "wp_implementation_open"));
  char error[256] = "";
  return open == nullptr ? nullptr : open("", error, sizeof(error));
}

TEST(NumericMutants, EachIsCaughtByAVectorOfItsRule) {
  int caught = 0;
  for (const Json& about : NumericMutants()) {
    const std::string name = about.at("name");
    const wp_implementation* mutant = Load(name);
    ASSERT_NE(mutant, nullptr) << name;
    std::set<std::string> failed, rules;
    std::string not_run;
    for (const Vector& vector : CommittedVectors().vectors) {
      if (vector.format != "q8_0") continue;
      const NumericOutcome outcome = AnswerVector(*mutant, vector);
      if (!outcome.not_run.empty()) {
        not_run = outcome.not_run;
        break;
      }
      if (outcome.wrong.empty()) continue;
      failed.insert(vector.id);
      rules.insert(vector.rule);
    }
    if (!not_run.empty()) {
      std::printf("NOT RUN: %s: %s\n", name.c_str(), not_run.c_str());
      continue;
    }
    ++caught;
    EXPECT_TRUE(rules.contains(about.at("rule").get<std::string>()))
        << name << " fails on " << failed.size() << " vectors, none of "
        << about.at("rule");
  }
  EXPECT_GE(caught, 6);
}

}  // namespace
}  // namespace weightproof::conformance
