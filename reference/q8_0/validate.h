// Is a run of bytes sound Q8_0 or Q8_1 data? Integer tests only, so that no
// compiler flag can remove them.
#ifndef WEIGHTPROOF_REFERENCE_Q8_0_VALIDATE_H_
#define WEIGHTPROOF_REFERENCE_Q8_0_VALIDATE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "reference/rule.h"

namespace weightproof::q8_0 {

enum class BlockFormat : std::uint8_t {
  kQ80,
  kQ81,
  kQ81Pt,  // Q8_1 whose s field is an integer
};

// Who asks. kContainer: a GGUF reader that hands out bytes and looks at their
// number only. The others: the data check of a profile.
enum class Reader : std::uint8_t { kContainer, kSpec, kGgml, kCandle };

struct Finding {
  RuleIndex rule = kNoRule;
  std::uint64_t block = 0;
  std::uint64_t offset = 0;  // first byte of the field, from the start of bytes
  std::uint16_t value = 0;   // the half, or the code as a byte
  bool has_place = false;    // false: the finding is about the size
  std::string detail;        // for people
};

struct Validation {
  Cell verdict = Cell::kAccept;  // kAccept, kReject, kNotApplicable
  // The most important finding: rejecting ones first, then by block, within a
  // block in the order of the registry. Nothing if the data are canonical. A
  // finding beside kAccept is reported ("not canonical"), no more.
  std::optional<Finding> finding;
};

// bytes: rows x n values. A wrong number of bytes is a finding of rule
// q8_0.validate.size or q8_1.validate.size, n not a multiple of 32 one of
// q8_0.shape.not_multiple.
Validation Validate(BlockFormat format, Reader reader,
                    std::span<const std::uint8_t> bytes, std::uint64_t n,
                    std::uint64_t rows = 1);

}  // namespace weightproof::q8_0

#endif  // WEIGHTPROOF_REFERENCE_Q8_0_VALIDATE_H_
