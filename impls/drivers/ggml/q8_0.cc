#include "impls/drivers/ggml/q8_0.h"

#include <string>

#include "impls/drivers/answer.h"

namespace weightproof::drivers::ggml {
namespace {

constexpr std::uint64_t kBlock = 32;
constexpr std::uint64_t kBytesQ8_0 = 34, kBytesQ8_1 = 36;

Api g_api;
CpuApi g_cpu;
std::string g_not_run;  // why nothing can be run, or empty

// Lengths travel as ggml's functions take them; row lengths that are no
// multiple of a block go in as they are.
template <typename Quantize>
void QuantizeRows(Quantize quantize, std::uint64_t block_bytes, const float* x,
                  std::uint64_t n, std::uint64_t rows, std::uint8_t* y,
                  wp_answer* answer) {
  for (std::uint64_t r = 0; r < rows; ++r) {
    quantize(x + r * n, y + r * (n / kBlock) * block_bytes,
             static_cast<std::int64_t>(n));
  }
  Accept(answer);
}

void RefQuantize(const char*, const float* x, std::uint64_t n,
                 std::uint64_t rows, std::uint8_t* y, wp_answer* answer) {
  QuantizeRows(g_api.quantize_row_q8_0_ref, kBytesQ8_0, x, n, rows, y, answer);
}

void RefQuantizeQ8_1(const char*, const float* x, std::uint64_t n,
                     std::uint64_t rows, std::uint8_t* y, wp_answer* answer) {
  QuantizeRows(g_api.quantize_row_q8_1_ref, kBytesQ8_1, x, n, rows, y, answer);
}

void Dequantize(const char*, const std::uint8_t* x, std::uint64_t n,
                std::uint64_t rows, float* y, wp_answer* answer) {
  for (std::uint64_t r = 0; r < rows; ++r) {
    g_api.dequantize_row_q8_0(x + r * (n / kBlock) * kBytesQ8_0, y + r * n,
                              static_cast<std::int64_t>(n));
  }
  Accept(answer);
}

// ggml's check knows sizes in bytes, no shapes; and no Q8_1.
void Validate(wp_slice x, std::uint64_t, std::uint64_t, wp_answer* answer) {
  if (g_api.validate_row_data(kTypeQ8_0, x.data, x.size)) return Accept(answer);
  Reject(answer, "ggml_validate_row_data");
}

void RefFromF32(const char*, const float* x, std::uint64_t count,
                std::uint16_t* y, wp_answer* answer) {
  g_api.fp32_to_fp16_row(x, y, static_cast<std::int64_t>(count));
  Accept(answer);
}

void RefToF32(const char*, const std::uint16_t* x, std::uint64_t count,
              float* y, wp_answer* answer) {
  g_api.fp16_to_fp32_row(x, y, static_cast<std::int64_t>(count));
  Accept(answer);
}

bool Runs(wp_answer* answer) {
  if (g_not_run.empty()) return true;
  NotRun(answer, g_not_run);
  return false;
}

void CpuQuantize(const char*, const float* x, std::uint64_t n,
                 std::uint64_t rows, std::uint8_t* y, wp_answer* answer) {
  if (!Runs(answer)) return;
  QuantizeRows(g_cpu.get_type_traits(kTypeQ8_0)->from_float, kBytesQ8_0, x, n,
               rows, y, answer);
}

void CpuQuantizeQ8_1(const char*, const float* x, std::uint64_t n,
                     std::uint64_t rows, std::uint8_t* y, wp_answer* answer) {
  if (!Runs(answer)) return;
  QuantizeRows(g_cpu.get_type_traits(kTypeQ8_1)->from_float, kBytesQ8_1, x, n,
               rows, y, answer);
}

void CpuDot(const char*, const std::uint8_t* w, const std::uint8_t* x,
            std::uint64_t n, float* y, std::int32_t*, wp_answer* answer) {
  if (!Runs(answer)) return;
  answer->row = -1;
  *y = 0;
  g_cpu.get_type_traits(kTypeQ8_0)->vec_dot(static_cast<int>(n), y, 0, w, 0, x,
                                            0, 1);
  Accept(answer);
}

void CpuFromF32(const char*, const float* x, std::uint64_t count,
                std::uint16_t* y, wp_answer* answer) {
  if (!Runs(answer)) return;
  g_cpu.fp32_to_fp16(x, y, static_cast<std::int64_t>(count));
  Accept(answer);
}

void CpuToF32(const char*, const std::uint16_t* x, std::uint64_t count,
              float* y, wp_answer* answer) {
  if (!Runs(answer)) return;
  g_cpu.fp16_to_fp32(x, y, static_cast<std::int64_t>(count));
  Accept(answer);
}

const char* const kNoFields[] = {nullptr};

wp_implementation Table(const char* name) {
  wp_implementation table{};
  table.abi_version = WP_ABI_VERSION;
  table.name = name;
  table.version = kVersion;
  table.language = "C++";
  table.verdicts = kVerdicts;
  table.dump_fields = kNoFields;
  table.variants = kNoVariants;
  return table;
}

}  // namespace

const wp_implementation* RefImplementation(const Api& api) {
  static wp_implementation table = Table("ggml/ref");
  g_api = api;
  table.q8_0_quantize = RefQuantize;
  table.q8_1_quantize = RefQuantizeQ8_1;
  table.q8_0_dequantize = Dequantize;
  table.q8_0_validate = Validate;
  table.f16_from_f32 = RefFromF32;
  table.f16_to_f32 = RefToF32;
  return &table;
}

const wp_implementation* CpuImplementation(const Api& api, const CpuApi& cpu,
                                           const std::string& name) {
  static const std::string full_name = "ggml/cpu-" + name;
  static wp_implementation table = Table(full_name.c_str());
  g_api = api;
  g_cpu = cpu;
  g_not_run.clear();
  if (cpu.score() == 0) {
    g_not_run = "this machine cannot run libggml-cpu-" + name +
                ".so: ggml_backend_score() is 0";
  } else {
    cpu.init();
  }
  table.q8_0_quantize = CpuQuantize;
  table.q8_1_quantize = CpuQuantizeQ8_1;
  table.q8_0_dot = CpuDot;
  table.f16_from_f32 = CpuFromF32;
  table.f16_to_f32 = CpuToF32;
  return &table;
}

}  // namespace weightproof::drivers::ggml
