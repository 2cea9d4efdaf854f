#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "conformance/dump.h"
#include "conformance/dump_value.h"

namespace weightproof::conformance {
namespace {

constexpr std::size_t kMaxShown = 200;

std::string Show(const Json& value) {
  std::string text =
      value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxShown) {
    text = text.substr(0, kMaxShown - 3) + "...";
  }
  return text;
}

const Json& Field(const Json& object, const char* name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto it = object.find(name);
  return it == object.end() ? kNull : *it;
}

// An integer and its decimal string are one value; all else is JSON equality.
bool SameValue(const Json& a, const Json& b) {
  if (a == b) return true;
  if (a.is_string() && b.is_number_integer()) {
    return a.get_ref<const std::string&>() == b.dump();
  }
  return a.is_number_integer() && b.is_string() && SameValue(b, a);
}

bool Contains(std::span<const std::string> fields, std::string_view name) {
  return std::ranges::find(fields, name) != fields.end();
}

class Comparer {
 public:
  Comparer(std::span<const std::string> fields,
           std::vector<std::string>* skipped)
      : fields_(fields), skipped_(skipped) {}

  bool Dumps(const Json& expected, const Json& got);
  bool Value(const std::string& path, std::uint32_t type, const Json& expected,
             const Json& got);
  std::optional<Difference> TakeDifference() { return std::move(difference_); }

 private:
  // Each returns whether the two agree, and notes the difference otherwise.
  bool Differ(const std::string& path, const Json& expected, const Json& got);
  bool Skip(const std::string& path);
  bool Leaf(const std::string& path, const Json& expected, const Json& got);
  bool String(const std::string& path, const Json& expected, const Json& got);
  bool Array(const std::string& path, const Json& expected, const Json& got);
  bool List(const char* name, const char* sort_by, const Json& expected,
            const Json& got, bool sort);
  bool Kv(const std::string& path, const Json& expected, const Json& got);
  bool Tensor(const std::string& path, const Json& expected, const Json& got);
  bool Dims(const std::string& path, const Json& expected, const Json& got);

  std::span<const std::string> fields_;
  std::vector<std::string>* skipped_;
  std::optional<Difference> difference_;
};

bool Comparer::Differ(const std::string& path, const Json& expected,
                      const Json& got) {
  difference_ = Difference{path, Show(expected), Show(got)};
  return false;
}

bool Comparer::Skip(const std::string& path) {
  if (skipped_ != nullptr) skipped_->push_back(path);
  return true;
}

bool Comparer::Leaf(const std::string& path, const Json& expected,
                    const Json& got) {
  if (got.is_null()) return Skip(path);
  return SameValue(expected, got) || Differ(path, expected, got);
}

bool Comparer::String(const std::string& path, const Json& expected,
                      const Json& got) {
  if (got.is_string() && expected == got) return true;
  return Leaf(path, expected, CanonicalValue(kTypeString, got));
}

bool Comparer::Array(const std::string& path, const Json& expected,
                     const Json& got) {
  if (!got.is_object()) return Differ(path, expected, got);
  const Json& elem = Field(got, "elem");
  if (!Leaf(path + ".elem", Field(expected, "elem"), elem) ||
      !Leaf(path + ".len", Field(expected, "len"), Field(got, "len"))) {
    return false;
  }
  const Json& expected_items = Field(expected, "items");
  const Json& items = Field(got, "items");
  if (items.is_null()) return Skip(path + ".items");
  if (!items.is_array() || items.size() != expected_items.size()) {
    return Differ(path + ".items", expected_items, items);
  }
  const Json& expected_elem = Field(expected, "elem");
  const auto type = expected_elem.is_string()
                        ? TypeFromName(expected_elem.get<std::string>())
                        : std::nullopt;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string at = fmt::format("{}.items[{}]", path, i);
    const bool same = type ? Value(at, *type, expected_items[i], items[i])
                           : Leaf(at, expected_items[i], items[i]);
    if (!same) return false;
  }
  return !expected.contains("crc32") ||
         Leaf(path + ".crc32", expected["crc32"], Field(got, "crc32"));
}

bool Comparer::Value(const std::string& path, std::uint32_t type,
                     const Json& expected, const Json& got) {
  if (got.is_null()) return Skip(path);
  if (type == kTypeString) return String(path, expected, got);
  if (type != kTypeArray) {
    return Leaf(path, CanonicalValue(type, expected),
                CanonicalValue(type, got));
  }
  const Json& items = Field(got, "items");
  if (!items.is_array() || items.size() <= kMaxDumpArray) {
    return Array(path, expected, got);
  }
  // All elements of a long array; a reader that lost their type may still
  // send them.
  Json full = got;
  const bool lost_type = Field(full, "elem").is_null();
  if (lost_type) full["elem"] = Field(expected, "elem");
  full = CanonicalValue(type, full);
  if (lost_type) full["elem"] = nullptr;
  return Array(path, expected, full);
}

bool Comparer::Kv(const std::string& path, const Json& expected,
                  const Json& got) {
  if (!got.is_object()) return Differ(path, expected, got);
  if (!String(path + ".key", Field(expected, "key"), Field(got, "key")) ||
      !Leaf(path + ".type", Field(expected, "type"), Field(got, "type"))) {
    return false;
  }
  const Json& type_name = Field(expected, "type");
  const auto type = type_name.is_string()
                        ? TypeFromName(type_name.get<std::string>())
                        : std::nullopt;
  const std::string at = path + ".value";
  if (!type) return Leaf(at, Field(expected, "value"), Field(got, "value"));
  return Value(at, *type, Field(expected, "value"), Field(got, "value"));
}

bool Comparer::Dims(const std::string& path, const Json& expected,
                    const Json& got) {
  if (got.is_null()) return Skip(path);
  if (!got.is_array() || got.size() != expected.size()) {
    return Differ(path, expected, got);
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!Leaf(fmt::format("{}[{}]", path, i), expected[i], got[i])) {
      return false;
    }
  }
  return true;
}

bool Comparer::Tensor(const std::string& path, const Json& expected,
                      const Json& got) {
  if (!got.is_object()) return Differ(path, expected, got);
  if (!String(path + ".name", Field(expected, "name"), Field(got, "name")) ||
      !Dims(path + ".dims", Field(expected, "dims"), Field(got, "dims")) ||
      !Leaf(path + ".type", Field(expected, "type"), Field(got, "type")) ||
      !Leaf(path + ".offset", Field(expected, "offset"),
            Field(got, "offset"))) {
    return false;
  }
  const Json& size = Field(got, "size");
  if (!Contains(fields_, "size") || size.is_null()) return true;
  return Leaf(path + ".size", Field(expected, "size"), size);
}

// Entries of one name keep their order.
std::vector<Json> Sorted(const Json& list, const char* by) {
  std::multimap<std::string, const Json*> entries;
  for (const Json& entry : list) {
    entries.emplace(
        CanonicalValue(kTypeString, Field(entry, by))
            .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace),
        &entry);
  }
  std::vector<Json> out;
  for (const auto& [name, entry] : entries) out.push_back(*entry);
  return out;
}

bool Comparer::List(const char* name, const char* sort_by, const Json& expected,
                    const Json& got, bool sort) {
  const Json& want = Field(expected, name);
  const Json& have = Field(got, name);
  if (have.is_null() || !want.is_array()) return Skip(name);
  if (!have.is_array()) return Differ(name, want, have);
  std::vector<Json> sorted_want, sorted_have;
  if (sort) {
    sorted_want = Sorted(want, sort_by);
    sorted_have = Sorted(have, sort_by);
  }
  const std::size_t common = std::min(want.size(), have.size());
  for (std::size_t i = 0; i < common; ++i) {
    const Json& e = sort ? sorted_want[i] : want[i];
    const Json& g = sort ? sorted_have[i] : have[i];
    const std::string path = fmt::format("{}[{}]", name, i);
    const bool same = *name == 'k' ? Kv(path, e, g) : Tensor(path, e, g);
    if (!same) return false;
  }
  if (want.size() == have.size()) return true;
  return Differ(fmt::format("{}.length", name), want.size(), have.size());
}

bool Comparer::Dumps(const Json& expected, const Json& got) {
  if (!got.is_object()) return Differ("dump", expected, got);
  const Json& tensors = Field(expected, "tensors");
  const bool has_tensors = tensors.is_array() && !tensors.empty();
  for (const char* name :
       {"version", "endian", "alignment", "data_offset", "file_size"}) {
    if (!Contains(fields_, name)) continue;
    if (name == std::string_view("data_offset") && !has_tensors) continue;
    if (!Leaf(name, Field(expected, name), Field(got, name))) return false;
  }
  const bool sort =
      !Contains(fields_, "order") || Field(got, "ordered") == Json(false);
  if (Contains(fields_, "kv") && !List("kv", "key", expected, got, sort)) {
    return false;
  }
  if (Contains(fields_, "tensors") &&
      !List("tensors", "name", expected, got, sort)) {
    return false;
  }
  return !Contains(fields_, "policies") ||
         Leaf("policies", Field(expected, "policies"), Field(got, "policies"));
}

}  // namespace

std::span<const std::string> AllDumpFields() {
  static const std::array<std::string, 10> kFields = {
      "version", "endian",  "alignment", "data_offset", "file_size",
      "kv",      "tensors", "policies",  "size",        "order"};
  return kFields;
}

void RestrictDump(std::span<const std::string> fields, Json& dump) {
  for (auto& [name, value] : dump.items()) {
    if (!Contains(fields, name)) value = nullptr;
  }
  if (!Contains(fields, "order")) dump["ordered"] = false;
  if (Contains(fields, "size") || !dump["tensors"].is_array()) return;
  for (Json& tensor : dump["tensors"]) tensor["size"] = nullptr;
}

bool ReportsFields(std::string_view expression,
                   std::span<const std::string> reported) {
  while (!expression.empty()) {
    const std::size_t comma = expression.find(',');
    std::string_view term = expression.substr(0, comma);
    bool any = false;
    while (!any && !term.empty()) {
      const std::size_t bar = term.find('|');
      any = Contains(reported, term.substr(0, bar));
      term = bar == term.npos ? std::string_view() : term.substr(bar + 1);
    }
    if (!any) return false;
    if (comma == expression.npos) return true;
    expression = expression.substr(comma + 1);
  }
  return true;
}

std::optional<Difference> CompareDumps(const Json& expected, const Json& got,
                                       std::span<const std::string> fields,
                                       std::vector<std::string>* skipped) {
  Comparer comparer(fields, skipped);
  comparer.Dumps(expected, got);
  return comparer.TakeDifference();
}

std::optional<Difference> CompareValues(std::string_view type,
                                        const Json& expected, const Json& got) {
  Comparer comparer({}, nullptr);
  const auto id = TypeFromName(type);
  if (got.is_null() && !expected.is_null()) {
    return Difference{"value", Show(expected), "null"};
  }
  if (id) comparer.Value("value", *id, expected, got);
  return comparer.TakeDifference();
}

}  // namespace weightproof::conformance
