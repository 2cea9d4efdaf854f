// A seed corpus and a dictionary in the layouts that other projects' fuzzers
// expect.
#ifndef WEIGHTPROOF_FUZZERS_GIFT_GIFT_H_
#define WEIGHTPROOF_FUZZERS_GIFT_GIFT_H_

#include <cstddef>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "conformance/vector.h"
#include "fuzzers/corpus_folder.h"

namespace weightproof::fuzzers {

// Seeds of a GGUF reader: the files of a corpus and those of all vectors of at
// most 16 KiB, each once, named by their contents, in name order.
std::vector<CorpusInput> GiftSeeds(const std::vector<CorpusInput>& corpus,
                                   const conformance::VectorSet& set);

// Writes
//   DIR/oss-fuzz/TARGET_seed_corpus.zip, DIR/oss-fuzz/TARGET.dict
//   DIR/cargo-fuzz/fuzz/corpus/TARGET/*, DIR/cargo-fuzz/fuzz/TARGET.dict
//   DIR/README.md
// The dictionary must be one (its line is named if not). The error names what
// is wrong.
std::expected<void, std::string> WriteGift(
    const std::filesystem::path& dir, const std::string& target,
    const std::vector<CorpusInput>& seeds, const std::string& dictionary);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GIFT_GIFT_H_
