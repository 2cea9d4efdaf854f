// Three-way comparison: the two built-in readers, and ggml in this process.
#ifndef WEIGHTPROOF_FUZZERS_GGUF_GGML_H_
#define WEIGHTPROOF_FUZZERS_GGUF_GGML_H_

#include "fuzzers/target.h"

namespace weightproof::fuzzers {

// The built-in readers and, last, ggml's parser (the plug-in of
// impls/drivers/ggml with the libraries that it names). Nothing is tested if
// ggml is not installed in this build.
Subjects WithGgml();

// As CheckGguf for the built-in readers; then ggml is judged as a driver would
// be. What its list of known deviations foresees is counted under its rule and
// is no finding; a file for which a crash is foreseen is not shown to it.
Execution CheckWithGgml(const Subjects& subjects, ByteSpan file, Depth depth);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GGUF_GGML_H_
