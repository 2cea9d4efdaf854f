// Single entries, values and texts out of any bytes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "fuzzers/gguf/generator.h"
#include "reference/gguf/types.h"

namespace weightproof::fuzzers {
namespace {

using gguf::FieldKind;

void AppendCharacter(Entropy& entropy, Bytes& out) {
  constexpr std::array<std::string_view, 8> kOther = {
      "\xc2\x80",     "\xdf\xbf",         "\xe0\xa0\x80",     "\xe2\x96\x81",
      "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"};
  const std::uint64_t choice = entropy.Below(256);
  if (choice >= 192) {
    const std::string_view text = kOther[choice % kOther.size()];
    out.insert(out.end(), text.begin(), text.end());
  } else {
    out.push_back(static_cast<std::uint8_t>(choice % 128));
  }
}

}  // namespace

Bytes GenerateText(Entropy& entropy, std::size_t max_characters) {
  Bytes out;
  const std::uint64_t count = entropy.Below(max_characters + 1);
  for (std::uint64_t i = 0; i < count; ++i) AppendCharacter(entropy, out);
  return out;
}

void AppendValue(Entropy& entropy, std::uint32_t type, int depth,
                 bool big_endian, Tokens& out) {
  if (type == gguf::kString) {
    AppendText(out, GenerateText(entropy, 9), depth);
    return;
  }
  if (type != gguf::kArray) {
    std::uint64_t bits = entropy.Number(gguf::ValueWidth(type));
    if (type == gguf::kBool) bits &= 1;
    out.push_back(NumberToken(FieldKind::kScalar, bits, depth, type));
    return;
  }
  std::uint32_t element =
      static_cast<std::uint32_t>(entropy.Below(gguf::kValueTypes));
  if (element == gguf::kArray && depth > 6) element = gguf::kU8;
  out.push_back(NumberToken(FieldKind::kType, element, depth));
  const std::uint64_t count = entropy.Below(entropy.OneIn(16) ? 300 : 6);
  out.push_back(NumberToken(FieldKind::kLength, count, depth, gguf::kArray));
  if (element == gguf::kString || element == gguf::kArray) {
    const std::uint64_t few = std::min<std::uint64_t>(count, 6);
    out.back().number = few;
    for (std::uint64_t i = 0; i < few; ++i) {
      AppendValue(entropy, element, depth + 1, big_endian, out);
    }
    return;
  }
  Bytes items;
  const std::size_t width = static_cast<std::size_t>(gguf::ValueWidth(element));
  for (std::uint64_t i = 0; i < count; ++i) {
    Bytes item = entropy.Take(width);
    if (element == gguf::kBool) item[0] &= 1;
    if (big_endian) std::ranges::reverse(item);
    items.insert(items.end(), item.begin(), item.end());
  }
  out.push_back(
      BytesToken(FieldKind::kItems, std::move(items), depth + 1, element));
}

Tokens GenerateKeyValue(Entropy& entropy, std::uint32_t type, bool big_endian) {
  Tokens kv;
  Bytes key;
  const std::uint64_t length = 1 + entropy.Below(8);
  for (std::uint64_t i = 0; i < length; ++i) {
    key.push_back(static_cast<std::uint8_t>('a' + entropy.Below(26)));
  }
  AppendText(kv, std::move(key));
  kv.push_back(NumberToken(FieldKind::kType, type));
  AppendValue(entropy, type, 1, big_endian, kv);
  return kv;
}

Tokens GenerateTensor(Entropy& entropy) {
  const auto all = gguf::TensorTypes();
  const gguf::TensorType& type = all[entropy.Below(all.size())];
  Tokens tensor;
  const std::string name = fmt::format("n{:02x}", entropy.Byte());
  AppendText(tensor, Bytes(name.begin(), name.end()));
  const std::uint64_t n_dims = 1 + entropy.Below(4);
  tensor.push_back(NumberToken(FieldKind::kCount, n_dims));
  for (std::uint64_t i = 0; i < n_dims; ++i) {
    tensor.push_back(NumberToken(
        FieldKind::kDim,
        (1 + entropy.Below(3)) * (i == 0 ? type.block_elements : 1)));
  }
  Token type_token = NumberToken(FieldKind::kType, type.id);
  type_token.tensor_type = true;
  tensor.push_back(std::move(type_token));
  tensor.push_back(NumberToken(FieldKind::kOffset, 0));
  return tensor;
}

}  // namespace weightproof::fuzzers
