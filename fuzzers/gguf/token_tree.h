// A GGUF file as tokens that can be changed one by one and put together again.
//
// The structure is what the reference's field visitor tells
// (reference/gguf/fields.h): there is no other parser here. Broken files have
// tokens too; what the visitor cannot tell apart is one token of kind
// kUnparsed.
#ifndef WEIGHTPROOF_FUZZERS_GGUF_TOKEN_TREE_H_
#define WEIGHTPROOF_FUZZERS_GGUF_TOKEN_TREE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "fuzzers/entropy.h"
#include "reference/gguf/fields.h"

namespace weightproof::fuzzers {

struct Token {
  gguf::FieldKind kind = gguf::FieldKind::kUnparsed;
  int depth = 0;  // as in gguf::Field: elements lie one deeper than the array
  // kVersion, kCount, kLength, kType, kDim, kOffset, kScalar: the number.
  // kData: the index of the tensor.
  std::uint64_t number = 0;
  // kScalar, kItems: the ValueType. kLength: kString or kArray.
  std::uint32_t type = 0;
  bool tensor_type = false;  // kType: of a tensor
  Bytes bytes;               // all other kinds, in the file's byte order
};
using Tokens = std::vector<Token>;

struct TokenTree {
  std::uint32_t version = 3;  // decides widths: 1 has 32-bit lengths
  bool big_endian = false;
  Tokens front;                 // base, magic, version, tensor and kv count
  std::vector<Tokens> kvs;      // each: key length, key, type, value
  std::vector<Tokens> tensors;  // each: name length, name, n_dims, dims ...
  Tokens rest;                  // padding, data, gaps, trailing, unparsed
};

// Serialize(ParseTokens(file)) == file, for any bytes.
TokenTree ParseTokens(ByteSpan file);
Bytes Serialize(const TokenTree& tree);
// Bytes that a token takes in this file.
std::uint64_t SizeOf(const TokenTree& tree, const Token& token);

// ---- building ----

// An empty file: header with both counts 0.
TokenTree EmptyFile(std::uint32_t version, bool big_endian);
Token NumberToken(gguf::FieldKind kind, std::uint64_t number, int depth = 1,
                  std::uint32_t type = 0);
Token BytesToken(gguf::FieldKind kind, Bytes bytes, int depth = 1,
                 std::uint32_t type = 0);
// A length and a text.
void AppendText(Tokens& tokens, Bytes text, int depth = 1);

// ---- looking ----

// The key or name of an entry; empty if it is broken.
std::string_view NameOf(const Tokens& entry);
// The alignment as the file states it if it is usable and at most 65,536,
// else 32.
std::uint64_t AlignmentOf(const TokenTree& tree);

// ---- repairing what depends on a change ----

// How RefixLayout places the data of tensors.
enum class Placement : std::uint8_t {
  kPacked,  // one after another in table order, padded
  kKept,    // at the offsets as they are
};

// Lengths of texts, counts of elements, dims and entries.
void RefixLengths(TokenTree& tree);
// Padding, offsets, and the data part: as many bytes as dims and types ask
// for. Tensors whose size is unknown or would make the data part larger than
// 64 KiB are taken as empty.
void RefixLayout(TokenTree& tree, Placement placement);
// Turns the file's byte order round, or makes it a file of another version,
// without changing what it says.
void Convert(TokenTree& tree, std::uint32_t version, bool big_endian);

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GGUF_TOKEN_TREE_H_
