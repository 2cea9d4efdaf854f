#include "fuzzers/gguf/mutator_edges.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "fuzzers/gguf/generator.h"
#include "reference/gguf/types.h"

namespace weightproof::fuzzers {
namespace {

using gguf::FieldKind;

Bytes BytesOf(std::string_view text) { return {text.begin(), text.end()}; }

// What stands behind a wrong magic stays as it is, to be read or not.
bool ChangeMagic(TokenTree& tree, Random& random) {
  constexpr std::array<std::string_view, 8> kMagics = {
      "gguf", "FUGG", "fugg", "GGML", "ggjt", "GGUf", "GGMF", "GGUF"};
  for (Token& token : tree.front) {
    if (token.kind != FieldKind::kMagic) continue;
    token.bytes = BytesOf(kMagics[random.Below(kMagics.size())]);
  }
  if (random.OneIn(2) && tree.version >= 1 && tree.version <= 3) {
    const auto version = static_cast<std::uint32_t>(1 + random.Below(3));
    Convert(tree, version, random.OneIn(2));
    return true;
  }
  return false;
}

// Dims for about so many bytes; false if the type is not known.
bool Enlarge(Tokens& tensor, std::uint64_t bytes) {
  const gguf::TensorType* type = nullptr;
  for (const Token& token : tensor) {
    if (token.kind == FieldKind::kType) {
      type = gguf::FindTensorType(static_cast<std::uint32_t>(token.number));
    }
  }
  if (type == nullptr) return false;
  const std::uint64_t blocks = bytes / type->block_bytes;
  std::uint64_t dim = 0;
  if (__builtin_mul_overflow(blocks, type->block_elements, &dim)) return false;
  for (Token& token : tensor) {
    if (token.kind == FieldKind::kDim) token.number = std::exchange(dim, 1);
  }
  return true;
}

void AddTensor(TokenTree& tree, Random& random) {
  const Bytes bytes = random.Take(32);
  Entropy entropy(bytes);
  tree.tensors.push_back(GenerateTensor(entropy));
}

// One tensor or all of them, which then have more than 64 bits in sum.
bool MakeHuge(TokenTree& tree, Random& random) {
  constexpr std::array<int, 6> kPowers = {31, 32, 61, 62, 63, 64};
  const int power = kPowers[random.Below(kPowers.size())];
  const std::uint64_t bytes =
      (power == 64 ? 0 : std::uint64_t{1} << power) - 32 * random.Below(9);
  while (tree.tensors.size() < 2) AddTensor(tree, random);
  if (random.OneIn(2)) {
    for (Tokens& tensor : tree.tensors) Enlarge(tensor, bytes);
  } else {
    Enlarge(tree.tensors[random.Below(tree.tensors.size())], bytes);
  }
  return true;
}

bool NestDeeply(TokenTree& tree, Random& random) {
  constexpr std::array<int, 10> kLevels = {2, 4, 5, 16, 32, 62, 63, 64, 65, 66};
  const int levels = kLevels[random.Below(kLevels.size())];
  Tokens kv;
  AppendText(kv, BytesOf(fmt::format("deep{}", levels)));
  kv.push_back(NumberToken(FieldKind::kType, gguf::kArray));
  const bool empty = random.OneIn(3);
  for (int depth = 1; depth <= levels; ++depth) {
    const bool last = depth == levels;
    kv.push_back(
        NumberToken(FieldKind::kType, last ? gguf::kU8 : gguf::kArray, depth));
    kv.push_back(NumberToken(FieldKind::kLength, last && empty ? 0 : 1, depth,
                             gguf::kArray));
  }
  kv.push_back(BytesToken(FieldKind::kItems, Bytes(empty ? 0 : 1), levels + 1,
                          gguf::kU8));
  tree.kvs.push_back(std::move(kv));
  return true;
}

// Read as one text, the length in between completes the character.
bool CutCharacter(TokenTree& tree, Random& random) {
  constexpr std::array<std::string_view, 4> kHeads = {"\xc3", "\xe2\x96",
                                                      "\xe2", "\xf0\x90\x80"};
  constexpr std::array<std::size_t, 6> kSizes = {126, 127, 128, 150, 191, 192};
  const std::size_t size = kSizes[random.Below(kSizes.size())];
  Tokens kv;
  AppendText(kv, BytesOf(fmt::format("cut{}", size)));
  kv.push_back(NumberToken(FieldKind::kType, gguf::kArray));
  kv.push_back(NumberToken(FieldKind::kType, gguf::kString));
  const std::uint64_t count = 2 + random.Below(4);
  const std::uint64_t cut = random.Below(count);
  kv.push_back(NumberToken(FieldKind::kLength, count, 1, gguf::kArray));
  for (std::uint64_t i = 0; i < count; ++i) {
    Bytes text(i > cut ? size : random.Below(size), 'c');
    if (i == cut) {
      const std::string_view head = kHeads[random.Below(kHeads.size())];
      text.insert(text.end(), head.begin(), head.end());
    }
    AppendText(kv, std::move(text), 2);
  }
  tree.kvs.push_back(std::move(kv));
  return true;
}

bool AddMany(TokenTree& tree, Random& random) {
  constexpr std::array<std::size_t, 5> kCounts = {3, 17, 33, 65, 100};
  const std::size_t count = kCounts[random.Below(kCounts.size())];
  const bool tensors = random.OneIn(2);
  std::vector<Tokens>& entries = tensors ? tree.tensors : tree.kvs;
  const std::uint64_t first = entries.size();
  for (std::size_t i = 0; i < count; ++i) {
    Tokens entry;
    AppendText(entry, BytesOf(fmt::format("m{}", first + i)));
    if (tensors) {
      entry.push_back(NumberToken(FieldKind::kCount, 1));
      entry.push_back(NumberToken(FieldKind::kDim, random.Below(2)));
    }
    entry.push_back(NumberToken(FieldKind::kType, gguf::kU8));
    entry.back().tensor_type = tensors;
    entry.push_back(tensors ? NumberToken(FieldKind::kOffset, 0)
                            : NumberToken(FieldKind::kScalar, i, 1, gguf::kU8));
    entries.push_back(std::move(entry));
  }
  if (random.OneIn(3)) return true;
  // Names that are the same, or would be if they ended at a NUL.
  const auto some = [&]() -> Bytes& {
    return entries[first + random.Below(count)][1].bytes;
  };
  Bytes& name = entries.back()[1].bytes;
  name = random.OneIn(2)
             ? BytesOf(NameOf(entries[random.Below(entries.size())]))
             : some();
  if (random.OneIn(2)) return true;
  for (std::uint64_t more = random.Below(3); more > 0; --more) {
    some().push_back(0);
  }
  name.push_back(0);
  return true;
}

bool LengthenArray(TokenTree& tree, Random& random) {
  constexpr std::array<std::uint32_t, 5> kTypes = {
      gguf::kU8, gguf::kI16, gguf::kU32, gguf::kF32, gguf::kU64};
  const std::uint32_t type = kTypes[random.Below(kTypes.size())];
  const std::uint64_t width = gguf::ValueWidth(type);
  const std::uint64_t count = 4096 / width - 1 + random.Below(4);
  Tokens kv;
  AppendText(kv, BytesOf(fmt::format("long{}", type)));
  kv.push_back(NumberToken(FieldKind::kType, gguf::kArray));
  kv.push_back(NumberToken(FieldKind::kType, type));
  kv.push_back(NumberToken(FieldKind::kLength, count, 1, gguf::kArray));
  kv.push_back(BytesToken(FieldKind::kItems,
                          random.Take(static_cast<std::size_t>(count * width)),
                          2, type));
  tree.kvs.push_back(std::move(kv));
  return true;
}

// Numbers that are none where a scale may stand; one byte all over.
bool SpoilData(TokenTree& tree, Random& random) {
  constexpr std::array<std::uint16_t, 7> kHalves = {
      0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7f80, 0xffff, 0x007f};
  for (Token& token : tree.rest) {
    if (token.kind != FieldKind::kData || token.bytes.empty()) continue;
    Bytes& data = token.bytes;
    if (random.OneIn(6)) {
      constexpr std::array<std::uint8_t, 3> kBytes = {0, 0x37, 0xff};
      data.assign(data.size(), kBytes[random.Below(kBytes.size())]);
      continue;
    }
    if (random.OneIn(3)) data = random.Take(data.size());
    for (std::uint64_t n = 1 + random.Below(4); n > 0; --n) {
      const std::uint16_t half = kHalves[random.Below(kHalves.size())];
      const std::size_t at = random.Below(data.size());
      const bool swapped = random.OneIn(4);
      data[at] = static_cast<std::uint8_t>(swapped ? half >> 8 : half);
      if (at + 1 == data.size()) continue;
      data[at + 1] = static_cast<std::uint8_t>(swapped ? half : half >> 8);
    }
  }
  return false;
}

}  // namespace

bool MoveToEdge(TokenTree& tree, Random& random) {
  if (tree.front.size() < 4) {
    tree = EmptyFile(static_cast<std::uint32_t>(1 + random.Below(3)), false);
  }
  switch (random.Below(10)) {
    case 0:
      return ChangeMagic(tree, random);
    case 1:
    case 2:
      return MakeHuge(tree, random);
    case 3:
      return NestDeeply(tree, random);
    case 4:
    case 5:
      return CutCharacter(tree, random);
    case 6:
      return AddMany(tree, random);
    case 7:
    case 8:
      return SpoilData(tree, random);
    default:
      // Large inputs slow an engine down.
      return random.OneIn(4) ? LengthenArray(tree, random)
                             : ChangeMagic(tree, random);
  }
}

}  // namespace weightproof::fuzzers
