// Past releases of ggml: the three functions that all of them have. Whether a
// file is accepted, and nothing of what was read, since the types of the
// others have changed over the years.
#ifndef WEIGHTPROOF_IMPLS_DRIVERS_GGML_PAST_H_
#define WEIGHTPROOF_IMPLS_DRIVERS_GGML_PAST_H_

#include <expected>
#include <string>

#include "impls/abi.h"

namespace weightproof::drivers::ggml {

// dir holds libggml-base.so, or libggml.so as until late 2024. full: the
// tensor data is loaded too. Files over 1 GiB are not run then.
std::expected<const wp_implementation*, std::string> PastImplementation(
    const std::string& dir, bool full);

}  // namespace weightproof::drivers::ggml

#endif  // WEIGHTPROOF_IMPLS_DRIVERS_GGML_PAST_H_
