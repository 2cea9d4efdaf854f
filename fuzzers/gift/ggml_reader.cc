// A plain libFuzzer harness of ggml's GGUF reader, as anybody would write it:
// loads the file with its tensors and asks for everything it says; no mutator,
// no oracle but the sanitizer. For measure.sh.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ggml.h"
#include "gguf.h"

namespace {

template <typename T>
std::uint64_t Bits(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

std::uint64_t Letters(const char* text) {
  std::uint64_t sum = 0;
  while (*text != '\0') sum = sum * 31 + static_cast<unsigned char>(*text++);
  return sum;
}

std::uint64_t Elements(const gguf_context* file, std::int64_t i) {
  const std::size_t count = gguf_get_arr_n(file, i);
  std::uint64_t sum = count;
  switch (gguf_get_arr_type(file, i)) {
    case GGUF_TYPE_STRING:
      for (std::size_t k = 0; k < count; ++k) {
        sum += Letters(gguf_get_arr_str(file, i, k));
      }
      return sum;
    case GGUF_TYPE_ARRAY:
      return sum;
    default:
      const auto* data =
          static_cast<const unsigned char*>(gguf_get_arr_data(file, i));
      for (std::size_t k = 0; k < count; ++k) sum += data[k];
      return sum;
  }
}

std::uint64_t Value(const gguf_context* file, std::int64_t i) {
  switch (gguf_get_kv_type(file, i)) {
    case GGUF_TYPE_UINT8:
      return gguf_get_val_u8(file, i);
    case GGUF_TYPE_INT8:
      return Bits(gguf_get_val_i8(file, i));
    case GGUF_TYPE_UINT16:
      return gguf_get_val_u16(file, i);
    case GGUF_TYPE_INT16:
      return Bits(gguf_get_val_i16(file, i));
    case GGUF_TYPE_UINT32:
      return gguf_get_val_u32(file, i);
    case GGUF_TYPE_INT32:
      return Bits(gguf_get_val_i32(file, i));
    case GGUF_TYPE_FLOAT32:
      return Bits(gguf_get_val_f32(file, i));
    case GGUF_TYPE_BOOL:
      return gguf_get_val_bool(file, i) ? 1 : 0;
    case GGUF_TYPE_STRING:
      return Letters(gguf_get_val_str(file, i));
    case GGUF_TYPE_ARRAY:
      return Elements(file, i);
    case GGUF_TYPE_UINT64:
      return gguf_get_val_u64(file, i);
    case GGUF_TYPE_INT64:
      return Bits(gguf_get_val_i64(file, i));
    case GGUF_TYPE_FLOAT64:
      return Bits(gguf_get_val_f64(file, i));
    default:
      return 0;
  }
}

std::uint64_t Tensors(const gguf_context* file, ggml_context* tensors) {
  std::uint64_t sum = gguf_get_data_offset(file);
  for (std::int64_t i = 0; i < gguf_get_n_tensors(file); ++i) {
    sum += Letters(gguf_get_tensor_name(file, i)) +
           gguf_get_tensor_offset(file, i) + gguf_get_tensor_type(file, i) +
           gguf_get_tensor_size(file, i);
  }
  for (ggml_tensor* t = ggml_get_first_tensor(tensors); t != nullptr;
       t = ggml_get_next_tensor(tensors, t)) {
    sum += ggml_nbytes(t) + (ggml_is_contiguous(t) ? 1 : 0) +
           static_cast<std::uint64_t>(ggml_n_dims(t)) +
           static_cast<std::uint64_t>(gguf_find_tensor(file, t->name));
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ggml_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  ggml_context* tensors = nullptr;
  gguf_init_params params = {};
  params.no_alloc = false;
  params.ctx = &tensors;
  gguf_context* const file = gguf_init_from_buffer(data, size, params);
  if (file == nullptr) return 0;
  volatile std::uint64_t sum =
      gguf_get_version(file) + gguf_get_alignment(file);
  for (std::int64_t i = 0; i < gguf_get_n_kv(file); ++i) {
    const char* const key = gguf_get_key(file, i);
    sum = sum + static_cast<std::uint64_t>(gguf_find_key(file, key)) +
          Value(file, i);
  }
  sum = sum + Tensors(file, tensors);
  gguf_free(file);
  ggml_free(tensors);
  return 0;
}
