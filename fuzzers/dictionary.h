// Dictionaries as libFuzzer and AFL++ read them.
#ifndef WEIGHTPROOF_FUZZERS_DICTIONARY_H_
#define WEIGHTPROOF_FUZZERS_DICTIONARY_H_

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzers/entropy.h"

namespace weightproof::fuzzers {

struct DictionaryEntry {
  int line = 0;
  std::string name;  // may be empty
  Bytes token;
};

// Lines are empty, a comment (#), or NAME="TOKEN"; in a token a backslash
// stands before \, " or xNN. The error names the line.
std::expected<std::vector<DictionaryEntry>, std::string> ParseDictionary(
    std::string_view text);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_DICTIONARY_H_
