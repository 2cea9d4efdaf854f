// The stages of a parse, in order. Each returns false when the parse has
// stopped; Context::stop then says why. Internal to the reader.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_STAGES_H_
#define WEIGHTPROOF_REFERENCE_GGUF_STAGES_H_

#include "reference/gguf/context.h"

namespace weightproof::gguf {

bool ReadMagic(Context& c);
bool ReadVersion(Context& c);
bool ReadCounts(Context& c);
bool ReadKeyValues(Context& c);
bool SettleAlignment(Context& c);
bool ReadTensors(Context& c);
bool CheckRequiredKeys(Context& c);
bool CheckGeometry(Context& c);
bool CheckData(Context& c);

// One metadata value of the given known type, at the position.
bool ReadValue(Context& c, std::uint32_t type);
// A string value's length, bounds and bytes, also inside arrays.
bool ReadString(Context& c);
// An array value with everything in it.
bool ReadArray(Context& c);

}  // namespace weightproof::gguf

#endif  // WEIGHTPROOF_REFERENCE_GGUF_STAGES_H_
