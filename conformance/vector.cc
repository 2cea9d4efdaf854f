#include "conformance/vector.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "conformance/vector_json.h"
#include "reference/rule.h"

namespace weightproof::conformance {
namespace {

constexpr char kSchemaText[] = {
#include "conformance/vector_schema.inc"
};

using Problem = JsonProblem;

// Parses text; two members of one name are an error, because a reader would
// see only one of them. The exception of the JSON library ends here.
std::expected<Json, std::string> ParseJson(const std::string& text) {
  std::vector<std::set<std::string>> open;
  std::string repeated;
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) {
      open.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      open.pop_back();
    } else if (event == Json::parse_event_t::key && repeated.empty()) {
      const auto& key = value.get_ref<const std::string&>();
      if (!open.back().insert(key).second) repeated = key;
    }
    return true;
  };
  try {
    Json json = Json::parse(text, watch);
    if (!repeated.empty()) {
      return std::unexpected("member \"" + repeated + "\" is repeated");
    }
    return json;
  } catch (const Json::exception& error) {
    return std::unexpected(std::string(error.what()));
  }
}

// Valijson names a place "<root>", "[vectors]", "[0]", ...
std::string PointerOf(const std::vector<std::string>& context) {
  std::string out;
  for (const std::string& step : context) {
    if (step == "<root>") continue;
    std::string_view name = step;
    if (name.starts_with('[') && name.ends_with(']')) {
      name = name.substr(1, name.size() - 2);
    }
    out += '/';
    for (const char c : name) {
      out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
  }
  return out;
}

const valijson::Schema& Schema() {
  static const valijson::Schema* const schema = [] {
    auto* out = new valijson::Schema;
    const Json text = Json::parse(kSchemaText);
    valijson::adapters::NlohmannJsonAdapter adapter(text);
    valijson::SchemaParser().populateSchema(adapter, *out);
    return out;
  }();
  return *schema;
}

// The error deepest in the document: the others say that something around it
// failed.
std::optional<Problem> CheckSchema(const Json& json) {
  valijson::adapters::NlohmannJsonAdapter adapter(json);
  valijson::ValidationResults results;
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  if (validator.validate(Schema(), adapter, &results)) return std::nullopt;
  const auto deepest = std::max_element(
      results.begin(), results.end(), [](const auto& a, const auto& b) {
        return a.context.size() < b.context.size();
      });
  if (deepest == results.end()) return Problem{"", "does not fit the schema"};
  return Problem{PointerOf(deepest->context), deepest->description};
}

// Rules that a vector names must exist and be of its format.
std::optional<Problem> CheckRules(const Vector& vector) {
  const auto check = [&](const std::string& id) -> std::string {
    const auto index = FindRule(id);
    if (!index) return "no such rule: " + id;
    if (Rules()[*index].format != vector.format) {
      return fmt::format("{} is a rule of {}", id, Rules()[*index].format);
    }
    return "";
  };
  if (auto what = check(vector.rule); !what.empty()) {
    return Problem{"/rule", what};
  }
  for (std::size_t i = 0; i < vector.also.size(); ++i) {
    if (auto what = check(vector.also[i]); !what.empty()) {
      return Problem{fmt::format("/also/{}", i), what};
    }
  }
  for (const auto& [profile, expectation] : vector.expect) {
    const std::string at = "/expect/" + profile;
    if (expectation.rule) {
      if (auto what = check(*expectation.rule); !what.empty()) {
        return Problem{at + "/rule", what};
      }
    }
    for (std::size_t i = 0; i < expectation.policies.size(); ++i) {
      if (auto what = check(expectation.policies[i]); !what.empty()) {
        return Problem{fmt::format("{}/policies/{}", at, i), what};
      }
    }
  }
  return std::nullopt;
}

std::expected<std::string, std::string> ReadText(
    const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::unexpected("cannot be read");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return std::unexpected("cannot be read to its end");
  return text;
}

// Where a loaded vector came from, to report what only shows later.
struct Origin {
  std::filesystem::path file;
  std::string pointer;
};

class Loader {
 public:
  std::expected<void, VectorError> Load(const std::filesystem::path& file) {
    const auto error = [&](std::string pointer, std::string message) {
      return std::unexpected(
          VectorError{file, std::move(pointer), std::move(message)});
    };
    const auto text = ReadText(file);
    if (!text) return error("", text.error());
    const auto json = ParseJson(*text);
    if (!json) return error("", json.error());
    if (const auto problem = CheckSchema(*json)) {
      return error(problem->pointer, problem->message);
    }
    const std::string version = (*json)["set_version"];
    if (set_.version.empty()) set_.version = version;
    if (version != set_.version) {
      return error("/set_version",
                   fmt::format("{}, but the set is {}", version, set_.version));
    }
    std::size_t index = 0;
    for (const Json& item : (*json)["vectors"]) {
      const std::string at = fmt::format("/vectors/{}", index++);
      auto vector = VectorFromJson(item);
      if (!vector) {
        return error(at + vector.error().pointer, vector.error().message);
      }
      if (const auto problem = CheckRules(*vector)) {
        return error(at + problem->pointer, problem->message);
      }
      const auto [other, fresh] =
          origins_.emplace(vector->id, Origin{file, at});
      if (!fresh) {
        return error(at + "/id",
                     fmt::format("{} is already at {}{}", vector->id,
                                 other->second.file.filename().string(),
                                 other->second.pointer));
      }
      set_.vectors.push_back(std::move(*vector));
    }
    return {};
  }

  // The set, once every file is in.
  std::expected<VectorSet, VectorError> Take() {
    for (const Vector& vector : set_.vectors) {
      if (vector.twin.empty()) continue;
      const Origin& origin = origins_.at(vector.id);
      const std::string at = origin.pointer + "/twin";
      if (!origins_.contains(vector.twin)) {
        return std::unexpected(
            VectorError{origin.file, at, "no vector " + vector.twin});
      }
      if (vector.twin == vector.id) {
        return std::unexpected(
            VectorError{origin.file, at, "a vector is not its own twin"});
      }
    }
    return std::move(set_);
  }

 private:
  VectorSet set_;
  std::unordered_map<std::string, Origin> origins_;
};

}  // namespace

std::expected<VectorSet, VectorError> LoadVectors(
    const std::filesystem::path& dir) {
  std::vector<std::filesystem::path> files;
  std::error_code code;
  for (std::filesystem::directory_iterator it(dir, code), end;
       !code && it != end; it.increment(code)) {
    if (it->path().extension() == ".json") files.push_back(it->path());
  }
  if (code) {
    return std::unexpected(VectorError{dir, "", code.message()});
  }
  if (files.empty()) {
    return std::unexpected(VectorError{dir, "", "no vector files (*.json)"});
  }
  std::sort(files.begin(), files.end());
  Loader loader;
  for (const std::filesystem::path& file : files) {
    auto loaded = loader.Load(file);
    if (!loaded) return std::unexpected(loaded.error());
  }
  return loader.Take();
}

}  // namespace weightproof::conformance
