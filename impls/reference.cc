#include "impls/reference_ops.h"

namespace weightproof::impls {
namespace {

constexpr const char* kVerdicts[] = {"accept", "reject", "unsupported", "limit",
                                     nullptr};
constexpr const char* kDumpFields[] = {
    "version", "endian",   "alignment", "data_offset", "file_size", "kv",
    "tensors", "policies", "size",      "order",       nullptr};
constexpr const char* kVariants[] = {nullptr};

wp_implementation MakeTable() {
  wp_implementation table{};
  table.abi_version = WP_ABI_VERSION;
  table.name = "reference";
  table.version = "1";
  table.language = "C++";
  table.profile = "spec";
  table.verdicts = kVerdicts;
  table.dump_fields = kDumpFields;
  table.variants = kVariants;
  table.gguf_parse = ReferenceGgufParse;
  table.gguf_tensor = ReferenceGgufTensor;
  table.gguf_get = ReferenceGgufGet;
  table.gguf_open_set = ReferenceGgufOpenSet;
  table.gguf_check = ReferenceGgufCheck;
  table.q8_0_quantize = ReferenceQ80Quantize;
  table.q8_1_quantize = ReferenceQ81Quantize;
  table.q8_0_dequantize = ReferenceQ80Dequantize;
  table.q8_0_dot = ReferenceQ80Dot;
  table.q8_0_matvec = ReferenceQ80Matvec;
  table.q8_0_validate = ReferenceQ80Validate;
  table.q8_1_validate = ReferenceQ81Validate;
  table.f16_from_f32 = ReferenceF16FromF32;
  table.f16_to_f32 = ReferenceF16ToF32;
  return table;
}

}  // namespace

const wp_implementation* ReferenceImplementation() {
  static const wp_implementation table = MakeTable();
  return &table;
}

}  // namespace weightproof::impls
