// The few functions of ggml that the plug-in calls, found at run time in the
// shared libraries of a released package.
//
// Declared here from ggml's public interface, version 0.23.0 (commit 5b4ebc5);
// no header of ggml is needed to build. Another release may need other
// declarations: Load refuses a base library of another version.
#ifndef WEIGHTPROOF_IMPLS_DRIVERS_GGML_API_H_
#define WEIGHTPROOF_IMPLS_DRIVERS_GGML_API_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <string>

namespace weightproof::drivers::ggml {

inline constexpr char kVersion[] = "0.23.0";
inline constexpr int kMaxDims = 4;
inline constexpr int kTypeQ8_0 = 8;
inline constexpr int kTypeQ8_1 = 9;

struct GgufContext;  // gguf_context
struct DataContext;  // ggml_context
struct Tensor;       // ggml_tensor

struct InitParams {  // gguf_init_params, passed by value
  bool no_alloc;
  DataContext** data;
};

struct CpuTraits {  // ggml_type_traits_cpu
  void (*from_float)(const float* x, void* y, std::int64_t k);
  void (*vec_dot)(int n, float* s, std::size_t bs, const void* x,
                  std::size_t bx, const void* y, std::size_t by, int nrc);
  int vec_dot_type;
  std::int64_t nrows;
};

// libggml-base.so. Each member has the name of the function without its
// prefix; see the table in api.cc.
struct Api {
  const char* (*version)();
  void (*data_free)(DataContext*);
  Tensor* (*get_tensor)(DataContext*, const char* name);
  Tensor* (*get_first_tensor)(const DataContext*);
  void* (*get_data)(const Tensor*);
  std::size_t (*nbytes)(const Tensor*);
  bool (*validate_row_data)(int type, const void* data, std::size_t bytes);
  void (*fp32_to_fp16_row)(const float* x, std::uint16_t* y, std::int64_t n);
  void (*fp16_to_fp32_row)(const std::uint16_t* x, float* y, std::int64_t n);
  void (*quantize_row_q8_0_ref)(const float* x, void* y, std::int64_t k);
  void (*quantize_row_q8_1_ref)(const float* x, void* y, std::int64_t k);
  void (*dequantize_row_q8_0)(const void* x, float* y, std::int64_t k);

  GgufContext* (*init_from_file_ptr)(std::FILE*, InitParams);
  GgufContext* (*init_from_buffer)(const void*, std::size_t, InitParams);
  void (*gguf_free)(GgufContext*);
  std::uint32_t (*get_version)(const GgufContext*);
  std::size_t (*get_alignment)(const GgufContext*);
  std::size_t (*get_data_offset)(const GgufContext*);
  std::int64_t (*get_n_kv)(const GgufContext*);
  std::int64_t (*find_key)(const GgufContext*, const char* key);
  const char* (*get_key)(const GgufContext*, std::int64_t);
  int (*get_kv_type)(const GgufContext*, std::int64_t);
  int (*get_arr_type)(const GgufContext*, std::int64_t);
  std::size_t (*get_arr_n)(const GgufContext*, std::int64_t);
  const void* (*get_arr_data)(const GgufContext*, std::int64_t);
  const char* (*get_arr_str)(const GgufContext*, std::int64_t, std::size_t);
  const void* (*get_val_data)(const GgufContext*, std::int64_t);
  const char* (*get_val_str)(const GgufContext*, std::int64_t);
  std::uint8_t (*get_val_u8)(const GgufContext*, std::int64_t);
  std::int8_t (*get_val_i8)(const GgufContext*, std::int64_t);
  std::uint16_t (*get_val_u16)(const GgufContext*, std::int64_t);
  std::int16_t (*get_val_i16)(const GgufContext*, std::int64_t);
  std::uint32_t (*get_val_u32)(const GgufContext*, std::int64_t);
  std::int32_t (*get_val_i32)(const GgufContext*, std::int64_t);
  float (*get_val_f32)(const GgufContext*, std::int64_t);
  std::uint64_t (*get_val_u64)(const GgufContext*, std::int64_t);
  std::int64_t (*get_val_i64)(const GgufContext*, std::int64_t);
  double (*get_val_f64)(const GgufContext*, std::int64_t);
  bool (*get_val_bool)(const GgufContext*, std::int64_t);
  std::int64_t (*get_n_tensors)(const GgufContext*);
  const char* (*get_tensor_name)(const GgufContext*, std::int64_t);
  const std::int64_t* (*get_tensor_ne)(const GgufContext*, std::int64_t);
  int (*get_tensor_type)(const GgufContext*, std::int64_t);
  std::size_t (*get_tensor_offset)(const GgufContext*, std::int64_t);
  std::size_t (*get_tensor_size)(const GgufContext*, std::int64_t);
  std::int64_t (*find_tensor)(const GgufContext*, const char* name);
  const char* (*get_name)(const Tensor*);
  Tensor* (*get_next_tensor)(const DataContext*, Tensor*);
  GgufContext* (*init_empty)();
  void (*set_kv)(GgufContext* to, const GgufContext* from);
  void (*add_tensor)(GgufContext*, const Tensor*);
  bool (*write_to_file)(const GgufContext*, const char* path, bool only_meta);
};

// libggml-cpu-NAME.so, one per process.
struct CpuApi {
  int (*score)();  // 0: this machine must not run it
  void (*init)();
  const CpuTraits* (*get_type_traits)(int type);
  void (*fp32_to_fp16)(const float* x, std::uint16_t* y, std::int64_t n);
  void (*fp16_to_fp32)(const std::uint16_t* x, float* y, std::int64_t n);
};

// dir = the folder that holds the libraries. The error names what is missing.
std::expected<Api, std::string> Load(const std::string& dir);
std::expected<CpuApi, std::string> LoadCpu(const std::string& dir,
                                           const std::string& name);

}  // namespace weightproof::drivers::ggml

#endif  // WEIGHTPROOF_IMPLS_DRIVERS_GGML_API_H_
