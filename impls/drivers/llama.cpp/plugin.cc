// llama.cpp's model loader behind the C ABI: a verdict per file, no dump.
//
// --arguments: the folder of libllama.v0.4.0.so. A file is accepted if the
// loader took it, that is, read its metadata and found every tensor inside the
// file; whether llama.cpp knows the architecture and the vocabulary does not
// count. The loader says so in its log, the only place where the two show
// apart. The types are declared here from the public interface of 0.4.0; Open
// checks them against what the library fills in.
#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "impls/abi.h"
#include "impls/drivers/answer.h"

namespace weightproof::drivers::llama_cpp {
namespace {

struct ModelParams {
  void* devices;
  const void* tensor_buft_overrides;
  std::int32_t n_gpu_layers;
  std::int32_t split_mode;
  std::int32_t load_mode;
  std::int32_t lazy_mode;
  std::int32_t main_gpu;
  const float* tensor_split;
  bool (*progress_callback)(float, void*);
  void* progress_callback_user_data;
  const void* kv_overrides;
  bool vocab_only;
  bool check_tensors;
  bool use_extra_bufts;
  bool no_host;
  bool no_alloc;
  bool load_mtp;
};

constexpr int kLogError = 4;
constexpr int kLogContinued = 5;
constexpr std::string_view kLoaded = "llama_model_loader: loaded meta data";

struct Api {
  void (*log_set)(void (*)(int level, const char* text, void*), void*);
  ModelParams (*default_params)();
  // The same function as it is compiled on x86-64: a large structure comes
  // through a hidden pointer.
  void* (*fill_default_params)(void* params);
  void* (*load)(const char* path, ModelParams params);
  void (*free)(void* model);
};

Api g_api;
bool g_loaded = false;
std::string g_errors;

void Log(int level, const char* text, void*) {
  static int last = 0;
  if (level != kLogContinued) last = level;
  if (std::string_view(text).starts_with(kLoaded)) g_loaded = true;
  if (last != kLogError) return;
  std::fputs(text, stderr);
  g_errors += text;
}

void Parse(const wp_gguf_input* input, const wp_gguf_sink* sink,
           wp_answer* answer) {
  if (input->path == nullptr || input->base != 0) {
    return NotRun(answer, "opens paths, and reads files from their start");
  }
  ModelParams params = g_api.default_params();
  params.vocab_only = true;
  g_loaded = false;
  g_errors.clear();
  void* const model = g_api.load(input->path, params);
  if (model != nullptr) g_api.free(model);
  if (model == nullptr && !g_loaded) return Reject(answer, g_errors);
  const wp_gguf_header unknown{.version = 0,
                               .big_endian = -1,
                               .alignment = WP_UNKNOWN,
                               .data_offset = WP_UNKNOWN,
                               .kv_count = 0,
                               .tensor_count = 0};
  sink->header(sink->context, &unknown);
  Accept(answer);
}

// What default_params writes, byte for byte, must be the fields above: a
// structure of another release has other bytes or another length.
bool SameLayout() {
  constexpr std::size_t kRoom = 256;
  constexpr std::size_t kFields = offsetof(ModelParams, load_mtp) + 1;
  constexpr int kUntouched = 0xa5;
  alignas(16) std::array<unsigned char, kRoom> bytes;
  std::memset(bytes.data(), kUntouched, kRoom);
  g_api.fill_default_params(bytes.data());
  std::array<unsigned char, kRoom> expected;
  std::memset(expected.data(), kUntouched, kRoom);
  std::memset(expected.data(), 0, offsetof(ModelParams, main_gpu) + 4);
  std::memset(expected.data() + offsetof(ModelParams, tensor_split), 0,
              kFields - offsetof(ModelParams, tensor_split));
  const auto set = [&expected](std::size_t at, std::int32_t value) {
    std::memcpy(expected.data() + at, &value, sizeof value);
  };
  set(offsetof(ModelParams, n_gpu_layers), -1);
  set(offsetof(ModelParams, split_mode), 1);
  set(offsetof(ModelParams, load_mode), -1);
  set(offsetof(ModelParams, lazy_mode), 1);
  expected[offsetof(ModelParams, use_extra_bufts)] = 1;
  return bytes == expected;
}

const char* const kNoFields[] = {nullptr};

const wp_implementation* Table() {
  static wp_implementation table{};
  table.abi_version = WP_ABI_VERSION;
  table.name = "llama.cpp/loader";
  table.version = "0.4.0";
  table.language = "C++";
  table.profile = "ggml";
  table.verdicts = kVerdicts;
  table.dump_fields = kNoFields;
  table.variants = kNoVariants;
  table.gguf_parse = Parse;
  return &table;
}

std::string Load(const std::string& folder) {
  const std::string path = folder + "/libllama.v0.4.0.so";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  const auto find = [library]<typename F>(const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    return function != nullptr;
  };
  if (!find("llama_log_set", g_api.log_set) ||
      !find("llama_model_default_params", g_api.default_params) ||
      !find("llama_model_default_params", g_api.fill_default_params) ||
      !find("llama_model_load_from_file", g_api.load) ||
      !find("llama_model_free", g_api.free)) {
    return "not llama.cpp: " + path;
  }
#ifdef __x86_64__
  if (!SameLayout()) return "its parameters are not those of 0.4.0: " + path;
#else
  return "declared for x86-64 only";
#endif
  g_api.log_set(Log, nullptr);
  return "";
}

}  // namespace
}  // namespace weightproof::drivers::llama_cpp

extern "C" __attribute__((visibility("default"))) const wp_implementation*
wp_implementation_open(const char* arguments, char* error,
                       std::size_t error_size) {
  const std::string problem = weightproof::drivers::llama_cpp::Load(arguments);
  if (problem.empty()) return weightproof::drivers::llama_cpp::Table();
  std::snprintf(error, error_size, "%s", problem.c_str());
  return nullptr;
}
