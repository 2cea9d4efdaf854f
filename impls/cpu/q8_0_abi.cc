// The C ABI around a kernel table: shapes, rows, threads, and a floating-point
// environment that can be relied on.
#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "impls/cpu/fp_scope.h"
#include "impls/cpu/q8_0.h"
#include "reference/q8_0/rules.h"
#include "reference/rule.h"

namespace weightproof::impls {
namespace {

constexpr std::uint64_t kBlock = 34;

const std::uint8_t* Image(const void* data) {
  return static_cast<const std::uint8_t*>(data);
}

void SetDetail(const char* text, wp_answer* answer) {
  std::strncpy(answer->detail, text, sizeof(answer->detail) - 1);
  answer->detail[sizeof(answer->detail) - 1] = '\0';
}

void Accept(wp_answer* answer) {
  answer->status = WP_STATUS_OK;
  answer->verdict = WP_ACCEPT;
}

void Reject(RuleIndex rule, const char* detail, wp_answer* answer) {
  answer->status = WP_STATUS_OK;
  answer->verdict = WP_REJECT;
  answer->rule = Rules()[rule].id.data();
  SetDetail(detail, answer);
}

// False with the answer set if the call cannot go on.
bool Ready(const Q80Kernels& kernels, const char* variant, std::uint64_t n,
           wp_answer* answer) {
  if (variant != nullptr) {
    answer->status = WP_STATUS_NOT_IMPLEMENTED;
    SetDetail("no such variant", answer);
    return false;
  }
  if (const char* missing = kernels.missing()) {
    answer->status = WP_STATUS_NOT_RUN;
    SetDetail(missing, answer);
    return false;
  }
  if (n % 32 != 0) {
    Reject(q8_0::rules::kShapeNotMultiple, "row length is not a multiple of 32",
           answer);
    return false;
  }
  return true;
}

struct Range {
  const void* data;
  std::uint64_t size;
};

// False with a refusal if an output shares bytes with an input: what is read
// after it was written would be wrong without a word.
bool Apart(Range out, std::initializer_list<Range> inputs, wp_answer* answer) {
  const auto first = reinterpret_cast<std::uintptr_t>(out.data);
  for (const Range& in : inputs) {
    const auto other = reinterpret_cast<std::uintptr_t>(in.data);
    if (out.size == 0 || in.size == 0 || other >= first + out.size ||
        first >= other + in.size) {
      continue;
    }
    answer->status = WP_STATUS_OK;
    answer->verdict = WP_REJECT;
    SetDetail("the output overlaps an input", answer);
    return false;
  }
  return true;
}

// Tells the caller that its environment would have changed results.
void Report(const FpScope& scope, wp_answer* answer) {
  if (!scope.foreign() || answer->detail[0] != '\0') return;
  SetDetail(
      "build.fp: the caller's floating-point environment was set aside for "
      "this call",
      answer);
}

// Names the first row of x that is not finite.
void RejectNonFinite(const std::uint8_t* x, std::uint64_t n, std::uint64_t rows,
                     RuleIndex rule, wp_answer* answer) {
  Reject(rule, "NaN or infinity in the row", answer);
  for (std::uint64_t i = 0; i < n * rows; ++i) {
    std::uint32_t pattern;
    std::memcpy(&pattern, x + 4 * i, sizeof(pattern));
    if ((pattern & 0x7f800000) != 0x7f800000) continue;
    answer->row = static_cast<std::int64_t>(i / n);
    answer->offset = 4 * i;
    return;
  }
}

void Quantize(const Q80Kernels& kernels, const char* variant, const float* x,
              std::uint64_t n, std::uint64_t rows, std::uint8_t* y,
              wp_answer* answer) {
  if (!Ready(kernels, variant, n, answer)) return;
  if (!Apart({y, n / 32 * rows * kBlock}, {{x, 4 * n * rows}}, answer)) return;
  if (kernels.quantize(Image(x), n / 32 * rows, y)) return Accept(answer);
  RejectNonFinite(Image(x), n, rows, q8_0::rules::kQuantizeNonfinite, answer);
}

void QuantizeQ81(const Q80Kernels& kernels, const char* variant, const float* x,
                 std::uint64_t n, std::uint64_t rows, std::uint8_t* y,
                 wp_answer* answer) {
  if (!Ready(kernels, variant, n, answer)) return;
  if (!Apart({y, n / 32 * rows * 36}, {{x, 4 * n * rows}}, answer)) return;
  if (QuantizeQ81Blocks(Image(x), n / 32 * rows, y)) return Accept(answer);
  RejectNonFinite(Image(x), n, rows, q8_0::rules::kQ81QuantizeNonfinite,
                  answer);
}

// One column of outputs, its rows split among threads.
void Column(const Q80Kernels& kernels, const std::uint8_t* w,
            const std::uint8_t* prepared, std::uint64_t blocks,
            std::uint64_t rows, std::uint32_t threads, std::uint8_t* y) {
  const std::uint64_t parts =
      std::clamp<std::uint64_t>(threads, 1, std::max<std::uint64_t>(rows, 1));
  const auto run = [&](std::uint64_t part) {
    const FpScope scope;  // a thread need not begin with its parent's
    const std::uint64_t first = rows * part / parts;
    const std::uint64_t last = rows * (part + 1) / parts;
    kernels.rows(w + first * blocks * kBlock, prepared, blocks, last - first,
                 y + 4 * first);
  };
  std::vector<std::thread> workers;
  std::uint64_t part = 0;
  try {
    workers.reserve(parts);
    for (; part + 1 < parts; ++part) workers.emplace_back(run, part);
  } catch (const std::system_error&) {
    // No more threads to be had: the rest runs here.
  }
  for (; part < parts; ++part) run(part);
  for (std::thread& worker : workers) worker.join();
}

void Matvec(const Q80Kernels& kernels, const char* variant,
            const std::uint8_t* w, const std::uint8_t* x_blocks,
            const float* x_f32, std::uint64_t n, std::uint64_t rows,
            std::uint64_t cols, std::uint32_t threads, float* y,
            wp_answer* answer) {
  if (!Ready(kernels, variant, n, answer)) return;
  const std::uint64_t blocks = n / 32;
  if (!Apart({y, 4 * rows * cols},
             {{w, blocks * rows * kBlock},
              {x_blocks, blocks * cols * kBlock},
              {x_f32, 4 * n * cols}},
             answer)) {
    return;
  }
  std::vector<std::uint8_t> column(x_f32 != nullptr ? blocks * kBlock : 0);
  std::vector<std::uint8_t> prepared(kernels.prepared_bytes(blocks));
  for (std::uint64_t c = 0; c < cols; ++c) {
    const std::uint8_t* x = column.data();
    if (x_f32 == nullptr) {
      x = blocks == 0 ? x_blocks : x_blocks + c * blocks * kBlock;
    } else if (!kernels.quantize(Image(x_f32) + 4 * n * c, blocks,
                                 column.data())) {
      return RejectNonFinite(Image(x_f32), n, cols,
                             q8_0::rules::kQuantizeNonfinite, answer);
    }
    kernels.prepare(x, blocks, prepared.data());
    Column(kernels, w, prepared.data(), blocks, rows, threads,
           reinterpret_cast<std::uint8_t*>(y) + 4 * rows * c);
  }
  Accept(answer);
}

// The functions of a table have no context: one instance for each kernel
// table.
template <const Q80Kernels& (*kKernels)()>
wp_implementation MakeTable() {
  static constexpr const char* kNone[] = {nullptr};
  static constexpr const char* kVerdicts[] = {"accept", "reject", nullptr};
  wp_implementation table{};
  table.abi_version = WP_ABI_VERSION;
  table.name = kKernels().name;
  table.version = "1";
  table.language = "C++";
  table.profile = "spec";
  table.verdicts = kVerdicts;
  table.dump_fields = kNone;
  table.variants = kNone;
  table.q8_0_quantize = [](const char* variant, const float* x, uint64_t n,
                           uint64_t rows, uint8_t* y, wp_answer* answer) {
    const FpScope scope;
    Quantize(kKernels(), variant, x, n, rows, y, answer);
    Report(scope, answer);
  };
  table.q8_1_quantize = [](const char* variant, const float* x, uint64_t n,
                           uint64_t rows, uint8_t* y, wp_answer* answer) {
    const FpScope scope;
    QuantizeQ81(kKernels(), variant, x, n, rows, y, answer);
    Report(scope, answer);
  };
  table.q8_0_dequantize = [](const char* variant, const uint8_t* x, uint64_t n,
                             uint64_t rows, float* y, wp_answer* answer) {
    if (!Ready(kKernels(), variant, n, answer)) return;
    const std::uint64_t blocks = n / 32 * rows;
    if (!Apart({y, 128 * blocks}, {{x, kBlock * blocks}}, answer)) return;
    const FpScope scope;
    kKernels().dequantize(x, blocks, reinterpret_cast<uint8_t*>(y));
    Accept(answer);
    Report(scope, answer);
  };
  table.q8_0_dot = [](const char* variant, const uint8_t* w, const uint8_t* x,
                      uint64_t n, float* y, int32_t* isum, wp_answer* answer) {
    if (!Ready(kKernels(), variant, n, answer)) return;
    const std::uint64_t bytes = n / 32 * kBlock;
    if (!Apart({y, 4}, {{w, bytes}, {x, bytes}}, answer)) return;
    if (isum != nullptr &&
        !Apart({isum, n / 8}, {{w, bytes}, {x, bytes}}, answer)) {
      return;
    }
    const FpScope scope;
    const float value =
        kKernels().dot(w, x, n / 32, reinterpret_cast<uint8_t*>(isum));
    std::memcpy(reinterpret_cast<std::uint8_t*>(y), &value, sizeof(value));
    Accept(answer);
    Report(scope, answer);
  };
  table.q8_0_matvec = [](const char* variant, const uint8_t* w,
                         const uint8_t* x_blocks, const float* x_f32,
                         uint64_t n, uint64_t rows, uint64_t cols,
                         uint32_t threads, float* y, wp_answer* answer) {
    const FpScope scope;
    Matvec(kKernels(), variant, w, x_blocks, x_f32, n, rows, cols, threads, y,
           answer);
    Report(scope, answer);
  };
  table.q8_0_validate = [](wp_slice x, uint64_t n, uint64_t rows,
                           wp_answer* answer) {
    ValidateQ80Data(x, n, rows, false, answer);
  };
  table.q8_1_validate = [](wp_slice x, uint64_t n, uint64_t rows,
                           wp_answer* answer) {
    ValidateQ80Data(x, n, rows, true, answer);
  };
  table.f16_from_f32 = [](const char* variant, const float* x, uint64_t count,
                          uint16_t* y, wp_answer* answer) {
    if (!Ready(kKernels(), variant, 0, answer)) return;
    if (!Apart({y, 2 * count}, {{x, 4 * count}}, answer)) return;
    const FpScope scope;
    kKernels().f16_from_f32(Image(x), count, reinterpret_cast<uint8_t*>(y));
    Accept(answer);
    Report(scope, answer);
  };
  table.f16_to_f32 = [](const char* variant, const uint16_t* x, uint64_t count,
                        float* y, wp_answer* answer) {
    if (!Ready(kKernels(), variant, 0, answer)) return;
    if (!Apart({y, 4 * count}, {{x, 2 * count}}, answer)) return;
    const FpScope scope;
    kKernels().f16_to_f32(Image(x), count, reinterpret_cast<uint8_t*>(y));
    Accept(answer);
    Report(scope, answer);
  };
  return table;
}

template <const Q80Kernels& (*kKernels)()>
const wp_implementation* Implementation() {
  static const wp_implementation table = MakeTable<kKernels>();
  return &table;
}

}  // namespace

const wp_implementation* Q80ScalarImplementation() {
  return Implementation<Q80ScalarKernels>();
}

const wp_implementation* Q80Avx2Implementation() {
  return Implementation<Q80Avx2Kernels>();
}

const wp_implementation* Q80Avx512Implementation() {
  return Implementation<Q80Avx512Kernels>();
}

const wp_implementation* Q80NeonImplementation() {
  return Implementation<Q80NeonKernels>();
}

}  // namespace weightproof::impls
