#include "fuzzers/gguf/mutator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fuzzers/gguf/generator.h"
#include "fuzzers/gguf/mutator_edges.h"
#include "fuzzers/gguf/token_tree.h"
#include "fuzzers/target.h"
#include "reference/gguf/types.h"

namespace weightproof::fuzzers {
namespace {

using gguf::FieldKind;

// clang-format off
constexpr auto kNumbers = std::to_array<std::uint64_t>({
    0, 1, 2, 3, 4, 5, 8, 9, 12, 13, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256,
    65535, 65536, 0x3fffffff, 0x40000000, 0x40000001, 0x7fffffff, 0x80000000,
    0xffffffff, 0x100000000, 0x1000000000000000, 0x2000000000000000,
    0x3fffffffffffffff, 0x4000000000000000, 0x7fffffffffffffff,
    0x8000000000000000, 0xffffffffffffffe0, 0xfffffffffffffff8,
    0xffffffffffffffff});

// Names with a meaning, and both sides of every border of UTF-8.
constexpr auto kTexts = std::to_array<std::string_view>({
    "general.alignment", "general.architecture", "tokenizer.ggml.tokens", "",
    "__proto__", "A", "a b", "split.count", "\x7f", "\xff", "\x80", "\xc3",
    "\xc0\x80", "\xc1\xbf", "\xc2\x80", "\xe0\x80\x80", "\xe0\x9f\xbf",
    "\xe0\xa0\x80", "\xed\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
    "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80\x80",
    "\xf4\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
    "\xf0\x90\x80", "\xf8\x88\x80\x80\x80"});
// clang-format on

class Mutation {
 public:
  Mutation(ByteSpan input, Random& random)
      : tree_(ParseTokens(input)), random_(random) {}

  Bytes Run() {
    do {
      Once();
    } while (random_.OneIn(3));
    return Serialize(tree_);
  }

 private:
  // What depends on the change is repaired seven times of eight.
  void Once() {
    bool whole = true;  // the change concerns lengths or layout
    switch (random_.Below(16)) {
      case 0:
      case 1:
      case 2:
        whole = ChangeNumber();
        break;
      case 3:
      case 4:
        ChangeBytes();
        break;
      case 5:
        ChangeValueType();
        break;
      case 6:
      case 7:
        AddEntry();
        break;
      case 8:
        DropEntry();
        break;
      case 9:
        RepeatEntry();
        break;
      case 10:
        SwapEntries();
        break;
      case 11:
        ChangeLayoutOfFile();
        break;
      case 12:
        ChangeRest();
        whole = false;
        break;
      case 13:
        SetAlignment();
        break;
      default:
        whole = MoveToEdge(tree_, random_);
    }
    if (whole && !random_.OneIn(8)) Refix();
  }

  void Refix() {
    RefixLengths(tree_);
    RefixLayout(tree_,
                random_.OneIn(3) ? Placement::kKept : Placement::kPacked);
  }

  std::vector<Token*> All(bool numbers) {
    std::vector<Token*> out;
    const auto add = [&](Tokens& tokens) {
      for (Token& token : tokens) {
        const bool bytes =
            token.kind == FieldKind::kText || token.kind == FieldKind::kItems;
        const bool number = token.kind == FieldKind::kVersion ||
                            token.kind == FieldKind::kCount ||
                            token.kind == FieldKind::kLength ||
                            token.kind == FieldKind::kType ||
                            token.kind == FieldKind::kScalar ||
                            token.kind == FieldKind::kDim ||
                            token.kind == FieldKind::kOffset;
        if (numbers ? number : bytes) out.push_back(&token);
      }
    };
    add(tree_.front);
    for (Tokens& kv : tree_.kvs) add(kv);
    for (Tokens& tensor : tree_.tensors) add(tensor);
    return out;
  }

  std::uint64_t OtherNumber(std::uint64_t now) {
    switch (random_.Below(6)) {
      case 0:
        return now + 1;
      case 1:
        return now - 1;
      case 2:
        return now ^ (std::uint64_t{1} << random_.Below(64));
      case 3:
        return random_.Below(48);
      default:
        return kNumbers[random_.Below(kNumbers.size())];
    }
  }

  // Lengths, counts and offsets would be repaired away: they stay as set.
  bool ChangeNumber() {
    const std::vector<Token*> tokens = All(true);
    if (tokens.empty()) {
      tree_ = EmptyFile(3, false);
      return true;
    }
    Token& token = *tokens[random_.Below(tokens.size())];
    token.number = OtherNumber(token.number);
    switch (token.kind) {
      case FieldKind::kScalar:
      case FieldKind::kDim:
        return true;
      case FieldKind::kType:
        return token.tensor_type;
      case FieldKind::kOffset:
        if (random_.OneIn(2)) token.number &= ~std::uint64_t{31};
        if (random_.OneIn(2)) RefixLayout(tree_, Placement::kKept);
        return false;
      default:
        return false;
    }
  }

  void ChangeBytes() {
    const std::vector<Token*> tokens = All(false);
    if (tokens.empty()) return AddEntry();
    Token& token = *tokens[random_.Below(tokens.size())];
    if (token.kind == FieldKind::kText && random_.OneIn(2)) {
      const std::string_view text = kTexts[random_.Below(kTexts.size())];
      if (random_.OneIn(3)) {
        token.bytes.insert(token.bytes.end(), text.begin(), text.end());
      } else {
        token.bytes.assign(text.begin(), text.end());
      }
    } else if (token.kind == FieldKind::kText && random_.OneIn(6)) {
      constexpr std::array<std::size_t, 6> kSizes = {1, 63, 64, 65, 255, 300};
      token.bytes.assign(kSizes[random_.Below(kSizes.size())], 'k');
    } else {
      token.bytes = MutateBytes(token.bytes, random_, 1024);
    }
    const std::size_t width = static_cast<std::size_t>(
        std::max<std::uint64_t>(1, gguf::ValueWidth(token.type)));
    if (token.kind == FieldKind::kItems) {
      token.bytes.resize(token.bytes.size() / width * width);
    }
  }

  void ChangeValueType() {
    if (tree_.kvs.empty()) return AddEntry();
    Tokens& kv = tree_.kvs[random_.Below(tree_.kvs.size())];
    if (kv.size() < 3 || kv[2].kind != FieldKind::kType) return;
    const auto type =
        static_cast<std::uint32_t>(random_.Below(gguf::kValueTypes));
    kv[2].number = type;
    kv.resize(3);
    const Bytes bytes = random_.Take(64);
    Entropy entropy(bytes);
    AppendValue(entropy, type, 1, tree_.big_endian, kv);
  }

  void AddEntry() {
    if (tree_.front.size() < 4) tree_ = EmptyFile(3, false);
    Bytes bytes = random_.Take(96);
    if (random_.OneIn(3)) std::fill(bytes.begin() + 8, bytes.end(), 0);
    Entropy entropy(bytes);
    if (random_.OneIn(3)) {
      Insert(tree_.tensors, GenerateTensor(entropy));
    } else {
      const auto type =
          static_cast<std::uint32_t>(random_.Below(gguf::kValueTypes));
      Insert(tree_.kvs, GenerateKeyValue(entropy, type, tree_.big_endian));
    }
  }

  void Insert(std::vector<Tokens>& entries, Tokens entry) {
    const std::size_t at = random_.Below(entries.size() + 1);
    entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(at),
                   std::move(entry));
  }

  std::vector<Tokens>& SomeEntries() {
    if (tree_.tensors.empty()) return tree_.kvs;
    if (tree_.kvs.empty()) return tree_.tensors;
    return random_.OneIn(2) ? tree_.kvs : tree_.tensors;
  }

  void DropEntry() {
    std::vector<Tokens>& entries = SomeEntries();
    if (entries.empty()) return AddEntry();
    const std::size_t at = random_.Below(entries.size());
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void RepeatEntry() {
    std::vector<Tokens>& entries = SomeEntries();
    if (entries.empty()) return AddEntry();
    Tokens copy = entries[random_.Below(entries.size())];
    // Half of them under another name, so that they are no repetition.
    if (copy.size() > 1 && random_.OneIn(2)) {
      copy[1].bytes.push_back(random_.OneIn(8) ? 0 : 'x');
    }
    Insert(entries, std::move(copy));
  }

  void SwapEntries() {
    std::vector<Tokens>& entries = SomeEntries();
    if (entries.size() < 2) return AddEntry();
    std::swap(entries[random_.Below(entries.size())],
              entries[random_.Below(entries.size())]);
  }

  void ChangeLayoutOfFile() {
    if (tree_.version < 1 || tree_.version > 3) {
      tree_ = EmptyFile(3, random_.OneIn(4));
      return;
    }
    const auto version = static_cast<std::uint32_t>(1 + random_.Below(3));
    Convert(tree_, version, version == 3 && random_.OneIn(2));
  }

  void ChangeRest() {
    Bytes all;
    for (const Token& token : tree_.rest) {
      all.insert(all.end(), token.bytes.begin(), token.bytes.end());
    }
    switch (random_.Below(4)) {
      case 0:
        all.resize(random_.Below(all.size() + 1));
        break;
      case 1:
        all.resize(all.size() + 1 + random_.Below(40));
        break;
      default:
        all = MutateBytes(all, random_, all.size() + 64);
    }
    tree_.rest.clear();
    tree_.rest.push_back(BytesToken(FieldKind::kTrailing, std::move(all), 0));
  }

  void SetAlignment() {
    constexpr std::array<std::uint64_t, 14> kValues = {
        0, 1, 2, 4, 7, 8, 12, 16, 24, 33, 64, 96, 4096, 0x80000000};
    constexpr std::array<std::uint32_t, 6> kTypes = {
        gguf::kU8, gguf::kU16, gguf::kI32, gguf::kU64, gguf::kI64, gguf::kF32};
    if (tree_.front.size() < 4) tree_ = EmptyFile(3, false);
    const std::uint32_t type =
        random_.OneIn(4) ? kTypes[random_.Below(kTypes.size())] : gguf::kU32;
    Tokens kv;
    constexpr std::string_view kKey = "general.alignment";
    AppendText(kv, Bytes(kKey.begin(), kKey.end()));
    kv.push_back(NumberToken(FieldKind::kType, type));
    kv.push_back(NumberToken(FieldKind::kScalar,
                             kValues[random_.Below(kValues.size())], 1, type));
    for (Tokens& old : tree_.kvs) {
      if (NameOf(old) != kKey || random_.OneIn(8)) continue;
      old = std::move(kv);
      return;
    }
    Insert(tree_.kvs, std::move(kv));
  }

  TokenTree tree_;
  Random& random_;
};

Bytes Bounded(Bytes bytes, std::size_t max_size) {
  if (bytes.size() > max_size) bytes.resize(max_size);
  return bytes;
}

}  // namespace

Bytes MutateGguf(ByteSpan input, Random& random, std::size_t max_size) {
  if (random.OneIn(10)) return MutateBytes(input, random, max_size);
  if (random.OneIn(40)) {
    return Bounded(GenerateGguf(random.Take(random.Below(200))), max_size);
  }
  Bytes out = Mutation(input, random).Run();
  if (random.OneIn(24)) out.resize(random.Below(out.size() + 1));
  return Bounded(std::move(out), max_size);
}

Bytes CrossGguf(ByteSpan a, ByteSpan b, Random& random, std::size_t max_size) {
  TokenTree one = ParseTokens(a);
  TokenTree two = ParseTokens(b);
  if (one.front.size() < 4 || random.OneIn(16)) {
    return CrossBytes(a, b, random, max_size);
  }
  if (two.version >= 1 && two.version <= 3) {
    Convert(two, one.version, one.big_endian);
  }
  const auto take = [&](std::vector<Tokens>& into, std::vector<Tokens>& from) {
    for (Tokens& entry : from) {
      if (!random.OneIn(2)) continue;
      const std::size_t at = random.Below(into.size() + 1);
      if (at < into.size() && random.OneIn(2)) {
        into[at] = std::move(entry);
      } else {
        into.insert(into.begin() + static_cast<std::ptrdiff_t>(at),
                    std::move(entry));
      }
    }
  };
  take(one.kvs, two.kvs);
  take(one.tensors, two.tensors);
  if (!random.OneIn(8)) {
    RefixLengths(one);
    RefixLayout(one, random.OneIn(3) ? Placement::kKept : Placement::kPacked);
  }
  return Bounded(Serialize(one), max_size);
}

}  // namespace weightproof::fuzzers
