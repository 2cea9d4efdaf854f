// Disagreement clusters: which readers read the same file in which way.
#ifndef WEIGHTPROOF_REPORTS_CLUSTERS_H_
#define WEIGHTPROOF_REPORTS_CLUSTERS_H_

#include <nlohmann/json.hpp>
#include <string>

namespace weightproof::reports {

using Json = nlohmann::json;

// From the rows of a report (RowJson form), those of file formats without a
// forced code path:
//
//   {"vectors":N,      asked of two or more implementations that ran
//    "divided":N,      of those, read in more than one way
//    "files":[{"vector","rule","ways":[{"how","implementations":[..]}]}],
//    "pairs":[{"a","b","same","of"}]}
//
// files: the divided ones, most ways first, then by id; a way is the verdict,
// the signal of a crash, and what was read differently; ways by size, then by
// name. pairs: how many vectors two implementations read alike, of those both
// ran; most alike first.
Json Clusters(const Json& rows);

// One sentence, or "" if fewer than two implementations ran.
std::string ClusterSentence(const Json& clusters);

// For a page: [{"rule","n","vector","ways":[{"got","who"}]}], files of a rule
// whose ways are the same taken together (n of them, the first named); and for
// each implementation the one it reads most alike with,
// [{"who","like","percent","of"}]. Text is printable.
Json ClusterTable(const Json& clusters);
Json NearestReaders(const Json& clusters);

}  // namespace weightproof::reports

#endif  // WEIGHTPROOF_REPORTS_CLUSTERS_H_
