#include "reports/clusters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "reports/text.h"
#include "reports/view.h"

namespace weightproof::reports {
namespace {

std::string HowOf(const Json& row) {
  std::string how = Text(row, "verdict");
  const std::string signal = Text(row, "signal");
  const std::string difference = Text(row, "difference");
  if (!signal.empty()) how += " " + signal;
  if (row.value("late", false)) how += " (late)";
  if (!difference.empty()) how += ", reading " + Shorten(difference, 160);
  return how;
}

bool IsComparable(const Json& row) {
  return Text(row, "operation").starts_with("gguf.") &&
         Text(row, "variant").empty() && Text(row, "outcome") != "not-run" &&
         !Text(row, "verdict").empty();
}

struct File {
  std::string rule;
  std::map<std::string, std::string> how;  // by implementation
};

Json Ways(const File& file) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const auto& [name, how] : file.how) groups[how].push_back(name);
  std::vector<std::pair<std::string, std::vector<std::string>>> sorted(
      groups.begin(), groups.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return std::tuple(b.second.size(), a.second) <
           std::tuple(a.second.size(), b.second);
  });
  Json ways = Json::array();
  for (const auto& [how, names] : sorted) {
    ways.push_back({{"how", how}, {"implementations", names}});
  }
  return ways;
}

Json Pairs(const std::map<std::string, File>& files) {
  struct Pair {
    int same = 0, of = 0;
  };
  std::map<std::pair<std::string, std::string>, Pair> pairs;
  for (const auto& [id, file] : files) {
    for (auto a = file.how.begin(); a != file.how.end(); ++a) {
      for (auto b = std::next(a); b != file.how.end(); ++b) {
        Pair& pair = pairs[{a->first, b->first}];
        ++pair.of;
        pair.same += a->second == b->second;
      }
    }
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Pair>> sorted(
      pairs.begin(), pairs.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    const auto left = static_cast<std::int64_t>(a.second.same) * b.second.of;
    const auto right = static_cast<std::int64_t>(b.second.same) * a.second.of;
    return left != right ? left > right : a.first < b.first;
  });
  Json list = Json::array();
  for (const auto& [names, pair] : sorted) {
    list.push_back({{"a", names.first},
                    {"b", names.second},
                    {"same", pair.same},
                    {"of", pair.of}});
  }
  return list;
}

}  // namespace

Json Clusters(const Json& rows) {
  std::map<std::string, File> files;
  for (const Json& row : rows) {
    if (!IsComparable(row)) continue;
    File& file = files[Text(row, "vector")];
    file.rule = Text(row, "rule");
    file.how[Text(row, "implementation")] = HowOf(row);
  }
  std::erase_if(files,
                [](const auto& file) { return file.second.how.size() < 2; });
  std::vector<Json> divided;
  for (const auto& [id, file] : files) {
    Json ways = Ways(file);
    if (ways.size() < 2) continue;
    divided.push_back({{"vector", id}, {"rule", file.rule}, {"ways", ways}});
  }
  std::ranges::sort(divided, [](const Json& a, const Json& b) {
    const auto left = a["ways"].size(), right = b["ways"].size();
    return left != right ? left > right : a["vector"] < b["vector"];
  });
  return {{"vectors", files.size()},
          {"divided", divided.size()},
          {"files", divided},
          {"pairs", Pairs(files)}};
}

Json ClusterTable(const Json& clusters) {
  std::map<std::string, std::size_t> places;  // rule and ways -> in the list
  Json list = Json::array();
  for (const Json& file : clusters.at("files")) {
    const std::string key = file.at("rule").dump() + file.at("ways").dump();
    const auto [at, fresh] = places.try_emplace(key, list.size());
    if (!fresh) {
      list[at->second]["n"] = list[at->second]["n"].get<int>() + 1;
      continue;
    }
    Json ways = Json::array();
    for (const Json& way : file.at("ways")) {
      std::string who;
      for (const Json& name : way.at("implementations")) {
        who += (who.empty() ? "" : ", ") + name.get<std::string>();
      }
      ways.push_back({{"got", Printable(way.at("how").get<std::string>())},
                      {"who", Printable(who)}});
    }
    list.push_back({{"rule", Printable(file.at("rule").get<std::string>())},
                    {"n", 1},
                    {"vector", Printable(file.at("vector").get<std::string>())},
                    {"ways", ways}});
  }
  return list;
}

Json NearestReaders(const Json& clusters) {
  std::map<std::string, Json> nearest;  // pairs come most alike first
  for (const Json& pair : clusters.at("pairs")) {
    for (const auto& [one, other] :
         {std::pair("a", "b"), std::pair("b", "a")}) {
      const auto who = pair.at(one).get<std::string>();
      nearest.try_emplace(
          who, Json{{"who", Printable(who)},
                    {"like", Printable(pair.at(other).get<std::string>())},
                    {"percent",
                     fmt::format("{:.1f}", 100.0 * pair.at("same").get<int>() /
                                               pair.at("of").get<int>())},
                    {"of", pair.at("of")}});
    }
  }
  Json list = Json::array();
  for (auto& [who, item] : nearest) list.push_back(std::move(item));
  return list;
}

std::string ClusterSentence(const Json& clusters) {
  if (clusters.at("vectors") == 0) return "";
  const Json& files = clusters.at("files");
  std::string text = fmt::format("{} of {} files are read in more than one way",
                                 clusters.at("divided").get<std::uint64_t>(),
                                 clusters.at("vectors").get<std::uint64_t>());
  if (!files.empty()) {
    text += fmt::format("; the most divided, in {}: {}",
                        Count(files[0].at("ways").size(), "way"),
                        files[0].at("vector").get<std::string>());
  }
  return text;
}

}  // namespace weightproof::reports
