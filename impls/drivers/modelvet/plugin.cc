// modelvet behind the C ABI: one verdict per whole file, no dump.
//
// --arguments: the path of its shared library, as its Python package builds
// it. The functions are declared here from its public interface, 0.1.1.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "impls/abi.h"
#include "impls/drivers/answer.h"
#include "impls/drivers/modelvet/violations.h"

namespace weightproof::drivers::modelvet {
namespace {

constexpr std::uint32_t kVersion = 1001;  // 0.1.1
// Enough for every file within modelvet's default caps (147,463 bytes).
constexpr std::size_t kArenaBytes = std::size_t{1} << 20;

struct Report {
  std::uint32_t verdict;  // 1 accept
  std::uint32_t violation;
  std::uint64_t offset;
  std::uint64_t detail[2];
};

struct Arena {
  std::uint8_t* base;
  std::size_t capacity;
  std::size_t used;
};

struct Api {
  std::uint32_t (*version)();
  int (*arena_bind)(Arena*, void* memory, std::size_t capacity);
  int (*gguf_verify)(Report*, Arena*, const void* data, std::size_t size);
};

Api g_api;

void Parse(const wp_gguf_input* input, const wp_gguf_sink* sink,
           wp_answer* answer) {
  if (input->data.size != input->file_size || input->base != 0) {
    return NotRun(answer, "verifies whole files in memory, from their start");
  }
  static std::vector<std::uint8_t> memory(kArenaBytes);
  Arena arena{};
  Report report{};
  const int bound = g_api.arena_bind(&arena, memory.data(), memory.size());
  const int status = bound != 0
                         ? bound
                         : g_api.gguf_verify(&report, &arena, input->data.data,
                                             input->data.size);
  if (status != 0) {
    return NotRun(answer, "modelvet status " + std::to_string(status));
  }
  if (report.verdict == 1) {
    const wp_gguf_header unknown{.version = 0,
                                 .big_endian = -1,
                                 .alignment = WP_UNKNOWN,
                                 .data_offset = WP_UNKNOWN,
                                 .kv_count = 0,
                                 .tensor_count = 0};
    sink->header(sink->context, &unknown);
    return Accept(answer);
  }
  const Violation* const violation = FindViolation(report.violation);
  const std::string name =
      violation != nullptr ? violation->name : "unlisted violation";
  Reject(answer, name + " (" + std::to_string(report.violation) +
                     "): " + std::to_string(report.detail[0]) + ", " +
                     std::to_string(report.detail[1]));
  if (violation != nullptr) answer->rule = violation->rule;
  answer->offset = report.offset;
}

const char* const kNoFields[] = {nullptr};

const wp_implementation* Table() {
  static wp_implementation table{};
  table.abi_version = WP_ABI_VERSION;
  table.name = "modelvet";
  table.version = "0.1.1";
  table.language = "C";
  table.verdicts = kVerdicts;
  table.dump_fields = kNoFields;
  table.variants = kNoVariants;
  table.gguf_parse = Parse;
  return &table;
}

std::string Load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  const auto find = [library]<typename F>(const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    return function != nullptr;
  };
  if (!find("mvet_version", g_api.version) ||
      !find("mvet_arena_bind", g_api.arena_bind) ||
      !find("mvet_gguf_verify", g_api.gguf_verify)) {
    return std::string("not modelvet: ") + path;
  }
  if (g_api.version() != kVersion) {
    return "modelvet " + std::to_string(g_api.version()) +
           " found, this plug-in declares 0.1.1";
  }
  return "";
}

}  // namespace
}  // namespace weightproof::drivers::modelvet

extern "C" __attribute__((visibility("default"))) const wp_implementation*
wp_implementation_open(const char* arguments, char* error,
                       std::size_t error_size) {
  const std::string problem = weightproof::drivers::modelvet::Load(arguments);
  if (problem.empty()) return weightproof::drivers::modelvet::Table();
  std::snprintf(error, error_size, "%s", problem.c_str());
  return nullptr;
}
