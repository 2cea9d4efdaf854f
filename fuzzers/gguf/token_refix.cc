// Repairing what depends on a change of a token tree.
#include <algorithm>
#include <optional>
#include <utility>

#include "fuzzers/gguf/token_tree.h"
#include "reference/gguf/types.h"

namespace weightproof::fuzzers {
namespace {

using gguf::FieldKind;

constexpr std::uint64_t kMaxData = 65536;

// Elements of the array whose length field stands at index: what follows one
// level deeper, each starting with a length (strings) or a type (arrays).
std::uint64_t CountElements(const Tokens& tokens, std::size_t index) {
  const int inside = tokens[index].depth + 1;
  std::uint64_t count = 0;
  for (std::size_t i = index + 1; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.depth < inside) break;
    if (token.depth > inside) continue;
    if (token.kind == FieldKind::kItems) {
      const std::uint64_t width = gguf::ValueWidth(token.type);
      return width == 0 ? 0 : token.bytes.size() / width;
    }
    const bool string =
        token.kind == FieldKind::kLength && token.type == gguf::kString;
    if (string || token.kind == FieldKind::kType) ++count;
  }
  return count;
}

void RefixEntry(Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Token& token = tokens[i];
    if (token.kind == FieldKind::kLength) {
      if (token.type == gguf::kArray) {
        token.number = CountElements(tokens, i);
      } else if (i + 1 < tokens.size() &&
                 tokens[i + 1].kind == FieldKind::kText) {
        token.number = tokens[i + 1].bytes.size();
      }
    } else if (token.kind == FieldKind::kCount) {
      token.number = static_cast<std::uint64_t>(
          std::ranges::count(tokens, FieldKind::kDim, &Token::kind));
    }
  }
}

std::uint64_t RoundUp(std::uint64_t x, std::uint64_t alignment) {
  return (x + alignment - 1) / alignment * alignment;
}

std::uint64_t SizeOf(const TokenTree& tree, const Tokens& tokens) {
  std::uint64_t size = 0;
  for (const Token& token : tokens) size += SizeOf(tree, token);
  return size;
}

// Bytes of a tensor's data; 0 if that is unknown or too much.
std::uint64_t DataSize(const Tokens& tensor) {
  std::uint64_t elements = 1, row = 1;
  bool first = true, empty = false, large = false;
  const gguf::TensorType* type = nullptr;
  for (const Token& token : tensor) {
    if (token.kind == FieldKind::kDim) {
      if (first) row = token.number;
      first = false;
      empty |= token.number == 0;
      large |= token.number > kMaxData * 256;
      if (!large) elements *= token.number;
      large |= elements > kMaxData * 256;
    } else if (token.kind == FieldKind::kType) {
      type = gguf::FindTensorType(static_cast<std::uint32_t>(token.number));
    }
  }
  if (empty || large || type == nullptr || row % type->block_elements != 0) {
    return 0;
  }
  const std::uint64_t size =
      elements / type->block_elements * type->block_bytes;
  return size > kMaxData ? 0 : size;
}

Token* OffsetOf(Tokens& tensor) {
  const auto it = std::ranges::find(tensor, FieldKind::kOffset, &Token::kind);
  return it == tensor.end() ? nullptr : &*it;
}

// The data of a tensor as it is in the file now, up to size bytes, and bytes
// that tell tensors apart where there is none.
Bytes DataOf(const TokenTree& tree, std::size_t index, std::uint64_t size) {
  Bytes data;
  for (const Token& token : tree.rest) {
    if (token.kind == FieldKind::kData && token.number == index) {
      data.insert(data.end(), token.bytes.begin(), token.bytes.end());
    }
  }
  data.resize(static_cast<std::size_t>(size),
              static_cast<std::uint8_t>(0x11 + index));
  return data;
}

}  // namespace

void RefixLengths(TokenTree& tree) {
  for (Tokens& kv : tree.kvs) RefixEntry(kv);
  for (Tokens& tensor : tree.tensors) RefixEntry(tensor);
  std::size_t count = 0;
  for (Token& token : tree.front) {
    if (token.kind != FieldKind::kCount) continue;
    token.number = count++ == 0 ? tree.tensors.size() : tree.kvs.size();
  }
}

void RefixLayout(TokenTree& tree, Placement placement) {
  const bool broken = std::ranges::any_of(tree.rest, [](const Token& token) {
    return token.kind == FieldKind::kUnparsed;
  });
  if (broken && tree.tensors.empty()) return;
  const std::uint64_t alignment = AlignmentOf(tree);
  struct Piece {
    std::uint64_t offset;
    Bytes data;
  };
  std::vector<Piece> pieces;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < tree.tensors.size(); ++i) {
    Token* offset = OffsetOf(tree.tensors[i]);
    if (offset == nullptr) continue;
    std::uint64_t size = DataSize(tree.tensors[i]);
    if (placement == Placement::kPacked) {
      if (end + size > kMaxData) size = 0;
      offset->number = end;
    } else if (offset->number > kMaxData - std::min(size, kMaxData)) {
      continue;
    }
    pieces.push_back({offset->number, DataOf(tree, i, size)});
    end = std::max(end, RoundUp(offset->number + size, alignment));
  }
  std::uint64_t at = SizeOf(tree, tree.front);
  for (const Tokens& kv : tree.kvs) at += SizeOf(tree, kv);
  for (const Tokens& tensor : tree.tensors) at += SizeOf(tree, tensor);
  Bytes image(static_cast<std::size_t>(end));
  for (const Piece& piece : pieces) {
    std::ranges::copy(
        piece.data, image.begin() + static_cast<std::ptrdiff_t>(piece.offset));
  }
  Bytes trailing;
  for (const Token& token : tree.rest) {
    if (token.kind == FieldKind::kTrailing) trailing = token.bytes;
  }
  tree.rest.clear();
  if (tree.tensors.empty()) {
    tree.rest.push_back(
        BytesToken(FieldKind::kTrailing, std::move(trailing), 0));
    return;
  }
  tree.rest.push_back(BytesToken(
      FieldKind::kPadding,
      Bytes(static_cast<std::size_t>(RoundUp(at, alignment) - at)), 0));
  tree.rest.push_back(BytesToken(FieldKind::kData, std::move(image), 0));
  tree.rest.push_back(BytesToken(FieldKind::kTrailing, std::move(trailing), 0));
}

void Convert(TokenTree& tree, std::uint32_t version, bool big_endian) {
  const bool turn = tree.big_endian != big_endian;
  for (Tokens& kv : tree.kvs) {
    for (Token& token : kv) {
      if (!turn || token.kind != FieldKind::kItems) continue;
      const std::size_t width =
          static_cast<std::size_t>(gguf::ValueWidth(token.type));
      for (std::size_t i = 0; width > 1 && i + width <= token.bytes.size();
           i += width) {
        const auto begin = token.bytes.begin() + static_cast<std::ptrdiff_t>(i);
        std::reverse(begin, begin + static_cast<std::ptrdiff_t>(width));
      }
    }
  }
  tree.version = version;
  tree.big_endian = big_endian;
  for (Token& token : tree.front) {
    if (token.kind == FieldKind::kVersion) token.number = version;
  }
}

}  // namespace weightproof::fuzzers
