// Views of a report that several renderers share: lookups, groups and words.
// Pointers lead into the report, which must outlive them.
#ifndef WEIGHTPROOF_REPORTS_VIEW_H_
#define WEIGHTPROOF_REPORTS_VIEW_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace weightproof::reports {

using Json = nlohmann::json;

// A string member, or "" if it is missing or null.
std::string Text(const Json& object, const char* key);

class ReportView {
 public:
  explicit ReportView(const Json& report);

  const Json& report() const { return *report_; }
  // Rule or vector by id; an empty object if the report has none.
  const Json& rule(const std::string& id) const;
  const Json& vector(const std::string& id) const;
  // Standard error and free text of a row's answer; "" if none.
  std::string StderrOf(const Json& row) const;
  std::string DetailOf(const Json& row) const;
  // Rows of an implementation with an outcome, in order.
  std::vector<const Json*> Rows(const std::string& implementation,
                                std::string_view outcome) const;

 private:
  std::string RunText(const Json& row, const char* key) const;

  const Json* report_;
  std::map<std::string, const Json*> rules_;
  std::map<std::string, const Json*> vectors_;
  std::map<std::string, const Json*> texts_;
};

// Rows with the same value of a key, in order of first appearance.
struct Group {
  std::string key;
  std::vector<const Json*> rows;
};
template <typename KeyOf>
std::vector<Group> GroupBy(const std::vector<const Json*>& rows, KeyOf key_of) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> index;
  for (const Json* row : rows) {
    const std::string key = key_of(*row);
    const auto [at, is_new] = index.try_emplace(key, groups.size());
    if (is_new) groups.push_back({key, {}});
    groups[at->second].rows.push_back(row);
  }
  return groups;
}

// By rule, hazards first, then by severity and id.
std::vector<Group> GroupByRule(const ReportView& view,
                               const std::vector<const Json*>& rows);

// What came back, in words: "crash (SIGFPE)", "accepted, read differently",
// "rejected", "rejected when a tensor was read".
std::string GotWords(const Json& row);

// The difference of a row, unless its reason already says it.
std::string DifferenceOf(const Json& row);

// "not conforming", "conforming", "void", ...
std::string ConclusionWords(const Json& report);
// One sentence on why.
std::string ConclusionSentence(const Json& report);

// "declares ggml", "follows ggml on 8 of 8", or "".
std::string ProfileWords(const Json& implementation);

// "name 1.2.3".
std::string NameAndVersion(const Json& implementation);

}  // namespace weightproof::reports

#endif  // WEIGHTPROOF_REPORTS_VIEW_H_
