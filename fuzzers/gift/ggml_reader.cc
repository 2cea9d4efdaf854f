// A plain libFuzzer harness of ggml's GGUF reader, as anybody would write it:
// loads the file with its tensors and reads every key; no mutator, no oracle
// but the sanitizer. For measure.sh.
#include <cstddef>
#include <cstdint>

#include "ggml.h"
#include "gguf.h"

namespace {

std::uint64_t Touch(const gguf_context* file, std::int64_t i) {
  switch (gguf_get_kv_type(file, i)) {
    case GGUF_TYPE_UINT32:
      return gguf_get_val_u32(file, i);
    case GGUF_TYPE_UINT64:
      return gguf_get_val_u64(file, i);
    case GGUF_TYPE_BOOL:
      return gguf_get_val_bool(file, i) ? 1 : 0;
    case GGUF_TYPE_STRING:
      return static_cast<unsigned char>(gguf_get_val_str(file, i)[0]);
    case GGUF_TYPE_ARRAY: {
      std::uint64_t sum = gguf_get_arr_n(file, i);
      if (gguf_get_arr_type(file, i) != GGUF_TYPE_STRING) return sum;
      for (std::size_t k = 0; k < gguf_get_arr_n(file, i); ++k) {
        sum += static_cast<unsigned char>(gguf_get_arr_str(file, i, k)[0]);
      }
      return sum;
    }
    default:
      return 0;
  }
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
  volatile std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < gguf_get_n_kv(file); ++i) {
    sum = sum + Touch(file, i);
  }
  for (ggml_tensor* t = ggml_get_first_tensor(tensors); t != nullptr;
       t = ggml_get_next_tensor(tensors, t)) {
    sum = sum + ggml_nbytes(t) + (ggml_is_contiguous(t) ? 1 : 0) +
          static_cast<std::uint64_t>(gguf_find_tensor(file, t->name));
  }
  gguf_free(file);
  ggml_free(tensors);
  return 0;
}
