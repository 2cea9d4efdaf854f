// A case as a test in the framework of somebody else's project.
#ifndef WEIGHTPROOF_FUZZERS_LIFE_EMIT_H_
#define WEIGHTPROOF_FUZZERS_LIFE_EMIT_H_

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzers/entropy.h"

namespace weightproof::fuzzers {

struct EmitCase {
  std::string name;       // "gguf.align.value.zero-tensor"
  std::string rule;       // its id
  std::string statement;  // the rule in words
  std::string notes;
  bool accept = false;  // the file must be read; else it must be refused
  Bytes file;
};

// "cpp" (a program against gguf.h, as llama.cpp's tests are), "rust" (a #[test]
// for candle), "go" (go test for gguf-parser-go), "py" (pytest for gguf-py),
// "ts" (vitest for @huggingface/gguf).
const std::vector<std::string>& EmitLanguages();

// A whole source file. The error: no such language, or a file of more than
// 64 KiB, which nobody wants in a source.
std::expected<std::string, std::string> EmitTest(const EmitCase& about,
                                                 std::string_view language);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_LIFE_EMIT_H_
