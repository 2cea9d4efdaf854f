// Every mutant is built, loads, and differs from the unmutated implementation
// on an input made for its story.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "build_paths.h"
#include "impls/cpu/gguf_view_testing.h"
#include "impls/registry.h"
#include "reference/rule.h"

namespace weightproof::impls::testing {
namespace {

namespace fs = std::filesystem;

fs::path Folder() { return fs::path(WEIGHTPROOF_BINARY_DIR) / "lib/mutants"; }

std::set<std::string> Planned() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(
           fs::path(WEIGHTPROOF_SOURCE_DIR) / "impls/mutants")) {
    if (entry.path().extension() == ".toml") {
      names.insert(entry.path().stem().string());
    }
  }
  return names;
}

using Description = std::map<std::string, std::string>;

Description About(const std::string& name) {
  std::ifstream in(Folder() / (name + ".json"));
  return nlohmann::json::parse(in).get<Description>();
}

const wp_implementation* Load(const std::string& name) {
  void* const object =
      dlopen((Folder() / (name + ".so")).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  const auto open = reinterpret_cast<wp_open_function>(
      dlsym(object, "wp_implementation_open"));
  if (open == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  char error[256] = "";
  const wp_implementation* const opened = open("", error, sizeof error);
  EXPECT_NE(opened, nullptr) << error;
  return opened;
}

std::string One(const std::string& entry, std::uint64_t data) {
  return Pad(H(3, 1, 0) + entry) + Z(data);
}

std::string Aligned(std::uint32_t type, std::uint64_t alignment) {
  return Pad(H(3, 1, 1) + Kv("general.alignment", type, U32(alignment)) +
                 Ti("t", {8}, 0, 0),
             alignment) +
         Z(96);
}

std::string BigEndianArray() {
  Writer w(3, true);
  w.Header(0, 1);
  w.Key("k", 9);
  w.Array(4, 2);
  w.Int(1, 4), w.Int(2, 4);
  return w.bytes();
}

// An input that shows the bug, for some mutants of the GGUF reader.
std::map<std::string, std::string> Inputs() {
  const std::string a = Ti("a", {16}, 0, 0), b = Ti("b", {8}, 0, 32);
  return {
      {"canary", H(0, 0, 0)},
      {"gguf_alignment_ignored", Aligned(4, 128)},
      {"gguf_alignment_of_any_integer", Aligned(5, 32)},
      {"gguf_array_nesting_four",
       H(3, 0, 1) + Kv("k", 9, Times(4, A(9, 1)) + A(0, 0))},
      {"gguf_array_unknown_empty", H(3, 0, 1) + Kv("k", 9, A(77, 0))},
      {"gguf_big_endian_arrays", BigEndianArray()},
      {"gguf_bool_any_byte", H(3, 0, 1) + Kv("k", 7, "\2")},
      {"gguf_data_past_eof", One(Ti("t", {8}, 0, 0), 31)},
      {"gguf_data_start_full_block", One(Ti("tttttttt", {8}, 0, 0), 64)},
      {"gguf_elements_wrap", One(Ti("t", {1ull << 32, 1ull << 32}, 0, 0), 32)},
      {"gguf_key_duplicate_kept",
       H(3, 0, 2) + Kv("a", 0, "\1") + Kv("a", 0, "\2")},
      {"gguf_kv_minimum_20", H(3, 0, 1) + Kv("a", 0, "\1")},
      {"gguf_n_dims_eight", One(Ti("t", {1, 1, 1, 1, 8}, 0, 0), 32)},
      {"gguf_offset_unaligned", One(Ti("t", {8}, 0, 4), 64)},
      {"gguf_overlap_unseen", Pad(H(3, 2, 0) + a + b) + Z(64)},
      {"gguf_q2_k_82_bytes", One(Ti("t", {256}, 10, 0), 84)},
      {"gguf_string_nul_stripped",
       H(3, 0, 1) + Kv("k", 8, S(std::string_view("ab\0", 3)))},
      {"gguf_string_utf8_unchecked", H(3, 0, 1) + Kv("k", 8, S("\xff"))},
      {"gguf_tensor_name_long", One(Ti(Times(65, "n"), {8}, 0, 0), 32)},
      {"gguf_v1_read_as_v3", "GGUF" + U32(1) + U32(0) + U32(0)},
  };
}

TEST(Mutants, AreBuiltAndDescribed) {
  const std::set<std::string> names = Planned();
  EXPECT_GE(names.size(), 75u);
  for (const std::string& name : names) {
    ASSERT_TRUE(fs::exists(Folder() / (name + ".so"))) << name;
    const Description about = About(name);
    EXPECT_EQ(about.at("name"), name);
    EXPECT_TRUE(FindRule(about.at("rule")).has_value())
        << name << ": " << about.at("rule");
    for (const char* field : {"story", "reference"}) {
      EXPECT_FALSE(about.at(field).empty()) << name;
    }
    EXPECT_NE(Load(name), nullptr) << name;
  }
}

TEST(Mutants, EachGgufMutantDiffersFromTheReaderOnItsInput) {
  const wp_implementation& view = *FindBuiltIn("gguf_view");
  const auto inputs = Inputs();
  for (const std::string& name : Planned()) {
    const Description about = About(name);
    if (!about.at("file").starts_with("impls/cpu/gguf_view")) {
      continue;
    }
    if (!inputs.contains(name)) continue;  // the vectors catch it
    const wp_implementation* const mutant = Load(name);
    ASSERT_NE(mutant, nullptr);
    const std::string& input = inputs.at(name);
    const Outcome right = Parse(view, input), wrong = Parse(*mutant, input);
    EXPECT_EQ(Summary(right), Summary(Parse(*FindBuiltIn("reference"), input)))
        << name;
    EXPECT_TRUE(right.verdict != wrong.verdict || right.events != wrong.events)
        << name << ": " << Summary(right);
    // Where the reader refuses, it names the mutant's rule.
    if (right.verdict != WP_ACCEPT) {
      EXPECT_EQ(right.rule, about.at("rule")) << name;
    }
    // Otherwise the mutant is right: it is the reader with one bug.
    EXPECT_EQ(Parse(*mutant, H(3, 0, 0)), Parse(view, H(3, 0, 0))) << name;
  }
}

TEST(Mutants, CanaryIsItsMutantInsideThisProgram) {
  const wp_implementation& canary = *CanaryImplementation();
  const std::string input = H(0, 0, 0);
  EXPECT_EQ(Parse(canary, input).verdict, WP_ACCEPT);
  EXPECT_EQ(Parse(*Load("canary"), input), Parse(canary, input));
  EXPECT_EQ(Parse(*FindBuiltIn("gguf_view"), input).verdict, WP_REJECT);
  const std::string rule = "gguf.header.version.zero";
  EXPECT_EQ(About("canary").at("rule"), rule);
  for (const Case& c : AllCases()) {
    if ("gguf." + c.rule == rule) continue;
    RunOptions options;
    options.file_size = c.file_size;
    EXPECT_EQ(Parse(canary, c.bytes, options),
              Parse(*FindBuiltIn("gguf_view"), c.bytes, options))
        << c.rule;
  }
}

// The generator refuses what it cannot plant exactly once.
class Generator : public ::testing::Test {
 protected:
  int Run(const std::string& old) {
    const fs::path dir =
        fs::path(::testing::TempDir()) / fmt::format("mutant_{}", ::getpid());
    fs::create_directories(dir);
    std::ofstream(dir / "source.cc") << "int a = 1;\nint b = 1;\n";
    std::ofstream(dir / "m.toml")
        << "file = \"source.cc\"\nrule = \"r\"\nstory = \"s\"\n"
           "reference = \"x\"\ninstruction_set = \"\"\n"
           "implementation = \"gguf_view\"\n"
        << "old = '" << old << "'\nnew = 'int c = 2'\n";
    const std::string command = fmt::format(
        "{0}/bin/mutant_gen {1}/m.toml {1} {1}/out.cc {1}/name.cc "
        "{1}/out.json 2>/dev/null",
        WEIGHTPROOF_BINARY_DIR, dir.string());
    const int status = std::system(command.c_str());
    std::ifstream in(dir / "out.cc");
    std::ostringstream text;
    text << in.rdbuf();
    mutated_ = text.str();
    fs::remove_all(dir);
    return status;
  }
  std::string mutated_;
};

TEST_F(Generator, ReplacesTheOnePlace) {
  EXPECT_EQ(Run("int a = 1"), 0);
  EXPECT_EQ(mutated_, "#line 1 \"source.cc\"\nint c = 2;\nint b = 1;\n");
}

TEST_F(Generator, RefusesAPlaceThatIsGone) { EXPECT_NE(Run("int z"), 0); }

TEST_F(Generator, RefusesAPlaceThatOccursTwice) { EXPECT_NE(Run("= 1;"), 0); }

}  // namespace
}  // namespace weightproof::impls::testing
