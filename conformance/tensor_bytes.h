// Checksums of parts of a file that exists only as chunks.
#ifndef WEIGHTPROOF_CONFORMANCE_TENSOR_BYTES_H_
#define WEIGHTPROOF_CONFORMANCE_TENSOR_BYTES_H_

#include <cstdint>
#include <optional>

#include "corpus/bytes.h"

namespace weightproof::conformance {

// CRC-32 of bytes [offset, offset + size); nothing if they are not all there.
// Holes cost no time.
std::optional<std::uint32_t> CrcOfRange(const corpus::Bytes& bytes,
                                        std::uint64_t offset,
                                        std::uint64_t size);

// The 8 or fewer bytes at offset as a little-endian number; nothing at the
// end of the file.
std::optional<std::uint64_t> NumberAt(const corpus::Bytes& bytes,
                                      std::uint64_t offset, int width);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_TENSOR_BYTES_H_
