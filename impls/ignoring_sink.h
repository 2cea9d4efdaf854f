#ifndef WEIGHTPROOF_IMPLS_IGNORING_SINK_H_
#define WEIGHTPROOF_IMPLS_IGNORING_SINK_H_

#include <cstdint>

#include "impls/abi.h"

namespace weightproof::impls {

// A sink that takes everything and keeps nothing, for callers that want the
// verdict alone.
inline wp_gguf_sink IgnoringSink() {
  wp_gguf_sink sink{};
  sink.header = [](void*, const wp_gguf_header*) {};
  sink.key = [](void*, wp_slice, std::uint32_t) {};
  sink.scalars = [](void*, std::uint32_t, const void*, std::uint64_t) {};
  sink.string = [](void*, wp_slice) {};
  sink.array_begin = [](void*, std::uint32_t, std::uint64_t) {};
  sink.array_end = [](void*) {};
  sink.tensor = [](void*, const wp_gguf_tensor*) {};
  sink.policy = [](void*, const char*) {};
  return sink;
}

}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_IGNORING_SINK_H_
