#include "corpus/disassembler.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

#include "build_paths.h"
#include "corpus/assembler.h"

namespace weightproof::corpus {
namespace {

using testing::HasSubstr;

using ByteVector = std::vector<std::uint8_t>;

class DisassemblerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "disasmXXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Disassembles, assembles, compares. Returns the text.
  std::string RoundTrip(const ByteVector& file, const std::string& what,
                        const DisassembleOptions& options = {}) {
    const Disassembly out = Disassemble(file, options);
    if (!out.side.empty()) {
      EXPECT_TRUE(
          WriteSideFile(file, out, folder_ / options.side_name).has_value());
    }
    const auto back = Assemble(out.text, {folder_});
    if (!back) {
      ADD_FAILURE() << what << ": line " << back.error().line << ": "
                    << back.error().message << "\n"
                    << out.text.substr(0, 2000);
      return out.text;
    }
    const auto bytes = back->bytes.Materialize(std::uint64_t{1} << 26);
    EXPECT_TRUE(bytes.has_value() && *bytes == file)
        << what << "\n"
        << out.text.substr(0, 2000);
    return out.text;
  }

  ByteVector Make(std::string_view recipe) {
    const auto made = Assemble(recipe);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return *made->bytes.Materialize(1 << 24);
  }

  std::filesystem::path folder_;
};

TEST_F(DisassemblerTest, WritesTheMacrosOfASoundFile) {
  const ByteVector file = Make(R"(gguf 3 1 5
kv "general.alignment" u32 64
kv "a" string "te\"xt\n\0"
kv "b" array i16 [1, -2]
kv "c" array string ["x", ""]
kv "d" array array 1
array f32 [1.5]
alignment 64
tensor "t" [4, 2] F32 0
data
ramp 32
)");
  const std::string text = RoundTrip(file, "sound");
  EXPECT_THAT(text, HasSubstr("gguf 3 1 5"));
  EXPECT_THAT(text, HasSubstr("kv \"general.alignment\" u32 64\n"));
  EXPECT_THAT(text, HasSubstr("kv \"a\" string \"te\\\"xt\\n\\0\"\n"));
  EXPECT_THAT(text, HasSubstr("kv \"b\" array i16 2\ni16 1, -2"));
  EXPECT_THAT(text, HasSubstr("kv \"c\" array string 2\nstr \"x\"\nstr \"\""));
  EXPECT_THAT(text, HasSubstr("array f32 1\nf32 bits 0x3fc00000"));
  EXPECT_THAT(text, HasSubstr("tensor \"t\" [4, 2] 0 0\n"));
  EXPECT_THAT(text, HasSubstr("hex 01 02 03"));
}

TEST_F(DisassemblerTest, BigEndianAndVersionOneKeepTheirLayout) {
  for (const char* start :
       {"endian big\ngguf 3 1 2\n", "gguf 1 1 2\n", "gguf 2 1 2\n"}) {
    const ByteVector file = Make(std::string(start) + R"(
kv "a" u64 0x0102030405060708
kv "b" array f64 [0.5, -1]
tensor "t" [8] F32 0
data
ramp 32
)");
    const std::string text = RoundTrip(file, start);
    EXPECT_THAT(text, HasSubstr("kv \"a\" u64 72623859790382856"));
  }
}

TEST_F(DisassemblerTest, EveryRecipeComesBack) {
  int files = 0;
  const std::filesystem::path recipes =
      WEIGHTPROOF_SOURCE_DIR "/corpus/recipes/gguf";
  for (const auto& entry : std::filesystem::directory_iterator(recipes)) {
    if (entry.path().extension() != ".recipe") continue;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto all = AssembleAll(text, {recipes});
    ASSERT_TRUE(all.has_value()) << entry.path() << all.error().message;
    for (const Assembly& assembly : *all) {
      std::vector<Bytes> parts{assembly.bytes};
      for (const AssembledFile& file : assembly.files) {
        parts.push_back(file.bytes);
      }
      for (const Bytes& part : parts) {
        const auto bytes = part.Materialize(1 << 24);
        if (!bytes) continue;  // giants have a test of their own
        RoundTrip(*bytes, assembly.recipe.id);
        ++files;
      }
    }
  }
  EXPECT_GE(files, 300);
}

TEST_F(DisassemblerTest, EveryPrefixComesBack) {
  const ByteVector file = Make(R"(gguf 3 2 4
kv "a" u32 1
kv "b" string "text"
kv "c" array string ["x", "yz"]
kv "d" array array 2
array u8 [1, 2]
array string ["q"]
tensor "t" [4, 2] F32 0
tensor "u" [] F32 32
data
ramp 36
)");
  for (std::size_t size = 0; size <= file.size(); ++size) {
    RoundTrip({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)},
              "prefix of " + std::to_string(size));
  }
}

TEST_F(DisassemblerTest, BrokenFilesComeBack) {
  const ByteVector file = Make(R"(gguf 3 1 3
kv "a" u32 1
kv "b" string "text"
kv "c" array string ["x", "yz"]
tensor "t" [4, 2] F32 0
data
ramp 32
)");
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const std::uint8_t value : {0x00, 0x01, 0x09, 0x80, 0xff}) {
      ByteVector changed = file;
      changed[at] = value;
      RoundTrip(changed, "byte " + std::to_string(at));
    }
  }
  for (int round = 0; round < 500; ++round) {
    ByteVector changed = file;
    for (int i = 0; i < 4; ++i) {
      changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
    }
    RoundTrip(changed, "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

TEST_F(DisassemblerTest, RandomBytesComeBack) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    ByteVector file(random() % 600);
    const unsigned values = 1 + random() % 256;
    for (auto& byte : file) byte = static_cast<std::uint8_t>(random() % values);
    RoundTrip(file, "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

TEST_F(DisassemblerTest, LongMixedRunsGoToTheSideFile) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  ByteVector file = Make(
      "gguf 3 2 1\nkv \"k\" array u8 70000\nramp 70000\n"
      "tensor \"t\" [25000] F32 0\n"
      "tensor \"u\" [16384] F32 100000\ndata");
  for (int i = 0; i < 100000; ++i) {
    file.push_back(static_cast<std::uint8_t>(random()));
  }
  file.resize(file.size() + 65536, 0x5A);
  DisassembleOptions options;
  options.side_name = "a \"quoted\" name.bin";
  options.header = "recipe big\nrule x";
  const std::string text = RoundTrip(file, "side", options);
  EXPECT_THAT(text, HasSubstr("recipe big\nrule x\n"));
  EXPECT_THAT(text, HasSubstr("from 0 size 70000"));
  EXPECT_THAT(text, HasSubstr("from 70000 size 100000"));
  EXPECT_THAT(text, HasSubstr("fill 65536 0x5a"));
  EXPECT_LT(text.size(), 1000u);
}

TEST_F(DisassemblerTest, BytesBeforeTheBaseAreKept) {
  const ByteVector file = Make("fill 8 0xEE\ngguf 3 0 1\nkv \"a\" u8 7\nu8 1");
  DisassembleOptions options;
  options.base = 8;
  const std::string text = RoundTrip(file, "base", options);
  EXPECT_THAT(text, HasSubstr("kv \"a\" u8 7"));
}

TEST_F(DisassemblerTest, HolesStayHoles) {
  const auto giant = Assemble(R"(gguf 3 2 0
tensor "a" [2^38] F32 0
tensor "b" [8] F32 2^40
data
hole 2^40
ramp 32
)");
  ASSERT_TRUE(giant.has_value());
  const auto path = folder_ / "giant";
  ASSERT_TRUE(giant->bytes.WriteFile(path).has_value());
  const std::uint64_t size = giant->bytes.Size();
  const int fd = open(path.c_str(), O_RDONLY);
  ASSERT_GE(fd, 0);
  void* const map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  ASSERT_NE(map, MAP_FAILED);
  const std::span file(static_cast<const std::uint8_t*>(map), size);
  DisassembleOptions options;
  options.holes = FindHoles(path);
  ASSERT_EQ(options.holes.size(), 1u);
  const Disassembly out = Disassemble(file, options);
  munmap(map, size);
  EXPECT_TRUE(out.side.empty());
  EXPECT_THAT(out.text, HasSubstr("hole 1099"));
  const auto back = Assemble(out.text);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(back->bytes.Size(), size);
  // What is not in the hole is the same.
  const auto ends = [](const Bytes& bytes) {
    std::vector<std::uint8_t> all;
    for (const Chunk& chunk : bytes.chunks) {
      if (std::holds_alternative<Zero>(chunk)) continue;
      const auto part = Bytes{{chunk}}.Materialize(1 << 20);
      all.insert(all.end(), part->begin(), part->end());
    }
    std::erase(all, 0);
    return all;
  };
  EXPECT_EQ(ends(back->bytes), ends(giant->bytes));
}

TEST_F(DisassemblerTest, AnUnwritableSideFileIsAnError) {
  const ByteVector file(3, 1);
  const Disassembly out{"", {{0, 3}}};
  const auto got = WriteSideFile(file, out, folder_ / "no" / "such");
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error(), HasSubstr("such"));
}

}  // namespace
}  // namespace weightproof::corpus
