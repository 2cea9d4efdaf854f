// A plain libFuzzer harness of ggml's GGUF reader, as anybody would write it:
// no mutator, no oracle but the sanitizer. For measure.sh.
#include <cstddef>
#include <cstdint>

#include "ggml.h"
#include "gguf.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ggml_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  gguf_init_params params = {};
  params.no_alloc = true;
  gguf_context* const context = gguf_init_from_buffer(data, size, params);
  if (context == nullptr) return 0;
  for (std::int64_t i = 0; i < gguf_get_n_kv(context); ++i) {
    (void)gguf_get_key(context, i);
  }
  for (std::int64_t i = 0; i < gguf_get_n_tensors(context); ++i) {
    (void)gguf_get_tensor_offset(context, i);
  }
  gguf_free(context);
  return 0;
}
