#include "fuzzers/gguf/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "reference/gguf/types.h"

namespace weightproof::fuzzers {
namespace {

using gguf::FieldKind;

// What a file may have at all: bits of its first eight bytes.
enum Feature : std::uint64_t {
  kSmallAlignment = 1u << 0,
  kOddAlignment = 1u << 1,
  kHugeAlignment = 1u << 2,
  kStrings = 1u << 3,
  kArrays = 1u << 4,
  kNested = 1u << 5,
  kWideTypes = 1u << 6,  // u64, i64, f64
  kOddKeys = 1u << 7,    // not of the grammar, still accepted
  kKnownKeys = 1u << 8,  // general.*, tokenizer.*
  kTensors = 1u << 9,
  kQuantized = 1u << 10,
  kRareTypes = 1u << 11,  // intermediate, extended, newer, fork
  kEmptyTensors = 1u << 12,
  kNoDims = 1u << 13,
  kOddNames = 1u << 14,  // empty, 63, 64 bytes, NUL
  kGaps = 1u << 15,
  kOutOfOrder = 1u << 16,
  kAliases = 1u << 17,
  kNoTailPadding = 1u << 18,
  kTrailing = 1u << 19,
  kDirtyPadding = 1u << 20,
  kBigEndian = 1u << 21,
  kVersion1 = 1u << 22,
  kVersion2 = 1u << 23,
  kMany = 1u << 24,  // more entries
};

class FileGenerator {
 public:
  explicit FileGenerator(ByteSpan bytes)
      : entropy_(bytes), features_(entropy_.Number(8)) {}

  TokenTree Make() {
    const bool v1 = Has(kVersion1), v2 = Has(kVersion2);
    const std::uint32_t version = v1 && !v2 ? 1 : v2 && !v1 ? 2 : 3;
    tree_ = EmptyFile(version, version == 3 && Has(kBigEndian));
    const std::uint64_t kvs = entropy_.Below(Has(kMany) ? 40 : 7);
    const std::uint64_t alignment_at = entropy_.Below(kvs + 1);
    for (std::uint64_t i = 0; i <= kvs; ++i) {
      if (i == alignment_at) AddAlignment();
      if (i < kvs && !entropy_.empty()) AddKeyValue();
    }
    if (Has(kTensors)) {
      const std::uint64_t count = 1 + entropy_.Below(Has(kMany) ? 12 : 4);
      for (std::uint64_t i = 0; i < count; ++i) AddTensor();
    }
    RefixLengths(tree_);
    RefixLayout(tree_, Placement::kPacked);
    if (!tree_.tensors.empty()) Rearrange();
    return std::move(tree_);
  }

 private:
  bool Has(Feature feature) const { return (features_ & feature) != 0; }

  void AddAlignment() {
    constexpr std::array<std::uint32_t, 5> kPowers = {8, 16, 64, 128, 256};
    std::uint32_t value = 0;
    if (Has(kSmallAlignment)) value = kPowers[entropy_.Below(5)];
    if (Has(kOddAlignment) && entropy_.OneIn(3)) {
      value = static_cast<std::uint32_t>(8 * (1 + entropy_.Below(40)));
    }
    if (Has(kHugeAlignment) && !Has(kTensors) && entropy_.OneIn(3)) {
      value = std::uint32_t{1} << (9 + entropy_.Below(23));
    }
    if (value == 0) return;
    Tokens kv = Key("general.alignment", gguf::kU32);
    kv.push_back(NumberToken(FieldKind::kScalar, value, 1, gguf::kU32));
    tree_.kvs.push_back(std::move(kv));
  }

  static Tokens Key(std::string_view key, std::uint32_t type) {
    Tokens kv;
    AppendText(kv, Bytes(key.begin(), key.end()));
    kv.push_back(NumberToken(FieldKind::kType, type));
    return kv;
  }

  std::uint32_t PickType() {
    constexpr std::array<std::uint32_t, 8> kBasic = {
        gguf::kU8,  gguf::kI8,  gguf::kU16, gguf::kI16,
        gguf::kU32, gguf::kI32, gguf::kF32, gguf::kBool};
    constexpr std::array<std::uint32_t, 3> kWide = {gguf::kU64, gguf::kI64,
                                                    gguf::kF64};
    const std::uint64_t choice = entropy_.Below(8);
    if (choice >= 6 && Has(kArrays)) return gguf::kArray;
    if (choice >= 4 && Has(kStrings)) return gguf::kString;
    if (choice == 3 && Has(kWideTypes)) return kWide[entropy_.Below(3)];
    return kBasic[entropy_.Below(8)];
  }

  std::string PickKey() {
    constexpr std::array<std::string_view, 8> kKnown = {
        "general.architecture",
        "general.name",
        "tokenizer.ggml.tokens",
        "general.quantization_version",
        "__proto__",
        "constructor",
        "split.count",
        "general.file_type"};
    constexpr std::array<std::string_view, 5> kOdd = {"Upper.Case", "a..b",
                                                      "x-y", ".", "a."};
    std::string key;
    if (Has(kKnownKeys) && entropy_.OneIn(2)) {
      key = kKnown[entropy_.Below(kKnown.size())];
    } else if (Has(kOddKeys) && entropy_.OneIn(2)) {
      key = kOdd[entropy_.Below(kOdd.size())];
    } else {
      const std::uint64_t length = 1 + entropy_.Below(12);
      for (std::uint64_t i = 0; i < length; ++i) {
        key += "abcdefghijklmnopqrstuvwxyz0123456789_"[entropy_.Below(37)];
      }
      if (entropy_.OneIn(3)) key += "." + std::string(1, key[0]);
    }
    while (key == "general.alignment" || !keys_.insert(key).second) {
      key += fmt::format("_{}", keys_.size());
    }
    return key;
  }

  void AddKeyValue() {
    std::uint32_t type = PickType();
    const std::string key = PickKey();
    Tokens kv = Key(key, type);
    if (type == gguf::kArray && !Has(kNested)) {
      AppendFlatArray(kv);
    } else {
      AppendValue(entropy_, type, 1, tree_.big_endian, kv);
    }
    tree_.kvs.push_back(std::move(kv));
  }

  void AppendFlatArray(Tokens& kv) {
    const std::uint32_t type = PickType();
    Tokens value;
    AppendValue(entropy_, gguf::kArray, 1, tree_.big_endian, value);
    // The element type comes first: take it over unless it is an array.
    if (value.front().number == gguf::kArray) {
      value.clear();
      const std::uint32_t flat = type == gguf::kArray ? gguf::kU16 : type;
      value.push_back(NumberToken(FieldKind::kType, flat));
      value.push_back(NumberToken(FieldKind::kLength, 0, 1, gguf::kArray));
      if (flat != gguf::kString) {
        value.push_back(BytesToken(FieldKind::kItems, {}, 2, flat));
      }
    }
    kv.insert(kv.end(), value.begin(), value.end());
  }

  std::uint32_t PickTensorType() {
    const auto all = gguf::TensorTypes();
    std::vector<std::uint32_t> allowed;
    for (const gguf::TensorType& type : all) {
      const bool common = type.tier == gguf::TypeTier::kCommon;
      if (!common && !Has(kRareTypes)) continue;
      if (type.block_elements > 1 && !Has(kQuantized)) continue;
      allowed.push_back(type.id);
    }
    return allowed[entropy_.Below(allowed.size())];
  }

  std::string PickName() {
    std::string name = fmt::format("t{}", tree_.tensors.size());
    if (Has(kOddNames)) {
      switch (entropy_.Below(6)) {
        case 0:
          name = "";
          break;
        case 1:
          name = std::string(63, 'n');
          break;
        case 2:
          name = std::string(64, 'm');
          break;
        case 3:
          name += std::string(1, '\0') + "x";
          break;
        case 4:
          name += "\xe2\x96\x81";
          break;
        default:
          name = "blk.0.attn_q.weight";
      }
    }
    if (!names_.insert(name).second) {
      name = fmt::format("u{}", tree_.tensors.size());
      names_.insert(name);
    }
    return name;
  }

  void AddTensor() {
    const gguf::TensorType& type = *gguf::FindTensorType(PickTensorType());
    Tokens tensor;
    const std::string name = PickName();
    AppendText(tensor, Bytes(name.begin(), name.end()));
    std::uint64_t n_dims = 1 + entropy_.Below(4);
    if (Has(kNoDims) && type.block_elements == 1 && entropy_.OneIn(3)) {
      n_dims = 0;
    }
    tensor.push_back(NumberToken(FieldKind::kCount, n_dims));
    for (std::uint64_t i = 0; i < n_dims; ++i) {
      std::uint64_t dim = 1 + entropy_.Below(3);
      if (i == 0) {
        dim = type.block_elements > 1 ? type.block_elements * dim
                                      : 1 + entropy_.Below(40);
      }
      if (Has(kEmptyTensors) && i + 1 == n_dims && entropy_.OneIn(3)) dim = 0;
      tensor.push_back(NumberToken(FieldKind::kDim, dim));
    }
    // No elements at all, however many there are of them in a row.
    if (n_dims > 1 && tensor.back().number == 0 && entropy_.OneIn(2)) {
      tensor[3].number = type.block_elements << (32 + entropy_.Below(4));
    }
    Token type_token = NumberToken(FieldKind::kType, type.id);
    type_token.tensor_type = true;
    tensor.push_back(std::move(type_token));
    tensor.push_back(NumberToken(FieldKind::kOffset, 0));
    tree_.tensors.push_back(std::move(tensor));
  }

  // Other layouts that the text allows.
  void Rearrange() {
    const std::uint64_t alignment = AlignmentOf(tree_);
    std::vector<std::uint64_t*> offsets;
    for (Tokens& tensor : tree_.tensors) {
      offsets.push_back(&tensor.back().number);
    }
    if (Has(kOutOfOrder) && offsets.size() > 1) {
      std::swap(tree_.tensors.front(), tree_.tensors.back());
    }
    if (Has(kGaps)) {
      const std::uint64_t from = entropy_.Below(offsets.size());
      const std::uint64_t shift = alignment * (1 + entropy_.Below(3));
      // In the order of offsets: moving the later ones keeps them apart.
      const std::uint64_t limit = *offsets[from];
      for (std::uint64_t* offset : offsets) {
        if (*offset >= limit) *offset += shift;
      }
    }
    if (Has(kAliases) && tree_.tensors.size() > 1) MakeAlias();
    RefixLayout(tree_, Placement::kKept);
    FinishTail();
  }

  // The last entry becomes a second name of the first one's bytes.
  void MakeAlias() {
    const Tokens& first = tree_.tensors.front();
    Tokens& last = tree_.tensors.back();
    Tokens copy(first.begin() + 2, first.end());
    last.resize(2);
    last.insert(last.end(), copy.begin(), copy.end());
  }

  void FinishTail() {
    Bytes data;
    for (const Token& token : tree_.rest) {
      if (token.kind == FieldKind::kData) data = token.bytes;
    }
    std::uint64_t end = 0;
    for (const auto& [begin, size] : Extents()) {
      end = std::max(end, begin + size);
    }
    data.resize(static_cast<std::size_t>(end));
    const std::uint64_t alignment = AlignmentOf(tree_);
    const std::uint64_t padding = (alignment - end % alignment) % alignment;
    if (!Has(kNoTailPadding)) {
      data.resize(data.size() + static_cast<std::size_t>(padding));
      if (Has(kTrailing) && end > 0) {
        const Bytes more = entropy_.Take(1 + entropy_.Below(9));
        data.insert(data.end(), more.begin(), more.end());
      }
      if (Has(kDirtyPadding) && end > 0 && padding > 0) {
        data[static_cast<std::size_t>(end)] = 0xee;
      }
    }
    for (Token& token : tree_.rest) {
      if (token.kind == FieldKind::kData) token.bytes = std::move(data);
    }
  }

  std::vector<std::pair<std::uint64_t, std::uint64_t>> Extents() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
    for (const Tokens& tensor : tree_.tensors) {
      std::uint64_t elements = 1;
      const gguf::TensorType* type = nullptr;
      for (const Token& token : tensor) {
        if (token.kind == FieldKind::kDim) elements *= token.number;
        if (token.kind == FieldKind::kType) {
          type = gguf::FindTensorType(static_cast<std::uint32_t>(token.number));
        }
      }
      const std::uint64_t size =
          elements / type->block_elements * type->block_bytes;
      if (size > 0) out.push_back({tensor.back().number, size});
    }
    return out;
  }

  Entropy entropy_;
  std::uint64_t features_;
  TokenTree tree_;
  std::set<std::string> keys_, names_;
};

}  // namespace

TokenTree GenerateGgufTree(ByteSpan entropy) {
  return FileGenerator(entropy).Make();
}

Bytes GenerateGguf(ByteSpan entropy) {
  return Serialize(GenerateGgufTree(entropy));
}

}  // namespace weightproof::fuzzers
