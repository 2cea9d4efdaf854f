// ZIP archives, stored: the same bytes for the same contents.
#ifndef WEIGHTPROOF_FUZZERS_GIFT_ZIP_H_
#define WEIGHTPROOF_FUZZERS_GIFT_ZIP_H_

#include <expected>
#include <string>
#include <vector>

#include "fuzzers/corpus_folder.h"

namespace weightproof::fuzzers {

// An archive of these files, in this order, not compressed, all dated
// 1980-01-01. The error: more than 65535 files, or more than 2 GiB.
std::expected<Bytes, std::string> ZipStored(
    const std::vector<CorpusInput>& files);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GIFT_ZIP_H_
