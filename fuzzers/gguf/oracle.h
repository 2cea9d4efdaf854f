// What must hold for every file and every GGUF reader.
#ifndef WEIGHTPROOF_FUZZERS_GGUF_ORACLE_H_
#define WEIGHTPROOF_FUZZERS_GGUF_ORACLE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "fuzzers/target.h"

namespace weightproof::fuzzers {

// How a file is handed over.
struct GgufQuestion {
  const char* profile = "spec";
  std::uint64_t base = 0;
  bool require_keys = false;
  // Of the whole file, where the bytes given are only the first ones of it.
  std::uint64_t file_size = 0;
};

// One reader's answer: everything that it said, in a form that is compared
// byte by byte. Reused between executions.
struct GgufAnswer {
  std::int32_t status = 0;
  std::int32_t verdict = 0;
  const char* rule = nullptr;
  std::uint64_t offset = UINT64_MAX;
  Bytes log;                // the sink's calls, pieces of scalars joined
  std::uint64_t kinds = 0;  // bit set of what was in the file
  std::string violation;    // how the calls broke the contract; mostly empty
  std::uint64_t peak_bytes = 0;  // allocated at most; 0 if not measured

  // "reject gguf.kv.key.empty at 24", "accept".
  std::string Describe() const;
};

// Asks gguf_parse; answer is overwritten. Callers who want a sanitizer to see
// a read past the bytes pass a buffer of exactly their size.
void AskGguf(const wp_implementation& reader, ByteSpan bytes,
             const GgufQuestion& question, GgufAnswer& answer);

// The first difference that counts, in the order of FindingKind, or nothing.
// rule_matters: rule, offset and policies must agree too (readers of this
// project), else verdict and dump (foreign ones).
std::optional<Finding> CompareGguf(const wp_implementation& tested,
                                   const GgufAnswer& expected,
                                   const GgufAnswer& got, bool rule_matters);

// Everything that must hold for a file: the readers agree in verdict, rule,
// offset and dump, asked twice, by every profile, for prefixes of the file;
// tensors and single values too; memory is bounded; the disassembly assembles
// to the same bytes.
Execution CheckGguf(const Subjects& subjects, ByteSpan file, Depth depth);

// The same for the file that GenerateGguf makes of the bytes, which must be
// accepted.
Execution CheckGeneratedGguf(const Subjects& subjects, ByteSpan entropy,
                             Depth depth);

// A sequence of API calls read from the front of the input (script.cc): parse,
// tensor, get, with prefixes of every length, profiles and bases, on the file
// that is the rest.
Execution CheckGgufScript(const Subjects& subjects, ByteSpan input,
                          Depth depth);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GGUF_ORACLE_H_
