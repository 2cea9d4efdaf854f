#include "impls/cpu/gguf_view.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {

const wp_implementation* GgufViewImplementation() {
  static const wp_implementation kTable = {
      .abi_version = WP_ABI_VERSION,
      .name = "gguf_view",
      .version = "0.1.0",
      .language = "C++",
      .profile = nullptr,
      .verdicts = nullptr,
      .dump_fields = nullptr,
      .variants = nullptr,
      .variant_runs = nullptr,
      .gguf_parse = nullptr,
      .gguf_tensor = nullptr,
      .gguf_get = nullptr,
      .q8_0_quantize = nullptr,
      .q8_1_quantize = nullptr,
      .q8_0_dequantize = nullptr,
      .q8_0_dot = nullptr,
      .q8_0_matvec = nullptr,
      .q8_0_validate = nullptr,
      .q8_1_validate = nullptr,
      .f16_from_f32 = nullptr,
      .f16_to_f32 = nullptr,
  };
  return &kTable;
}

}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls
