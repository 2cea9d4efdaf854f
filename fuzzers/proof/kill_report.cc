// The kill matrix as JSON and as text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "fuzzers/proof/kill_matrix.h"

namespace weightproof::fuzzers {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 4> kLayers = {"vectors", "replay",
                                                "properties", "fuzzing"};

const LayerRow* FindLayer(const KillMatrix& matrix, std::string_view name) {
  const auto found = std::ranges::find(matrix.layers, name, &LayerRow::name);
  return found == matrix.layers.end() ? nullptr : &*found;
}

Json RowToJson(const KillMatrix& matrix, const MutantRow& row) {
  Json killed_by = Json::object(), killing = Json::object();
  for (const char* layer : kLayers) {
    killed_by[layer] = nullptr;
    if (FindLayer(matrix, layer) == nullptr) continue;
    const auto kill = row.kills.find(layer);
    killed_by[layer] = kill != row.kills.end() && kill->second.killed;
    if (kill == row.kills.end() || !kill->second.killed) continue;
    killing[layer] = {{"case", kill->second.by}, {"what", kill->second.what}};
    if (!kill->second.all.empty()) {
      killing[layer]["cases"] = kill->second.all.size();
    }
  }
  Json out = {{"name", row.mutant.name},
              {"rule", row.mutant.rule},
              {"file", row.mutant.file},
              {"implementation", row.mutant.implementation},
              {"instruction_set", row.mutant.instruction_set},
              {"reference", row.mutant.reference},
              {"story", row.mutant.story},
              {"ran", row.ran},
              {"killed_by", killed_by},
              {"killing", killing}};
  if (!row.ran) out["why"] = row.why;
  return out;
}

std::string Share(std::size_t part, std::size_t whole) {
  if (whole == 0) return "-";
  return fmt::format(
      "{}/{} = {:.1f} %", part, whole,
      100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// "rule (3)", so that families of vectors take one line.
std::string IdleText(const std::vector<std::string>& idle,
                     const conformance::VectorSet& set) {
  std::map<std::string, int> by_rule;
  std::map<std::string, std::string> rule_of;
  for (const auto& vector : set.vectors) rule_of[vector.id] = vector.rule;
  for (const std::string& id : idle) ++by_rule[rule_of[id]];
  std::string out = fmt::format(
      "\n{} vectors kill no mutant and do not stand alone for their rule "
      "(all ids: mutants.json):\n",
      idle.size());
  for (const auto& [rule, count] : by_rule) {
    out += fmt::format("  {} ({})\n", rule, count);
  }
  return out;
}

}  // namespace

Json ToJson(const KillMatrix& matrix, const conformance::VectorSet& set) {
  Json mutants = Json::array(), layers = Json::array();
  Json vectors = Json::object();
  for (const MutantRow& row : matrix.mutants) {
    mutants.push_back(RowToJson(matrix, row));
    const auto kill = row.kills.find("vectors");
    if (kill == row.kills.end()) continue;
    for (const std::string& id : kill->second.all) {
      vectors[id].push_back(row.mutant.name);
    }
  }
  for (const LayerRow& layer : matrix.layers) {
    layers.push_back({{"name", layer.name},
                      {"cases", layer.cases},
                      {"seconds", layer.seconds},
                      {"killed", matrix.Killed(layer.name)},
                      {"ran", matrix.Ran()},
                      {"unsound", layer.unsound}});
  }
  return {{"mutants", mutants},
          {"layers", layers},
          {"vector_set", set.version},
          {"vectors", vectors},
          {"idle_vectors", IdleVectors(matrix, set)}};
}

std::string ToText(const KillMatrix& matrix) {
  std::size_t width = 6;
  for (const MutantRow& row : matrix.mutants) {
    width = std::max(width, row.mutant.name.size());
  }
  std::string out = fmt::format("{:<{}}", "mutant", width);
  for (const LayerRow& layer : matrix.layers) {
    out += fmt::format("  {:<10}", layer.name);
  }
  out += "  rule\n";
  for (const MutantRow& row : matrix.mutants) {
    out += fmt::format("{:<{}}", row.mutant.name, width);
    for (const LayerRow& layer : matrix.layers) {
      const auto kill = row.kills.find(layer.name);
      const char* word = !row.ran                  ? "NOT RUN"
                         : kill == row.kills.end() ? "-"
                         : kill->second.killed     ? "killed"
                                                   : "SURVIVES";
      out += fmt::format("  {:<10}", word);
    }
    out += "  " + row.mutant.rule;
    if (!row.ran) out += " (" + row.why + ")";
    out += "\n";
  }
  out += "\n";
  for (const LayerRow& layer : matrix.layers) {
    out += fmt::format("{:<10}  killed {}  {} cases  {:.1f} s\n", layer.name,
                       Share(matrix.Killed(layer.name), matrix.Ran()),
                       layer.cases, layer.seconds);
    for (const std::string& unsound : layer.unsound) {
      out += "  does not count, the unmutated source fails: " + unsound + "\n";
    }
  }
  return out;
}

std::string IdleToText(const KillMatrix& matrix,
                       const conformance::VectorSet& set) {
  if (FindLayer(matrix, "vectors") == nullptr) return "";
  return IdleText(IdleVectors(matrix, set), set);
}

}  // namespace weightproof::fuzzers
