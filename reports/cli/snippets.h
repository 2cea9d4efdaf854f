// The shortest tests that read an export, one for each language: what
// `weightproof export` puts into DIR/snippets. Each needs nothing of ours, and
// calls a real reader in the one line that a user replaces.
#ifndef WEIGHTPROOF_REPORTS_CLI_SNIPPETS_H_
#define WEIGHTPROOF_REPORTS_CLI_SNIPPETS_H_

#include <span>
#include <string_view>

namespace weightproof::cli {

struct Snippet {
  std::string_view name;  // path below snippets/
  std::string_view text;  // at most 20 lines
};

std::span<const Snippet> Snippets();

}  // namespace weightproof::cli

#endif  // WEIGHTPROOF_REPORTS_CLI_SNIPPETS_H_
