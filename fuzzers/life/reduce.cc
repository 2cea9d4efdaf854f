#include "fuzzers/life/reduce.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fuzzers/engine.h"
#include "fuzzers/gguf/token_tree.h"

namespace weightproof::fuzzers {
namespace {

using gguf::FieldKind;

// Takes n from the count number `which` of the header (0: tensors, 1: kvs).
void LowerCount(TokenTree& tree, int which, std::uint64_t n) {
  for (Token& token : tree.front) {
    if (token.kind != FieldKind::kCount) continue;
    if (which-- == 0) {
      token.number -= std::min(token.number, n);
      return;
    }
  }
}

class Reducer {
 public:
  Reducer(ByteSpan file, const std::function<bool(ByteSpan)>& still,
          std::uint64_t tries)
      : best_(file.begin(), file.end()), still_(still), left_(tries) {}

  Bytes Run() {
    for (bool smaller = true; smaller && left_ > 0;) {
      const std::size_t before = best_.size();
      DropEntries(1, &TokenTree::kvs);
      DropEntries(0, &TokenTree::tensors);
      DropTokens();
      smaller = best_.size() < before;
    }
    return Minimise(best_, still_, std::min<std::uint64_t>(left_, 2000));
  }

 private:
  bool Try(const TokenTree& tree) {
    if (left_ == 0) return false;
    Bytes candidate = Serialize(tree);
    if (candidate.size() >= best_.size()) return false;
    --left_;
    if (!still_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  // As it is, then with more and more put right.
  bool TryRepaired(const TokenTree& tree) {
    if (Try(tree)) return true;
    for (const Placement placement : {Placement::kKept, Placement::kPacked}) {
      TokenTree laid_out = tree;
      RefixLayout(laid_out, placement);
      if (Try(laid_out)) return true;
    }
    TokenTree all = tree;
    RefixLengths(all);
    RefixLayout(all, Placement::kPacked);
    return Try(all);
  }

  // Delta debugging over a list of entries: halves, quarters, ... single ones.
  void DropEntries(int count, std::vector<Tokens> TokenTree::* list) {
    TokenTree tree = ParseTokens(best_);
    std::size_t step = std::max<std::size_t>((tree.*list).size() / 2, 1);
    for (; step > 0; step /= 2) {
      for (std::size_t at = 0; at < (tree.*list).size() && left_ > 0;) {
        TokenTree candidate = tree;
        auto& entries = candidate.*list;
        const std::size_t n = std::min(step, entries.size() - at);
        const auto first = entries.begin() + static_cast<std::ptrdiff_t>(at);
        entries.erase(first, first + static_cast<std::ptrdiff_t>(n));
        LowerCount(candidate, count, n);
        if (TryRepaired(candidate)) {
          tree = ParseTokens(best_);
        } else {
          at += step;
        }
      }
    }
  }

  // Elements of arrays, texts, and what lies behind the table.
  void DropTokens() {
    TokenTree tree = ParseTokens(best_);
    for (auto list : {&TokenTree::kvs, &TokenTree::tensors}) {
      for (std::size_t i = 0; i < (tree.*list).size(); ++i) {
        for (std::size_t k = 0; k < (tree.*list)[i].size() && left_ > 0; ++k) {
          TokenTree candidate = tree;
          Tokens& entry = (candidate.*list)[i];
          Token& token = entry[k];
          if (token.bytes.empty()) continue;
          token.bytes.resize(token.bytes.size() / 2);
          RefixLengths(candidate);
          if (TryRepaired(candidate)) tree = ParseTokens(best_);
        }
      }
    }
    for (std::size_t k = 0; k < tree.rest.size() && left_ > 0; ++k) {
      TokenTree candidate = tree;
      candidate.rest.erase(candidate.rest.begin() +
                           static_cast<std::ptrdiff_t>(k));
      if (Try(candidate)) tree = ParseTokens(best_);
    }
  }

  Bytes best_;
  const std::function<bool(ByteSpan)>& still_;
  std::uint64_t left_;
};

}  // namespace

Bytes ReduceGguf(ByteSpan file, const std::function<bool(ByteSpan)>& still,
                 std::uint64_t max_tries) {
  return Reducer(file, still, max_tries).Run();
}

}  // namespace weightproof::fuzzers
