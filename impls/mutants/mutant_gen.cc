// Plants the bug of a mutant.
//
//   mutant_gen NAME.toml SOURCE_ROOT OUT IMPLEMENTATION.cc OUT.json
//
// NAME.toml states file, old, new, rule, story, reference, instruction_set
// (empty: any machine), each a TOML string. If file is a header, unit is the
// source that is compiled with it. implementation is the built-in one that has
// the bug; left out where the stem of the source begins with its name. Nothing
// else. Writes the file with `old` replaced by `new`, a source that defines
// the implementation's name, and the description as JSON. Fails if `old` does
// not occur exactly once: a mutant whose place is gone must be rewritten, not
// skipped.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kKeys[] = {
    "file", "old", "new", "rule", "story", "reference", "instruction_set"};
constexpr std::string_view kOptionalKeys[] = {"unit", "implementation"};
// What the stem of a source may begin with.
constexpr std::string_view kImplementations[] = {
    "gguf_view", "q8_0_scalar", "q8_0_avx2", "q8_0_avx512", "q8_0_neon"};

[[noreturn]] void Fail(const std::string& where, const std::string& what) {
  std::cerr << where << ": " << what << "\n";
  std::exit(1);
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) Fail(path.string(), "cannot be read");
  return text.str();
}

// The part of TOML that a mutant needs: comments, and keys with strings of all
// four kinds.
class Toml {
 public:
  Toml(std::string where, std::string text)
      : where_(std::move(where)), text_(std::move(text)) {}

  std::map<std::string, std::string> Parse() {
    std::map<std::string, std::string> values;
    for (SkipBlank(); at_ < text_.size(); SkipBlank()) {
      const std::string key = Key();
      if (!values.emplace(key, Value()).second) Bad("key repeated: " + key);
    }
    return values;
  }

 private:
  [[noreturn]] void Bad(const std::string& what) {
    const auto line =
        1 + std::count(text_.begin(),
                       text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    Fail(where_ + ":" + std::to_string(line), what);
  }

  bool Take(std::string_view token) {
    if (std::string_view(text_).substr(at_, token.size()) != token) {
      return false;
    }
    at_ += token.size();
    return true;
  }

  void SkipBlank() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::string_view(" \t\r\n").contains(text_[at_])) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string Key() {
    const std::size_t equals = text_.find('=', at_);
    if (equals == std::string::npos) Bad("expected KEY = STRING");
    std::string key = text_.substr(at_, equals - at_);
    key.erase(key.find_last_not_of(" \t") + 1);
    at_ = equals + 1;
    while (Take(" ")) {
    }
    return key;
  }

  std::string Value() {
    for (const std::string_view quote : {"\"\"\"", "'''", "\"", "'"}) {
      if (!Take(quote)) continue;
      if (quote.size() == 3) Take("\n");
      return Until(quote);
    }
    Bad("expected a string");
  }

  std::string Until(std::string_view quote) {
    std::string out;
    while (!Take(quote)) {
      if (at_ >= text_.size()) Bad("string without end");
      if (quote.size() == 1 && text_[at_] == '\n') Bad("string without end");
      out += quote[0] == '"' && text_[at_] == '\\' ? Escape() : text_[at_++];
    }
    return out;
  }

  char Escape() {
    ++at_;
    for (const auto& [name, value] :
         {std::pair{'n', '\n'}, {'t', '\t'}, {'"', '"'}, {'\\', '\\'}}) {
      if (Take(std::string_view(&name, 1))) return value;
    }
    Bad("unknown escape");
  }

  std::string where_;
  std::string text_;
  std::size_t at_ = 0;
};

void Write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.flush();
  if (!out) Fail(path.string(), "cannot be written");
}

std::string ImplementationOf(const std::string& where,
                             std::map<std::string, std::string>& values) {
  if (values.contains("implementation")) return values["implementation"];
  const std::string& source =
      values.contains("unit") ? values["unit"] : values["file"];
  const std::string stem = std::filesystem::path(source).stem().string();
  std::string_view found;
  for (const std::string_view name : kImplementations) {
    if (stem.starts_with(name) && name.size() > found.size()) found = name;
  }
  if (found.empty()) Fail(where, "implementation is missing for " + source);
  return std::string(found);
}

void CheckKeys(const std::string& where,
               const std::map<std::string, std::string>& values) {
  std::size_t known = std::size(kKeys);
  for (const std::string_view key : kKeys) {
    if (!values.contains(std::string(key))) {
      Fail(where, "missing: " + std::string(key));
    }
  }
  for (const std::string_view key : kOptionalKeys) {
    known += values.contains(std::string(key)) ? 1 : 0;
  }
  if (values.size() != known) Fail(where, "unknown key");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: mutant_gen NAME.toml SOURCE_ROOT OUT "
                 "IMPLEMENTATION.cc OUT.json\n";
    return 2;
  }
  const std::filesystem::path toml = argv[1], root = argv[2];
  auto values = Toml(toml.string(), ReadFile(toml)).Parse();
  CheckKeys(toml.string(), values);
  const std::string& old = values["old"];
  if (old.empty() || old == values["new"]) {
    Fail(toml.string(), "old is empty or equals new");
  }
  std::string source = ReadFile(root / values["file"]);
  const std::size_t at = source.find(old);
  if (at == std::string::npos) {
    Fail(toml.string(), "old does not occur in " + values["file"]);
  }
  if (source.find(old, at + 1) != std::string::npos) {
    Fail(toml.string(), "old occurs more than once in " + values["file"]);
  }
  source.replace(at, old.size(), values["new"]);
  values["implementation"] = ImplementationOf(toml.string(), values);
  nlohmann::json about = values;
  about["name"] = toml.stem().string();
  Write(argv[3], "#line 1 \"" + values["file"] + "\"\n" + source);
  Write(argv[4],
        "extern \"C\" const char wp_mutant_implementation[];\n"
        "const char wp_mutant_implementation[] = \"" +
            values["implementation"] + "\";\n");
  Write(argv[5], about.dump(2) + "\n");
  return 0;
}
