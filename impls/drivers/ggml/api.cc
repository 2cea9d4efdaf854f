#include "impls/drivers/ggml/api.h"

#include <dlfcn.h>

#include <cstring>
#include <optional>
#include <utility>

namespace weightproof::drivers::ggml {
namespace {

class Library {
 public:
  Library(const std::string& path, int scope)
      : handle_(dlopen(path.c_str(), RTLD_NOW | scope)) {
    if (handle_ == nullptr) Note(dlerror());
  }

  template <typename Function>
  void Find(const char* name, Function& out) {
    if (handle_ == nullptr) return;
    void* const symbol = dlsym(handle_, name);
    if (symbol == nullptr) Note(std::string("no function ") + name);
    out = reinterpret_cast<Function>(symbol);
  }

  const std::optional<std::string>& error() const { return error_; }

 private:
  void Note(std::string error) {
    if (!error_) error_ = std::move(error);
  }

  void* handle_;
  std::optional<std::string> error_;
};

}  // namespace

std::expected<Api, std::string> Load(const std::string& dir) {
  Library base(dir + "/libggml-base.so", RTLD_GLOBAL);
  Api api{};
  base.Find("ggml_version", api.version);
  base.Find("ggml_free", api.data_free);
  base.Find("ggml_get_tensor", api.get_tensor);
  base.Find("ggml_get_first_tensor", api.get_first_tensor);
  base.Find("ggml_get_data", api.get_data);
  base.Find("ggml_nbytes", api.nbytes);
  base.Find("ggml_validate_row_data", api.validate_row_data);
  base.Find("ggml_fp32_to_fp16_row", api.fp32_to_fp16_row);
  base.Find("ggml_fp16_to_fp32_row", api.fp16_to_fp32_row);
  base.Find("quantize_row_q8_0_ref", api.quantize_row_q8_0_ref);
  base.Find("quantize_row_q8_1_ref", api.quantize_row_q8_1_ref);
  base.Find("dequantize_row_q8_0", api.dequantize_row_q8_0);
  base.Find("gguf_init_from_file_ptr", api.init_from_file_ptr);
  base.Find("gguf_init_from_buffer", api.init_from_buffer);
  base.Find("gguf_free", api.gguf_free);
  base.Find("gguf_get_version", api.get_version);
  base.Find("gguf_get_alignment", api.get_alignment);
  base.Find("gguf_get_data_offset", api.get_data_offset);
  base.Find("gguf_get_n_kv", api.get_n_kv);
  base.Find("gguf_find_key", api.find_key);
  base.Find("gguf_get_key", api.get_key);
  base.Find("gguf_get_kv_type", api.get_kv_type);
  base.Find("gguf_get_arr_type", api.get_arr_type);
  base.Find("gguf_get_arr_n", api.get_arr_n);
  base.Find("gguf_get_arr_data", api.get_arr_data);
  base.Find("gguf_get_arr_str", api.get_arr_str);
  base.Find("gguf_get_val_data", api.get_val_data);
  base.Find("gguf_get_val_str", api.get_val_str);
  base.Find("gguf_get_val_u8", api.get_val_u8);
  base.Find("gguf_get_val_i8", api.get_val_i8);
  base.Find("gguf_get_val_u16", api.get_val_u16);
  base.Find("gguf_get_val_i16", api.get_val_i16);
  base.Find("gguf_get_val_u32", api.get_val_u32);
  base.Find("gguf_get_val_i32", api.get_val_i32);
  base.Find("gguf_get_val_f32", api.get_val_f32);
  base.Find("gguf_get_val_u64", api.get_val_u64);
  base.Find("gguf_get_val_i64", api.get_val_i64);
  base.Find("gguf_get_val_f64", api.get_val_f64);
  base.Find("gguf_get_val_bool", api.get_val_bool);
  base.Find("gguf_get_n_tensors", api.get_n_tensors);
  base.Find("gguf_get_tensor_name", api.get_tensor_name);
  base.Find("gguf_get_tensor_ne", api.get_tensor_ne);
  base.Find("gguf_get_tensor_type", api.get_tensor_type);
  base.Find("gguf_get_tensor_offset", api.get_tensor_offset);
  base.Find("gguf_get_tensor_size", api.get_tensor_size);
  base.Find("gguf_find_tensor", api.find_tensor);
  base.Find("ggml_get_name", api.get_name);
  base.Find("ggml_get_next_tensor", api.get_next_tensor);
  base.Find("gguf_init_empty", api.init_empty);
  base.Find("gguf_set_kv", api.set_kv);
  base.Find("gguf_add_tensor", api.add_tensor);
  base.Find("gguf_write_to_file", api.write_to_file);
  if (base.error()) return std::unexpected(*base.error());
  if (std::strcmp(api.version(), kVersion) != 0) {
    return std::unexpected(std::string("ggml ") + api.version() +
                           " found, this plug-in declares " + kVersion);
  }
  return api;
}

std::expected<CpuApi, std::string> LoadCpu(const std::string& dir,
                                           const std::string& name) {
  Library library(dir + "/libggml-cpu-" + name + ".so", RTLD_LOCAL);
  CpuApi api{};
  library.Find("ggml_backend_score", api.score);
  library.Find("ggml_cpu_init", api.init);
  library.Find("ggml_get_type_traits_cpu", api.get_type_traits);
  library.Find("ggml_cpu_fp32_to_fp16", api.fp32_to_fp16);
  library.Find("ggml_cpu_fp16_to_fp32", api.fp16_to_fp32);
  if (library.error()) return std::unexpected(*library.error());
  return api;
}

}  // namespace weightproof::drivers::ggml
