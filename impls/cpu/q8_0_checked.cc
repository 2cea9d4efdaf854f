#include "impls/cpu/q8_0_checked.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "impls/cpu/checked_call.h"
#include "impls/cpu/guarded_arena.h"
#include "impls/cpu/q8_0_testing.h"

namespace weightproof::impls {
namespace {

enum class Operation {
  kQuantize,
  kQuantizeQ81,
  kDequantize,
  kDot,
  kDotSums,
  kMatvecBlocks,
  kMatvecFloats,
  kFromF32,
  kToF32,
};
using enum Operation;
constexpr Operation kAll[] = {kQuantize,     kQuantizeQ81, kDequantize,
                              kDot,          kDotSums,     kMatvecBlocks,
                              kMatvecFloats, kFromF32,     kToF32};

const char* Name(Operation operation) {
  constexpr const char* kNames[] = {
      "q8_0.quantize",      "q8_1.quantize",      "q8_0.dequantize",
      "q8_0.dot",           "q8_0.dot with isum", "q8_0.matvec of blocks",
      "q8_0.matvec of f32", "f16.from_f32",       "f16.to_f32"};
  return kNames[static_cast<int>(operation)];
}

bool Offered(const wp_implementation& i, Operation operation) {
  switch (operation) {
    case kQuantize:
      return i.q8_0_quantize != nullptr;
    case kQuantizeQ81:
      return i.q8_1_quantize != nullptr;
    case kDequantize:
      return i.q8_0_dequantize != nullptr;
    case kDot:
    case kDotSums:
      return i.q8_0_dot != nullptr;
    case kMatvecBlocks:
    case kMatvecFloats:
      return i.q8_0_matvec != nullptr;
    case kFromF32:
      return i.f16_from_f32 != nullptr;
    case kToF32:
      return i.f16_to_f32 != nullptr;
  }
  return false;
}

struct Case {
  Operation operation = kQuantize;
  std::uint64_t blocks = 0, rows = 1;
  int pattern = 0;
  Image w, x;
  std::size_t y_size = 0, isum_size = 0;
};

constexpr std::uint64_t kRows = 3;

Case MakeCase(Operation operation, std::uint64_t blocks, int pattern,
              std::mt19937_64& random) {
  Case c;
  c.operation = operation;
  c.blocks = blocks;
  c.pattern = pattern;
  const auto floats = [&] {
    return FloatBlocks(pattern % kFloatKinds, blocks, random);
  };
  const auto codes = [&](std::uint64_t count, int shift) {
    return Q80Blocks((pattern + shift) % kBlockKinds, count, random);
  };
  switch (operation) {
    case kQuantize:
    case kQuantizeQ81:
      c.x = floats();
      c.y_size = blocks * (operation == kQuantize ? 34 : 36);
      break;
    case kDequantize:
      c.x = codes(blocks, 0);
      c.y_size = 128 * blocks;
      break;
    case kDotSums:
      c.isum_size = 4 * blocks;
      [[fallthrough]];
    case kDot:
      c.w = codes(blocks, 0);
      c.x = codes(blocks, pattern % 3);
      c.y_size = 4;
      break;
    case kMatvecBlocks:
    case kMatvecFloats:
      c.rows = kRows;
      c.w = codes(blocks * kRows, 0);
      c.x = operation == kMatvecFloats ? floats() : codes(blocks, 1);
      c.y_size = 4 * kRows;
      break;
    case kFromF32:
      c.x = floats();
      c.y_size = c.x.size() / 2;
      break;
    case kToF32:
      c.x = codes(blocks, 0);
      c.y_size = 2 * c.x.size();
      break;
  }
  return c;
}

struct Buffers {
  std::uint8_t *w, *x, *y, *isum;
  std::uint32_t threads = 1;
};

CallResult Call(const wp_implementation& i, const Case& c, const Buffers& b,
                wp_answer* answer) {
  const std::uint64_t n = 32 * c.blocks;
  const char* const variant = nullptr;
  const std::uint8_t* const none = nullptr;
  switch (c.operation) {
    case kQuantize:
      return CallChecked(i.q8_0_quantize, variant, b.x, n, 1, b.y, answer);
    case kQuantizeQ81:
      return CallChecked(i.q8_1_quantize, variant, b.x, n, 1, b.y, answer);
    case kDequantize:
      return CallChecked(i.q8_0_dequantize, variant, b.x, n, 1, b.y, answer);
    case kDot:
    case kDotSums:
      return CallChecked(i.q8_0_dot, variant, b.w, b.x, n, b.y, b.isum, answer);
    case kMatvecBlocks:
      return CallChecked(i.q8_0_matvec, variant, b.w, b.x, none, n, c.rows, 1,
                         b.threads, b.y, answer);
    case kMatvecFloats:
      return CallChecked(i.q8_0_matvec, variant, b.w, none, b.x, n, c.rows, 1,
                         b.threads, b.y, answer);
    case kFromF32:
      return CallChecked(i.f16_from_f32, variant, b.x, c.x.size() / 4, b.y,
                         answer);
    case kToF32:
      return CallChecked(i.f16_to_f32, variant, b.x, c.x.size() / 2, b.y,
                         answer);
  }
  return {};
}

bool IsNan(std::uint32_t pattern, std::size_t width) {
  return width == 4   ? (pattern & 0x7fffffff) > 0x7f800000
         : width == 2 ? (pattern & 0x7fff) > 0x7c00
                      : false;
}

// Byte of the first value that differs, NaN being equal to NaN; f32 or f16
// values, or bytes.
std::optional<std::size_t> FirstDifference(
    Operation operation, std::span<const std::uint8_t> expected,
    std::span<const std::uint8_t> got) {
  const bool bytes = operation == kQuantize || operation == kQuantizeQ81;
  const std::size_t width = bytes ? 1 : operation == kFromF32 ? 2 : 4;
  for (std::size_t at = 0; at + width <= got.size(); at += width) {
    std::uint32_t a = 0, b = 0;
    std::memcpy(&a, expected.data() + at, width);
    std::memcpy(&b, got.data() + at, width);
    if (a != b && !(IsNan(a, width) && IsNan(b, width))) return at;
  }
  return std::nullopt;
}

class Checker {
 public:
  Checker(const wp_implementation& implementation,
          const wp_implementation& reference, std::mt19937_64& random)
      : implementation_(implementation),
        reference_(reference),
        random_(random) {}

  CheckReport Run() {
    for (const Operation operation : kAll) {
      if (!Offered(implementation_, operation)) continue;
      const int patterns = std::max(kFloatKinds, kBlockKinds);
      for (int pattern = 0; pattern < patterns; ++pattern) {
        for (const std::uint64_t blocks : {0, 1, 2, 3, 7, 8, 9, 31, 33, 65}) {
          CheckCase(MakeCase(operation, blocks, pattern, random_));
        }
      }
    }
    return std::move(report_);
  }

 private:
  void Problem(const Case& c, Placement placement, const std::string& what) {
    if (!failed_.insert(c.operation).second) return;
    const std::string where =
        placement.offset == Placement::kUpper ? "below a guard page"
        : placement.offset == Placement::kLower
            ? "above a guard page"
            : "offset " + std::to_string(placement.offset);
    report_.problems.push_back(std::string(Name(c.operation)) + ", " +
                               std::to_string(c.blocks) + " blocks, pattern " +
                               std::to_string(c.pattern) + ", " + where + ": " +
                               what);
  }

  // One call at one place; gives what is wrong, or "".
  std::string CallOnce(const Case& c, Placement placement, std::uint8_t poison,
                       const Image& y, const Image& isum) {
    const Placement other = {placement.offset < 0
                                 ? placement.offset
                                 : (placement.offset * 7 + 3) % 64};
    const Buffers buffers = {
        w_.Place(c.w, placement, poison), x_.Place(c.x, other, poison),
        y_.Place(c.y_size, placement, poison),
        c.isum_size == 0 ? nullptr : isum_.Place(c.isum_size, other, poison),
        placement.offset < 0 ? 2u : 1u};
    wp_answer answer = Fresh();
    ++report_.calls;
    const CallResult result = Call(implementation_, c, buffers, &answer);
    if (!result.problem.empty()) return result.problem;
    if (answer.status != WP_STATUS_OK || answer.verdict != WP_ACCEPT) {
      return "not accepted";
    }
    if (!y_.PoisonIntact()) return "wrote outside y";
    if (c.isum_size > 0 && !isum_.PoisonIntact()) return "wrote outside isum";
    if (!std::ranges::equal(x_.Buffer(), c.x) || !x_.PoisonIntact() ||
        !std::ranges::equal(w_.Buffer(), c.w) || !w_.PoisonIntact()) {
      return "changed its input";
    }
    if (const auto at = FirstDifference(c.operation, y, y_.Buffer())) {
      return "y differs at byte " + std::to_string(*at);
    }
    if (c.isum_size > 0 && !std::ranges::equal(isum_.Buffer(), isum)) {
      return "isum differs";
    }
    return "";
  }

  void CheckCase(const Case& c) {
    if (failed_.contains(c.operation)) return;
    // What is right, computed at aligned places.
    Image w = c.w, x = c.x, y(c.y_size + 64), isum(c.isum_size + 64);
    wp_answer answer = Fresh();
    Call(reference_, c,
         {w.data(), x.data(), y.data(),
          c.isum_size == 0 ? nullptr : isum.data()},
         &answer);
    if (answer.verdict != WP_ACCEPT) {
      return Problem(c, {}, "the reference does not accept");
    }
    y.resize(c.y_size);
    isum.resize(c.isum_size);
    const int last = c.blocks == 9 ? 64 : 0;
    for (int offset = Placement::kLower; offset < last; ++offset) {
      // Two values of poison: a byte that was not written cannot be right in
      // both.
      for (const std::uint8_t poison : {0xa5, 0x5a}) {
        const std::string problem = CallOnce(c, {offset}, poison, y, isum);
        if (!problem.empty()) return Problem(c, {offset}, problem);
      }
    }
  }

  const FaultScope faults_;
  const wp_implementation& implementation_;
  const wp_implementation& reference_;
  std::mt19937_64& random_;
  GuardedArena w_{kRows * 34 * 65}, x_{128 * 65}, y_{128 * 65}, isum_{4 * 65};
  std::set<Operation> failed_;
  CheckReport report_;
};

}  // namespace

CheckReport CheckUnderGuard(const wp_implementation& implementation,
                            const wp_implementation& reference,
                            std::mt19937_64& random) {
  return Checker(implementation, reference, random).Run();
}

}  // namespace weightproof::impls
