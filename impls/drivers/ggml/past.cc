#include "impls/drivers/ggml/past.h"

#include <dlfcn.h>

#include "impls/drivers/answer.h"
#include "impls/drivers/ggml/api.h"

namespace weightproof::drivers::ggml {
namespace {

constexpr std::uint64_t kMaxLoad = std::uint64_t{1} << 30;

GgufContext* (*g_init)(const char* path, InitParams);
void (*g_gguf_free)(GgufContext*);
void (*g_data_free)(DataContext*);

void Parse(const wp_gguf_input* input, bool full, const wp_gguf_sink* sink,
           wp_answer* answer) {
  if (input->path == nullptr || input->base != 0) {
    return NotRun(answer, "opens paths, and reads files from their start");
  }
  if (full && input->file_size > kMaxLoad) {
    return NotRun(answer, "ggml would load the file; over 1 GiB is not run");
  }
  DataContext* data = nullptr;
  GgufContext* const gguf =
      g_init(input->path, {!full, full ? &data : nullptr});
  if (gguf == nullptr) {
    return Reject(answer,
                  "ggml returns no context; its log is on standard "
                  "error");
  }
  g_gguf_free(gguf);
  if (data != nullptr) g_data_free(data);
  const wp_gguf_header unknown{.version = 0,
                               .big_endian = -1,
                               .alignment = WP_UNKNOWN,
                               .data_offset = WP_UNKNOWN,
                               .kv_count = 0,
                               .tensor_count = 0};
  sink->header(sink->context, &unknown);
  Accept(answer);
}

}  // namespace

std::expected<const wp_implementation*, std::string> PastImplementation(
    const std::string& dir, bool full) {
  void* library =
      dlopen((dir + "/libggml-base.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    library = dlopen((dir + "/libggml.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
  }
  if (library == nullptr) return std::unexpected(std::string(dlerror()));
  const auto find = [library](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(library, name));
    return function != nullptr;
  };
  if (!find("gguf_init_from_file", g_init) || !find("gguf_free", g_gguf_free) ||
      !find("ggml_free", g_data_free)) {
    return std::unexpected(std::string(dlerror()));
  }
  static constexpr const char* kNothing[] = {nullptr};
  static wp_implementation table{};
  table.abi_version = WP_ABI_VERSION;
  table.name = full ? "ggml/full" : "ggml/metadata";
  table.version = "past";
  table.language = "C++";
  table.profile = "ggml";
  table.verdicts = kVerdicts;
  table.dump_fields = kNothing;
  table.variants = kNoVariants;
  table.gguf_parse =
      full ? +[](const wp_gguf_input* input, const wp_gguf_sink* sink,
                 wp_answer* answer) { Parse(input, true, sink, answer); }
           : +[](const wp_gguf_input* input, const wp_gguf_sink* sink,
                 wp_answer* answer) { Parse(input, false, sink, answer); };
  return &table;
}

}  // namespace weightproof::drivers::ggml
