#include "conformance/numeric_testing.h"

#include <cstdio>
#include <cstdlib>

#include "build_paths.h"

namespace weightproof::conformance {

const VectorSet& CommittedVectors() {
  static const VectorSet set = [] {
    auto loaded = LoadVectors(WEIGHTPROOF_SOURCE_DIR "/conformance/vectors");
    if (loaded) return *loaded;
    std::fprintf(stderr, "%s%s: %s\n", loaded.error().file.c_str(),
                 loaded.error().pointer.c_str(),
                 loaded.error().message.c_str());
    std::exit(1);
  }();
  return set;
}

}  // namespace weightproof::conformance
