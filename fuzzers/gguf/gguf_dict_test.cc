// The dictionary: it is one, and each entry occurs in a valid file.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "build_paths.h"
#include "fuzzers/dictionary.h"
#include "fuzzers/gguf/oracle.h"
#include "fuzzers/gguf/token_tree.h"
#include "impls/registry.h"
#include "reference/gguf/types.h"

namespace weightproof::fuzzers {
namespace {

using gguf::FieldKind;

TEST(Dictionary, NamesTheLineOfABadEscape) {
  EXPECT_EQ(ParseDictionary("# x\n\na=\"\\x0g\"\n").error(),
            "line 3: bad escape '\\x0g'");
  EXPECT_EQ(ParseDictionary("a=\"x\"\nb=\"\\n\"").error(),
            "line 2: bad escape '\\n'");
  EXPECT_EQ(ParseDictionary("\"\\x4\"").error(), "line 1: bad escape '\\x4'");
  EXPECT_EQ(ParseDictionary("a=\"a\"b\"").error(),
            "line 1: a quote inside the token");
  EXPECT_EQ(ParseDictionary("a=\"\"").error(), "line 1: an empty token");
  EXPECT_EQ(ParseDictionary("a=b").error(), "line 1: expected NAME=\"TOKEN\"");
  EXPECT_EQ(ParseDictionary("a=\"").error(), "line 1: expected NAME=\"TOKEN\"");
}

TEST(Dictionary, ReadsNamesAndEscapes) {
  const auto read = ParseDictionary("a=\"\\\\\\\"\\x00\\xFf\"\r\n\"b\"");
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].name, "a");
  EXPECT_EQ((*read)[0].token, (Bytes{'\\', '"', 0, 0xff}));
  EXPECT_EQ((*read)[1].line, 2);
}

Tokens Key(std::string_view key, std::uint32_t type) {
  Tokens kv;
  AppendText(kv, Bytes(key.begin(), key.end()));
  kv.push_back(NumberToken(FieldKind::kType, type));
  return kv;
}

// A valid file with all value types, all arrays, all tensor types, and the
// names that people use.
TokenTree Everything(std::uint32_t version, bool big_endian,
                     std::uint64_t alignment) {
  TokenTree tree = EmptyFile(version, big_endian);
  for (const char* key :
       {"general.architecture", "general.name", "general.file_type",
        "general.quantization_version", "tokenizer.ggml.tokens", "split.count",
        "split.no", "split.tensors.count"}) {
    tree.kvs.push_back(Key(key, gguf::kU8));
    tree.kvs.back().push_back(NumberToken(FieldKind::kScalar, 1, 1, gguf::kU8));
  }
  for (std::uint32_t type = 0; type < gguf::kValueTypes; ++type) {
    if (type != gguf::kString && type != gguf::kArray) {
      tree.kvs.push_back(Key("s" + std::to_string(type), type));
      tree.kvs.back().push_back(NumberToken(FieldKind::kScalar, 1, 1, type));
    }
    tree.kvs.push_back(Key("a" + std::to_string(type), gguf::kArray));
    tree.kvs.back().push_back(NumberToken(FieldKind::kType, type));
    tree.kvs.back().push_back(
        NumberToken(FieldKind::kLength, 0, 1, gguf::kArray));
  }
  tree.kvs.push_back(Key("general.alignment", gguf::kU32));
  tree.kvs.back().push_back(
      NumberToken(FieldKind::kScalar, alignment, 1, gguf::kU32));
  std::vector<std::string> names = {"token_embd.weight", "blk.0.attn_q.weight",
                                    "output_norm.weight"};
  for (const gguf::TensorType& type : gguf::TensorTypes()) {
    const std::size_t i = tree.tensors.size();
    const std::string name =
        i < names.size() ? names[i] : "t" + std::to_string(i);
    Tokens tensor;
    AppendText(tensor, Bytes(name.begin(), name.end()));
    const std::uint64_t n_dims = 1 + i % 4;
    tensor.push_back(NumberToken(FieldKind::kCount, n_dims));
    for (std::uint64_t k = 0; k < n_dims; ++k) {
      const std::uint64_t row =
          type.block_elements > 1 ? type.block_elements : 32;
      tensor.push_back(NumberToken(FieldKind::kDim, k == 0   ? row
                                                    : k == 1 ? 0
                                                             : 64 * k));
    }
    Token id = NumberToken(FieldKind::kType, type.id);
    id.tensor_type = true;
    tensor.push_back(id);
    tensor.push_back(NumberToken(FieldKind::kOffset, 0));
    tree.tensors.push_back(std::move(tensor));
  }
  RefixLengths(tree);
  RefixLayout(tree, Placement::kPacked);
  return tree;
}

TEST(Dictionary, OfGgufHoldsNothingThatNoFileHolds) {
  std::vector<Bytes> files;
  for (const std::uint32_t version : {1u, 2u, 3u}) {
    files.push_back(Serialize(Everything(version, false, 32)));
  }
  files.push_back(Serialize(Everything(3, false, 64)));
  files.push_back(Serialize(Everything(3, true, 8)));
  for (const Bytes& file : files) {
    GgufAnswer answer;
    AskGguf(*impls::FindBuiltIn("reference"), file, {}, answer);
    ASSERT_EQ(answer.Describe(), "accept");
  }
  std::ifstream in(WEIGHTPROOF_SOURCE_DIR "/fuzzers/gguf/gguf.dict",
                   std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  const auto dictionary = ParseDictionary(text.str());
  ASSERT_TRUE(dictionary.has_value()) << dictionary.error();
  EXPECT_GT(dictionary->size(), 100u);
  for (const DictionaryEntry& entry : *dictionary) {
    const bool found = std::ranges::any_of(files, [&](const Bytes& file) {
      return !std::ranges::search(file, entry.token).empty();
    });
    EXPECT_TRUE(found) << "line " << entry.line << ": " << entry.name;
  }
}

}  // namespace
}  // namespace weightproof::fuzzers
