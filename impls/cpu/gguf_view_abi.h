// What the operations of the optimized GGUF reader share behind the C ABI. Not
// for users.
#ifndef WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_ABI_H_
#define WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_ABI_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "impls/cpu/gguf_view.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {
namespace gguf_internal {

// Null means spec; nothing if there is no such profile.
std::optional<GgufProfile> FindProfile(const char* name);

// For people; cut to what an answer holds.
void Say(wp_answer* answer, std::string_view text);

// The answer that a finding makes.
void Refuse(const GgufFinding& finding, wp_answer* answer);

// The file, if it is accepted; else the answer says why not.
std::optional<GgufView> Open(const wp_gguf_input& in, wp_answer* answer);

// Hands an accepted file to a sink.
void Emit(const GgufView& view, const wp_gguf_sink& sink);

// Operations of the table.
void OpenSet(const wp_gguf_input* files, const char* const* names,
             std::uint64_t count, const wp_gguf_sink* sinks, wp_answer* answer);
void CheckData(const wp_gguf_input* input, const wp_gguf_data_sink* sink,
               wp_answer* answer);

}  // namespace gguf_internal
}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls

#endif  // WEIGHTPROOF_IMPLS_CPU_GGUF_VIEW_ABI_H_
