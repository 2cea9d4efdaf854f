// Values of an accepted file, element by element.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_VALUE_H_
#define WEIGHTPROOF_REFERENCE_GGUF_VALUE_H_

#include <cstdint>
#include <span>

#include "reference/gguf/reader.h"

namespace weightproof::gguf {

// Receives one value: one scalar, one string, or ArrayBegin .. ArrayEnd around
// its elements.
class ValueVisitor {
 public:
  virtual ~ValueVisitor() = default;
  // count values of a fixed-size type, packed and little-endian whatever the
  // file's byte order. A long run comes in several calls.
  virtual void Scalars(std::uint32_t type,
                       std::span<const std::uint8_t> little_endian,
                       std::uint64_t count) = 0;
  virtual void String(std::span<const std::uint8_t> bytes) = 0;
  virtual void ArrayBegin(std::uint32_t element_type, std::uint64_t count) = 0;
  virtual void ArrayEnd() = 0;
};

// Walks the value of kv, which must be an entry of file.
void VisitValue(const File& file, const KeyValue& kv, ValueVisitor& visitor);

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_VALUE_H_
