// ggml behind the C ABI.
//
// --arguments "metadata DIR", "full DIR", "ref DIR", "cpu NAME DIR", or for
// releases of any age "past-metadata DIR", "past-full DIR": DIR holds
// libggml-base.so and the libggml-cpu-NAME.so of the npm package. One instance
// per process: two CPU libraries cannot live in one.
#include <cstdio>
#include <expected>
#include <string>

#include "impls/abi.h"
#include "impls/drivers/ggml/api.h"
#include "impls/drivers/ggml/gguf.h"
#include "impls/drivers/ggml/past.h"
#include "impls/drivers/ggml/q8_0.h"

namespace weightproof::drivers::ggml {
namespace {

using Opened = std::expected<const wp_implementation*, std::string>;

// The text up to the next space, which is taken away with it.
std::string TakeWord(std::string& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  std::string word = text.substr(0, end);
  text.erase(0, end + 1);
  return word;
}

Opened Open(std::string arguments) {
  const std::string mode = TakeWord(arguments);
  const std::string cpu_name = mode == "cpu" ? TakeWord(arguments) : "";
  if (mode == "past-metadata") return PastImplementation(arguments, false);
  if (mode == "past-full") return PastImplementation(arguments, true);
  const auto api = Load(arguments);
  if (!api) return std::unexpected(api.error());
  if (mode == "metadata") return MetadataImplementation(*api);
  if (mode == "full") return FullImplementation(*api);
  if (mode == "ref") return RefImplementation(*api);
  if (mode != "cpu") return std::unexpected("no instance '" + mode + "'");
  const auto cpu = LoadCpu(arguments, cpu_name);
  if (!cpu) return std::unexpected(cpu.error());
  return CpuImplementation(*api, *cpu, cpu_name);
}

}  // namespace
}  // namespace weightproof::drivers::ggml

extern "C" __attribute__((visibility("default"))) const wp_implementation*
wp_implementation_open(const char* arguments, char* error,
                       std::size_t error_size) {
  const auto opened = weightproof::drivers::ggml::Open(arguments);
  if (opened) return *opened;
  std::snprintf(error, error_size, "%s", opened.error().c_str());
  return nullptr;
}
