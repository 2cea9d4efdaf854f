// weightproof list
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "reports/cli/command.h"
#include "reports/text.h"

namespace weightproof::cli {
namespace {

using Json = nlohmann::json;
using conformance::Vector;

Json VectorLine(const Vector& vector) {
  Json expected = Json::object();
  for (const auto& [profile, want] : vector.expect) {
    expected[profile] = want.verdict;
  }
  return {{"id", vector.id},
          {"format", vector.format},
          {"operation", vector.operation},
          {"rule", vector.rule},
          {"expected", expected}};
}

std::string HumanLine(const Vector& vector) {
  std::string expected;
  for (const char* profile : {"spec", "ggml", "candle"}) {
    const auto at = vector.expect.find(profile);
    if (at == vector.expect.end()) continue;
    expected += fmt::format(" {:<11}", at->second.verdict);
  }
  return fmt::format("{:<44} {:<16}{}\n", reports::Printable(vector.id),
                     vector.operation, expected);
}

int List(const Places& places, bool json) {
  const auto vectors = LoadAllVectors(places);
  if (!vectors) return Fail(kExitInternal, vectors.error());
  std::string out;
  if (!json) {
    out = fmt::format("{:<44} {:<16} {:<11} {:<11} {}\n", "vector", "operation",
                      "spec", "ggml", "candle");
  }
  for (const Vector& vector : vectors->vectors) {
    out += json ? VectorLine(vector).dump(-1, ' ', false,
                                          Json::error_handler_t::replace) +
                      "\n"
                : HumanLine(vector);
  }
  if (!json) {
    out += fmt::format("{}, set {}\n",
                       reports::Count(vectors->vectors.size(), "vector"),
                       vectors->version);
  }
  Print(out);
  return kExitOk;
}

}  // namespace

void AddList(CLI::App& app, const Places& places, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* list =
      app.add_subcommand("list", "The vectors and what they expect");
  list->add_flag("--json", *json, "One JSON object per vector");
  list->callback([json, &places, &action] {
    action = [json, &places] { return List(places, *json); };
  });
}

}  // namespace weightproof::cli
