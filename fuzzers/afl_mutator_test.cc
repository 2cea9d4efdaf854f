// The module that AFL++ loads, by its own interface, without AFL++.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "build_paths.h"
#include "fuzzers/target.h"

namespace weightproof::fuzzers {
namespace {

struct Mutator {
  void* (*init)(void*, unsigned int) = nullptr;
  std::size_t (*fuzz)(void*, std::uint8_t*, std::size_t, std::uint8_t**,
                      std::uint8_t*, std::size_t, std::size_t) = nullptr;
  void (*deinit)(void*) = nullptr;
};

Mutator Load(std::string_view target) {
  const std::filesystem::path library =
      std::filesystem::path(WEIGHTPROOF_BINARY_DIR) / "lib" /
      ("afl_mutator_" + std::string(target) + ".so");
  Mutator out;
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    ADD_FAILURE() << dlerror();
    return out;
  }
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(handle, name));
  };
  find("afl_custom_init", out.init);
  find("afl_custom_fuzz", out.fuzz);
  find("afl_custom_deinit", out.deinit);
  return out;
}

std::vector<Bytes> Mutants(const Mutator& mutator, const Target& target) {
  Random random(7);
  Bytes input = target.generate(random), other = target.generate(random);
  void* const state = mutator.init(nullptr, 42);
  std::vector<Bytes> outputs;
  for (int i = 0; i < 200; ++i) {
    std::uint8_t* out = nullptr;
    const std::size_t size =
        mutator.fuzz(state, input.data(), input.size(), &out,
                     i % 2 == 0 ? nullptr : other.data(), other.size(), 512);
    EXPECT_LE(size, 512u);
    outputs.emplace_back(out, out + size);
  }
  mutator.deinit(state);
  return outputs;
}

TEST(AflMutator, IsThereForEveryTargetAndFollowsItsSeed) {
  for (const Target& target : Targets()) {
    SCOPED_TRACE(target.name);
    const Mutator mutator = Load(target.name);
    ASSERT_TRUE(mutator.init && mutator.fuzz && mutator.deinit);
    const std::vector<Bytes> first = Mutants(mutator, target);
    EXPECT_EQ(first, Mutants(mutator, target));
    std::size_t changes = 0;
    for (std::size_t i = 1; i < first.size(); ++i) {
      changes += first[i] != first[i - 1];
    }
    EXPECT_GT(changes, first.size() / 2);
  }
}

}  // namespace
}  // namespace weightproof::fuzzers
