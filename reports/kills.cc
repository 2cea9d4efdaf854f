#include "reports/kills.h"

#include <algorithm>

namespace weightproof::reports {

using Json = nlohmann::json;

void AddKills(const Json& matrix, Json& report) {
  if (!matrix.is_object() || !matrix.contains("vectors") ||
      matrix.value("vector_set", Json()) !=
          report.value("set_version", Json())) {
    return;
  }
  const Json& kills = matrix.at("vectors");
  if (!kills.is_object() || kills.empty()) return;
  for (Json& vector : report.at("vectors")) {
    const auto found = kills.find(vector.at("id").get<std::string>());
    const bool list = found != kills.end() && found->is_array() &&
                      std::ranges::all_of(*found, [](const Json& name) {
                        return name.is_string();
                      });
    vector["kills"] = list ? *found : Json::array();
  }
}

}  // namespace weightproof::reports
