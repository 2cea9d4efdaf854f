// Corpora on disk: a folder of files, each one input.
#ifndef WEIGHTPROOF_FUZZERS_CORPUS_FOLDER_H_
#define WEIGHTPROOF_FUZZERS_CORPUS_FOLDER_H_

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzzers/entropy.h"

namespace weightproof::fuzzers {

struct CorpusInput {
  std::string name;  // of the file, without folders
  Bytes bytes;
};

inline constexpr std::uint64_t kLargestCorpusInput = 1 << 20;

// Every file of the folder, in name order. The error names the folder or the
// entry: it is missing, holds nothing, or an entry is no regular file, cannot
// be read, or is larger than max bytes.
std::expected<std::vector<CorpusInput>, std::string> LoadCorpus(
    const std::filesystem::path& folder,
    std::uint64_t max = kLargestCorpusInput);
// One file; the same errors.
std::expected<Bytes, std::string> LoadInput(
    const std::filesystem::path& file, std::uint64_t max = kLargestCorpusInput);

// Writes by way of a temporary file beside it: whoever looks sees all of the
// file or nothing. synced: that holds for a crash of the machine too. The error
// names the path and the cause (a full disk, for one).
std::expected<void, std::string> StoreFile(const std::filesystem::path& path,
                                           ByteSpan bytes, bool synced = true);

// "5f2c0a91d3b47e68": the name of an input in a corpus.
std::string CorpusName(ByteSpan bytes);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_CORPUS_FOLDER_H_
