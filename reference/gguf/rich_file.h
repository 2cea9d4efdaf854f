// One file with a field of every kind, for tests that cut, flip or prefix it.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_RICH_FILE_H_
#define WEIGHTPROOF_REFERENCE_GGUF_RICH_FILE_H_

#include "reference/gguf/test_file.h"

namespace weightproof::gguf::test {

// version 1, 2 or 3. Accepted under spec with no policy (version 1: one).
TestFile RichFile(std::uint32_t version = 3, bool big_endian = false);

// Everything a reader can tell about an accepted file, as text. The byte
// order is left out.
std::string Describe(const File& file);

}  // namespace weightproof::gguf::test

#endif  // WEIGHTPROOF_REFERENCE_GGUF_RICH_FILE_H_
