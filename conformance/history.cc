#include "conformance/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "conformance/protocol.h"

namespace weightproof::conformance {
namespace {

// What one release did with one vector.
struct Did {
  std::string words = "not run";
  bool ran = false;
  bool failed = false;
};

Did DidIn(const RunResult& result, const std::string& name,
          const std::string& vector) {
  Did did;
  for (const Implementation& implementation : result.implementations) {
    if (implementation.name == name && !implementation.why.empty()) {
      did.words = "not run: " + implementation.why;
    }
  }
  for (const Row& row : result.rows) {
    if (row.implementation != name || row.vector != vector) continue;
    if (row.outcome == Outcome::kNotRun) {
      did.words = "not run: " + row.reason;
      return did;
    }
    did.ran = true;
    did.failed = row.outcome == Outcome::kFail ||
                 row.outcome == Outcome::kExpectedDeviation;
    did.words = row.verdict;
    if (!row.signal.empty()) did.words += " " + row.signal;
    if (row.late) did.words += " (late)";
    if (!row.difference.empty()) did.words = "read differently";
  }
  return did;
}

std::string Member(const Json& bug, const char* name) {
  const Json value = bug.is_object() ? bug.value(name, Json("")) : Json();
  return value.is_string() ? value.get<std::string>() : "";
}

}  // namespace

std::expected<std::vector<HistoryBug>, std::string> LoadHistory(
    const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return std::unexpected(file.string() + ": cannot be read");
  const auto json = ParseUntrusted(text.str());
  if (!json) return std::unexpected(file.string() + ": " + json.error());
  if (!json->is_object() ||
      json->value("format", Json()) != Json("weightproof.history.v1")) {
    return std::unexpected(file.string() + ": not weightproof.history.v1");
  }
  std::vector<HistoryBug> bugs;
  for (const Json& bug : json->value("bugs", Json::array())) {
    HistoryBug out{Member(bug, "report"),         Member(bug, "what"),
                   Member(bug, "implementation"), Member(bug, "vector"),
                   Member(bug, "before"),         Member(bug, "after"),
                   Member(bug, "why_not")};
    if (out.report.empty() || out.implementation.empty() ||
        out.vector.empty() || out.before.empty() ||
        out.after.empty() == out.why_not.empty()) {
      return std::unexpected(fmt::format(
          "{}: /bugs/{}: needs report, implementation, vector, before, and "
          "one of after and why_not",
          file.string(), bugs.size()));
    }
    bugs.push_back(std::move(out));
  }
  return bugs;
}

std::expected<std::vector<HistoryRow>, RunError> RunHistory(
    const std::vector<HistoryBug>& bugs, RunOptions options,
    RunObserver& observer) {
  std::set<std::string> names, vectors;
  const auto past = [](const HistoryBug& bug, const std::string& version) {
    return bug.implementation + "@" + version;
  };
  for (const HistoryBug& bug : bugs) {
    if (!bug.why_not.empty()) continue;
    names.insert(past(bug, bug.before));
    names.insert(past(bug, bug.after));
    vectors.insert(bug.vector);
  }
  options.names.assign(names.begin(), names.end());
  options.filter.assign(vectors.begin(), vectors.end());
  RunResult result;
  if (!names.empty()) {
    auto ran = Run(options, observer);
    if (!ran) return std::unexpected(ran.error());
    result = std::move(*ran);
  }
  std::vector<HistoryRow> rows;
  for (const HistoryBug& bug : bugs) {
    HistoryRow row{.bug = bug, .before = "", .after = ""};
    if (bug.why_not.empty()) {
      const Did before = DidIn(result, past(bug, bug.before), bug.vector);
      const Did after = DidIn(result, past(bug, bug.after), bug.vector);
      row.before = before.words;
      row.after = after.words;
      row.ran = before.ran && after.ran;
      row.shown = row.ran && before.failed && !after.failed;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace weightproof::conformance
