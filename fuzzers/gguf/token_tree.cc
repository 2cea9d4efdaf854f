#include "fuzzers/gguf/token_tree.h"

#include <algorithm>
#include <utility>

#include "reference/gguf/types.h"

namespace weightproof::fuzzers {
namespace {

using gguf::Field;
using gguf::FieldKind;

bool IsNumber(FieldKind kind) {
  switch (kind) {
    case FieldKind::kVersion:
    case FieldKind::kCount:
    case FieldKind::kLength:
    case FieldKind::kType:
    case FieldKind::kScalar:
    case FieldKind::kDim:
    case FieldKind::kOffset:
      return true;
    default:
      return false;
  }
}

std::uint64_t Load(ByteSpan bytes, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t place = big_endian ? bytes.size() - 1 - i : i;
    value |= std::uint64_t{bytes[place]} << (8 * i);
  }
  return value;
}

void Store(std::uint64_t value, std::uint64_t width, bool big_endian,
           Bytes& out) {
  for (std::uint64_t i = 0; i < width; ++i) {
    const std::uint64_t place = big_endian ? width - 1 - i : i;
    out.push_back(static_cast<std::uint8_t>(value >> (8 * place)));
  }
}

// The number between the first brackets of a path ("data.tensor[3]").
std::uint64_t IndexIn(std::string_view path) {
  std::uint64_t index = 0;
  const std::size_t open = path.find('[');
  if (open == path.npos) return 0;
  for (std::size_t i = open + 1; i < path.size() && path[i] != ']'; ++i) {
    index = index * 10 + static_cast<std::uint64_t>(path[i] - '0');
  }
  return index;
}

class TreeBuilder {
 public:
  explicit TreeBuilder(ByteSpan file) : file_(file) {}

  TokenTree Build() {
    gguf::Input input;
    input.prefix = file_;
    input.file_size = file_.size();
    const gguf::FieldWalk walk = gguf::VisitFields(
        input, [this](const Field& field) { Add(field); }, false);
    tree_.version = walk.version;
    tree_.big_endian = walk.big_endian;
    // Numbers are read only now that the byte order is known.
    for (const auto& [token, field] : numbers_) {
      PlaceOf(token).number =
          Load(file_.subspan(field.first, field.second), walk.big_endian);
    }
    return std::move(tree_);
  }

 private:
  struct Place {
    Tokens* list = nullptr;
    int part = 0;  // 0 front, 1 kv, 2 tensor, 3 rest
    std::size_t entry = 0, index = 0;
  };

  void Add(const Field& field) {
    Token token;
    token.kind = field.kind;
    token.depth = field.depth;
    token.type = field.type;
    token.tensor_type = field.tensor_type;
    const std::string_view path = field.path;
    if (field.kind == FieldKind::kData) token.number = IndexIn(path);
    Place place;
    if (path.starts_with("kv[")) {
      if (path.ends_with(".key.len")) tree_.kvs.emplace_back().reserve(5);
      place.part = 1;
    } else if (path.starts_with("tensor[")) {
      if (path.ends_with(".name.len")) tree_.tensors.emplace_back().reserve(8);
      place.part = 2;
    } else if (!path.starts_with("header.") && path != "base") {
      place.part = 3;
    }
    Tokens& list = ListOf(place);
    place.index = list.size();
    const auto offset = static_cast<std::size_t>(field.offset);
    const auto size = static_cast<std::size_t>(field.size);
    if (IsNumber(field.kind)) {
      numbers_.push_back({place, {offset, size}});
    } else {
      const ByteSpan bytes = file_.subspan(offset, size);
      token.bytes.assign(bytes.begin(), bytes.end());
    }
    list.push_back(std::move(token));
  }

  Tokens& ListOf(Place& place) {
    switch (place.part) {
      case 0:
        return tree_.front;
      case 1:
        place.entry = tree_.kvs.size() - 1;
        return tree_.kvs.back();
      case 2:
        place.entry = tree_.tensors.size() - 1;
        return tree_.tensors.back();
      default:
        return tree_.rest;
    }
  }

  Token& PlaceOf(const Place& place) {
    switch (place.part) {
      case 0:
        return tree_.front[place.index];
      case 1:
        return tree_.kvs[place.entry][place.index];
      case 2:
        return tree_.tensors[place.entry][place.index];
      default:
        return tree_.rest[place.index];
    }
  }

  ByteSpan file_;
  TokenTree tree_;
  std::vector<std::pair<Place, std::pair<std::size_t, std::size_t>>> numbers_;
};

void Append(const TokenTree& tree, const Tokens& tokens, Bytes& out) {
  for (const Token& token : tokens) {
    if (IsNumber(token.kind)) {
      Store(token.number, SizeOf(tree, token), tree.big_endian, out);
    } else {
      out.insert(out.end(), token.bytes.begin(), token.bytes.end());
    }
  }
}

}  // namespace

TokenTree ParseTokens(ByteSpan file) { return TreeBuilder(file).Build(); }

std::uint64_t SizeOf(const TokenTree& tree, const Token& token) {
  const std::uint64_t length = tree.version == 1 ? 4 : 8;
  switch (token.kind) {
    case FieldKind::kVersion:
    case FieldKind::kType:
      return 4;
    case FieldKind::kCount:
      return token.depth == 0 ? length : 4;
    case FieldKind::kLength:
    case FieldKind::kDim:
      return length;
    case FieldKind::kScalar:
      return gguf::ValueWidth(token.type);
    case FieldKind::kOffset:
      return 8;
    default:
      return token.bytes.size();
  }
}

Bytes Serialize(const TokenTree& tree) {
  Bytes out;
  Append(tree, tree.front, out);
  for (const Tokens& kv : tree.kvs) Append(tree, kv, out);
  for (const Tokens& tensor : tree.tensors) Append(tree, tensor, out);
  Append(tree, tree.rest, out);
  return out;
}

TokenTree EmptyFile(std::uint32_t version, bool big_endian) {
  TokenTree tree;
  tree.version = version;
  tree.big_endian = big_endian;
  tree.front.push_back(BytesToken(FieldKind::kMagic, {'G', 'G', 'U', 'F'}, 0));
  tree.front.push_back(NumberToken(FieldKind::kVersion, version, 0));
  tree.front.push_back(NumberToken(FieldKind::kCount, 0, 0));
  tree.front.push_back(NumberToken(FieldKind::kCount, 0, 0));
  return tree;
}

Token NumberToken(FieldKind kind, std::uint64_t number, int depth,
                  std::uint32_t type) {
  Token token;
  token.kind = kind;
  token.depth = depth;
  token.number = number;
  token.type = type;
  return token;
}

Token BytesToken(FieldKind kind, Bytes bytes, int depth, std::uint32_t type) {
  Token token;
  token.kind = kind;
  token.depth = depth;
  token.bytes = std::move(bytes);
  token.type = type;
  return token;
}

void AppendText(Tokens& tokens, Bytes text, int depth) {
  tokens.push_back(
      NumberToken(FieldKind::kLength, text.size(), depth, gguf::kString));
  tokens.push_back(BytesToken(FieldKind::kText, std::move(text), depth));
}

std::string_view NameOf(const Tokens& entry) {
  if (entry.size() < 2 || entry[1].kind != FieldKind::kText) return {};
  return {reinterpret_cast<const char*>(entry[1].bytes.data()),
          entry[1].bytes.size()};
}

std::uint64_t AlignmentOf(const TokenTree& tree) {
  std::uint64_t alignment = 32;
  for (const Tokens& kv : tree.kvs) {
    if (kv.size() < 4 || NameOf(kv) != "general.alignment") continue;
    const Token& value = kv[3];
    const bool usable = value.kind == FieldKind::kScalar &&
                        value.type == gguf::kU32 && value.number >= 1 &&
                        value.number <= 65536;
    alignment = usable ? value.number : 32;
  }
  return alignment;
}

}  // namespace weightproof::fuzzers
