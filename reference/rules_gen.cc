// Turns rule registries into C++ data.
//
//   rules_gen OUT_DIR FORMAT=rules.tsv...
//
// Writes OUT_DIR/reference/FORMAT/rules.h (constants) for every registry and
// one OUT_DIR/reference/rules_data.inc (the table, all registries in the order
// given). A malformed registry is an error that names file and line.
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

const std::vector<std::string> kColumns = {
    "id",     "stage",  "severity",  "spec",      "ggml",  "candle",
    "at",     "fields", "judged_by", "statement", "notes", "sources"};

const std::map<std::string, std::string> kCells = {
    {"accept", "kAccept"},           {"reject", "kReject"},
    {"unsupported", "kUnsupported"}, {"limit", "kLimit"},
    {"policy", "kPolicy"},           {"bound", "kBound"},
    {"n/a", "kNotApplicable"}};

const std::map<std::string, std::string> kSeverities = {
    {"none", "kNone"},
    {"inconclusive", "kInconclusive"},
    {"ambiguous", "kAmbiguous"},
    {"nonconforming", "kNonconforming"},
    {"hazard", "kHazard"}};

[[noreturn]] void Fail(const std::string& where, const std::string& what) {
  std::cerr << where << ": " << what << "\n";
  std::exit(1);
}

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  std::istringstream in(line);
  while (std::getline(in, cell, '\t')) cells.push_back(cell);
  if (!line.empty() && line.back() == '\t') cells.emplace_back();
  return cells;
}

std::string Literal(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// gguf.align.value.zero -> kAlignValueZero (a format's own prefix is dropped);
// q8_1.quantize.sum -> kQ81QuantizeSum.
std::string ConstantName(const std::string& id, const std::string& format) {
  std::string rest = id;
  if (rest.starts_with(format + ".")) rest = rest.substr(format.size() + 1);
  std::string name = "k";
  bool upper = true;
  for (char c : rest) {
    if (c == '.' || c == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = false;
  }
  return name;
}

struct Generator {
  std::ostringstream table;
  std::set<std::string> ids;
  int index = 0;

  void Row(const std::string& where, const std::string& format,
           const std::vector<std::string>& c) {
    if (c.size() != kColumns.size()) {
      Fail(where, "expected " + std::to_string(kColumns.size()) +
                      " tab-separated cells, found " +
                      std::to_string(c.size()));
    }
    if (!ids.insert(c[0]).second) Fail(where, "id repeated: " + c[0]);
    if (!kSeverities.contains(c[2])) Fail(where, "unknown severity " + c[2]);
    for (int i = 3; i < 6; ++i) {
      if (!kCells.contains(c[i])) Fail(where, "unknown verdict " + c[i]);
    }
    table << "{" << Literal(c[0]) << ", " << Literal(format) << ", "
          << Literal(c[1]) << ", Severity::" << kSeverities.at(c[2]);
    for (int i = 3; i < 6; ++i) table << ", Cell::" << kCells.at(c[i]);
    for (std::size_t i = 6; i < c.size(); ++i) table << ", " << Literal(c[i]);
    table << "},\n";
  }

  void Registry(const std::filesystem::path& out, const std::string& format,
                const std::string& path) {
    std::ifstream in(path);
    if (!in) Fail(path, "cannot be read");
    std::string line;
    std::getline(in, line);
    if (Split(line) != kColumns) Fail(path + ":1", "unexpected header line");
    std::ostringstream header;
    header << "// Generated from " << format << "/rules.tsv.\n#pragma once\n"
           << "#include \"reference/rule.h\"\n\nnamespace weightproof::"
           << format << "::rules {\n\n"
           << "inline constexpr RuleIndex kFirst = " << index << ";\n";
    for (int number = 2; std::getline(in, line); ++number) {
      const std::string where = path + ":" + std::to_string(number);
      const std::vector<std::string> cells = Split(line);
      Row(where, format, cells);
      header << "inline constexpr RuleIndex "
             << ConstantName(cells[0], format) << " = " << index++ << ";\n";
    }
    header << "inline constexpr RuleIndex kEnd = " << index
           << ";\n\n}  // namespace weightproof::" << format << "::rules\n";
    std::filesystem::create_directories(out / "reference" / format);
    std::ofstream(out / "reference" / format / "rules.h") << header.str();
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: rules_gen OUT_DIR FORMAT=rules.tsv...\n";
    return 2;
  }
  const std::filesystem::path out = argv[1];
  Generator generator;
  for (int i = 2; i < argc; ++i) {
    const std::string arg = argv[i];
    const std::size_t equals = arg.find('=');
    if (equals == std::string::npos) Fail(arg, "expected FORMAT=FILE");
    generator.Registry(out, arg.substr(0, equals), arg.substr(equals + 1));
  }
  std::ofstream data(out / "reference" / "rules_data.inc");
  data << generator.table.str();
  data.flush();
  if (!data) Fail(out.string(), "cannot be written");
  return 0;
}
