// Findings are classified, made small, kept and told.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "build_paths.h"
#include "corpus/assembler.h"
#include "fuzzers/gguf/generator.h"
#include "fuzzers/life/classify.h"
#include "fuzzers/life/emit.h"
#include "fuzzers/life/file_vector.h"
#include "fuzzers/life/promote.h"
#include "fuzzers/life/reduce.h"

namespace weightproof::fuzzers {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Bytes File(std::string_view recipe) {
  const auto assembly = corpus::Assemble(recipe);
  EXPECT_TRUE(assembly.has_value()) << assembly.error().message;
  const auto bytes = assembly->bytes.Materialize(1 << 20);
  return *bytes;
}

// Many keys and tensors around one fault.
Bytes Busy() {
  return File(R"(
gguf 3 2 6
kv "a" u32 1
kv "b" string "some text that is not needed"
kv "c" array u16 [1, 2, 3, 4, 5]
kv "flag" bool 7
kv "d" array string ["x", "y"]
kv "e" f64 1.5
tensor "t" [8] F32 0
tensor "u" [8] F32 32
data
ramp 64
)");
}

TEST(Classify, NamesTheRuleUnderEveryProfile) {
  const FileClass kind = ClassOf(Busy());
  EXPECT_EQ(kind.ToString(), "reject gguf.kv.bool.range");
  EXPECT_EQ(kind.profiles[1].verdict, "accept");
  EXPECT_FALSE(SameClass(kind, ClassOf(GenerateGguf({}))));
  EXPECT_TRUE(ClassOf(GenerateGguf({})).Accepted());
}

TEST(Reduce, KeepsTheClassAndDropsTheRest) {
  const Bytes file = Busy();
  const FileClass kind = ClassOf(file);
  const Bytes small = ReduceGguf(
      file, [&](ByteSpan bytes) { return SameClass(ClassOf(bytes), kind); });
  EXPECT_TRUE(SameClass(ClassOf(small), kind));
  // Magic, version, counts, a key of one letter, its type and the value.
  EXPECT_EQ(small.size(), 24u + 8 + 1 + 4 + 1);
}

TEST(Reduce, RepairsTheLayoutWhereAByteCannotGo) {
  const Bytes file = File(R"(
gguf 3 3 2
kv "general.alignment" u32 64
kv "k" string "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
tensor "a" [16] F32 0
tensor "b" [16] F32 64
tensor "b" [16] F32 128
alignment 64
data
ramp 192
)");
  const FileClass kind = ClassOf(file);
  ASSERT_EQ(kind.ToString(), "reject gguf.tensor.name.duplicate");
  const Bytes small = ReduceGguf(
      file, [&](ByteSpan bytes) { return SameClass(ClassOf(bytes), kind); });
  EXPECT_TRUE(SameClass(ClassOf(small), kind));
  // candle, which takes the second, wants its data.
  EXPECT_LE(small.size(), file.size() / 2);
}

TEST(Reduce, OfNothingIsNothing) {
  EXPECT_TRUE(ReduceGguf({}, [](ByteSpan) { return true; }).empty());
}

const conformance::VectorSet& Committed() {
  static const auto kSet =
      conformance::LoadVectors(WEIGHTPROOF_SOURCE_DIR "/conformance/vectors");
  return *kSet;
}

TEST(Promote, MakesASoundRecipeThatMakesTheFileAgain) {
  const Bytes file = File("gguf 3 0 1\nkv \"a\" bool 7\n");
  const auto promoted = Promote(file, Committed(), {"", "A note."});
  ASSERT_TRUE(promoted.has_value()) << promoted.error();
  EXPECT_THAT(promoted->id, StartsWith("gguf.kv.bool.range-found_"));
  EXPECT_THAT(promoted->recipe, HasSubstr("verdict reject at 37"));
  EXPECT_THAT(promoted->recipe, HasSubstr("notes A note."));
  EXPECT_THAT(promoted->recipe, HasSubstr("kv \"a\" bool"));
  EXPECT_EQ(File(promoted->recipe), file);
  EXPECT_EQ(promoted->vector.expect.at("ggml").verdict, "accept");
}

TEST(Promote, ListsWhatTheSameBytesBreakBesides) {
  const auto promoted =
      Promote(File("gguf 3 0 1\nkv \"a\" bool 7\ntext \"tail\"\n"), Committed(),
              PromoteOptions{});
  ASSERT_TRUE(promoted.has_value()) << promoted.error();
  EXPECT_THAT(promoted->recipe,
              HasSubstr("masks gguf.data.padding.header_nonzero"));
}

TEST(Promote, AsksForTheRuleOfASoundFile) {
  const Bytes file = File("gguf 3 0 0\n");
  const auto promoted = Promote(file, Committed(), PromoteOptions{});
  ASSERT_FALSE(promoted.has_value());
  EXPECT_THAT(promoted.error(), HasSubstr("--rule"));
  EXPECT_TRUE(
      Promote(file, Committed(), {"gguf.header.file.minimal", ""}).has_value());
  EXPECT_FALSE(Promote(file, Committed(), {"gguf.no.such", ""}).has_value());
}

TEST(FileVector, ExpectsWhatTheReferenceSays) {
  const auto vector = FileVector(Busy());
  ASSERT_TRUE(vector.has_value());
  EXPECT_EQ(vector->rule, "gguf.kv.bool.range");
  EXPECT_EQ(vector->expect.at("spec").verdict, "reject");
  EXPECT_EQ(vector->expect.at("ggml").verdict, "accept");
  EXPECT_EQ(vector->dump.at("kv").size(), 6u);
}

// ---- tests for others ----

EmitCase Case(bool accept) {
  EmitCase about;
  about.name = "gguf.kv.bool.range-two";
  about.rule = "gguf.kv.bool.range";
  about.statement = "Bool byte other than 0 or 1";
  about.notes =
      "A note that is long enough to be wrapped, and then some more "
      "of it so that it is.";
  about.accept = accept;
  about.file = File("gguf 3 0 1\nkv \"a\" bool 7\n");
  return about;
}

class Emit : public ::testing::Test {
 protected:
  Emit()
      : dir_(fs::path(::testing::TempDir()) /
             ("emit" + std::to_string(getpid()))) {
    fs::create_directories(dir_);
  }
  ~Emit() override { fs::remove_all(dir_); }

  // Writes the test and lets a tool of its language look at it. The tool may
  // be missing: that is said, and is no success.
  void Checks(const std::string& language, const std::string& file,
              const std::string& tool, const std::string& command) {
    if (std::system(("command -v " + tool + " >/dev/null 2>&1").c_str()) != 0) {
      GTEST_SKIP() << "NOT RUN: no " << tool << " to look at " << language;
    }
    for (const bool accept : {false, true}) {
      const auto text = EmitTest(Case(accept), language);
      ASSERT_TRUE(text.has_value()) << text.error();
      EXPECT_THAT(*text, HasSubstr("gguf.kv.bool.range: Bool byte"));
      std::ofstream(dir_ / file) << *text;
      const std::string line =
          fmt::format("cd '{}' && {} >out 2>&1", dir_.string(), command);
      EXPECT_EQ(std::system(line.c_str()), 0) << Output() << *text;
    }
    // The tool does tell a broken text.
    std::ofstream(dir_ / file) << "fn func def ((\n";
    const std::string line =
        fmt::format("cd '{}' && {} >out 2>&1", dir_.string(), command);
    EXPECT_NE(std::system(line.c_str()), 0);
  }

  std::string Output() {
    std::ifstream in(dir_ / "out");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path dir_;
};

TEST_F(Emit, CppIsAProgram) {
  std::ofstream(dir_ / "gguf.h")
      << "struct ggml_context; struct gguf_context;\n"
         "struct gguf_init_params { bool no_alloc; ggml_context ** ctx; };\n"
         "gguf_context * gguf_init_from_file(const char *, gguf_init_params);\n"
         "void gguf_free(gguf_context *);\n";
  Checks("cpp", "case.cc", "g++",
         "g++ -std=c++17 -Wall -Wextra -Werror "
         "-fsyntax-only -I. case.cc");
}

TEST_F(Emit, PythonCompiles) {
  Checks("py", "case.py", "python3", "python3 -m py_compile case.py");
}

// Types of the library are not here: what is checked is the text.
TEST_F(Emit, RustIsWellFormed) {
  Checks("rust", "case.rs", "rustfmt", "rustfmt --edition 2021 case.rs");
}

TEST_F(Emit, GoIsWellFormed) {
  Checks("go", "case.go", "gofmt", "gofmt -l case.go");
}

TEST_F(Emit, TypeScriptIsWellFormed) {
  // Nothing in it but types' syntax differs from a module of JavaScript.
  Checks("ts", "case.mjs", "node", "node --check case.mjs");
}

TEST_F(Emit, RefusesWhatNobodyWants) {
  EmitCase about = Case(false);
  EXPECT_FALSE(EmitTest(about, "cobol").has_value());
  about.file.resize(100000);
  EXPECT_THAT(EmitTest(about, "py").error(), HasSubstr("minimise"));
  EXPECT_EQ(EmitLanguages().size(), 5u);
}

}  // namespace
}  // namespace weightproof::fuzzers
