// The GGUF macros: a header, a key and its value, an array, a tensor entry.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "corpus/recipe_builder.h"

namespace weightproof::corpus {
namespace {

constexpr std::uint64_t kBool = 7, kString = 8, kArray = 9;

constexpr std::array<std::string_view, 13> kValueTypes = {
    "u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
    "bool", "string", "array", "u64", "i64", "f64"};

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 44>
    kTensorTypes = {{{"F32", 0},         {"F16", 1},         {"Q4_0", 2},
                     {"Q4_1", 3},        {"Q4_2", 4},        {"Q4_3", 5},
                     {"Q5_0", 6},        {"Q5_1", 7},        {"Q8_0", 8},
                     {"Q8_1", 9},        {"Q2_K", 10},       {"Q3_K", 11},
                     {"Q4_K", 12},       {"Q5_K", 13},       {"Q6_K", 14},
                     {"Q8_K", 15},       {"IQ2_XXS", 16},    {"IQ2_XS", 17},
                     {"IQ3_XXS", 18},    {"IQ1_S", 19},      {"IQ4_NL", 20},
                     {"IQ3_S", 21},      {"IQ2_S", 22},      {"IQ4_XS", 23},
                     {"I8", 24},         {"I16", 25},        {"I32", 26},
                     {"I64", 27},        {"F64", 28},        {"IQ1_M", 29},
                     {"BF16", 30},       {"Q4_0_4_4", 31},   {"Q4_0_4_8", 32},
                     {"Q4_0_8_8", 33},   {"TQ1_0", 34},      {"TQ2_0", 35},
                     {"IQ4_NL_4_4", 36}, {"IQ4_NL_4_8", 37}, {"IQ4_NL_8_8", 38},
                     {"MXFP4", 39},      {"NVFP4", 40},      {"Q1_0", 41},
                     {"Q2_0", 42},       {"PTQ1_0", 143}}};

std::optional<std::uint64_t> FindType(std::string_view name, bool tensor) {
  if (tensor) {
    for (const auto& [known, id] : kTensorTypes) {
      if (known == name) return id;
    }
    return std::nullopt;
  }
  for (std::size_t id = 0; id < kValueTypes.size(); ++id) {
    if (kValueTypes[id] == name) return id;
  }
  return std::nullopt;
}

struct Scalar {
  int width;
  bool is_signed;
  bool is_float;
};

std::optional<Scalar> ScalarOf(std::uint64_t type) {
  constexpr std::array<Scalar, 13> kScalars = {{{1, false, false},
                                                {1, true, false},
                                                {2, false, false},
                                                {2, true, false},
                                                {4, false, false},
                                                {4, true, false},
                                                {4, false, true},
                                                {1, false, false},
                                                {0, false, false},
                                                {0, false, false},
                                                {8, false, false},
                                                {8, true, false},
                                                {8, false, true}}};
  if (type >= kScalars.size() || kScalars[type].width == 0) {
    return std::nullopt;
  }
  return kScalars[type];
}

}  // namespace

bool RecipeBuilder::Gguf(const std::string& word, const std::string& label,
                         bool& handled) {
  handled = true;
  if (word == "gguf") return GgufHeader();
  if (word == "kv") return KeyValue(label);
  if (word == "tensor") return Tensor(label);
  if (word == "array") return Array(label);
  if (word == "str") return LengthAndBytes(label);
  handled = false;
  return true;
}

// gguf VERSION TENSORS KVS
bool RecipeBuilder::GgufHeader() {
  const std::array<std::uint8_t, 4> magic = {0x47, 0x47, 0x55, 0x46};
  AutoLabel("magic", "");
  if (!Emit(magic)) return false;
  AutoLabel("version", "");
  reader_.SkipBlanks();
  const std::size_t at = reader_.position();
  const auto version = reader_.Count("the version");
  if (!version) return false;
  version_one_ = *version == 1;
  if (!EmitInteger(static_cast<Wide>(*version), 4, false, big_endian_, at,
                   nullptr)) {
    return false;
  }
  AutoLabel("tensor_count", "");
  if (!EmitExpression(LengthWidth(), false, big_endian_)) return false;
  AutoLabel("kv_count", "");
  return EmitExpression(LengthWidth(), false, big_endian_);
}

bool RecipeBuilder::EmitLength(std::uint64_t value) {
  return EmitInteger(static_cast<Wide>(value), LengthWidth(), false,
                     big_endian_, reader_.position(), nullptr);
}

bool RecipeBuilder::LengthAndBytes(const std::string& label) {
  const auto pieces = reader_.String();
  if (!pieces) return false;
  if (reader_.TakeWord("len")) {
    if (!EmitExpression(LengthWidth(), false, big_endian_)) return false;
  } else {
    std::uint64_t length = 0;
    for (const Piece& piece : *pieces) {
      std::uint64_t size = 0;
      if (__builtin_mul_overflow(std::uint64_t{piece.bytes.size()}, piece.n,
                                 &size) ||
          __builtin_add_overflow(length, size, &length)) {
        return TooLong(false);
      }
    }
    if (!EmitLength(length)) return false;
  }
  AutoLabel(label, ".bytes");
  return EmitPieces(*pieces);
}

// A type by name or number. A number that needs a later label is unknown here.
bool RecipeBuilder::TypeField(bool tensor_type,
                              std::optional<std::uint64_t>& type) {
  reader_.SkipBlanks();
  const std::size_t at = reader_.position();
  type = FindType(reader_.Word(), tensor_type);
  if (type) {
    return EmitInteger(static_cast<Wide>(*type), 4, false, big_endian_, at,
                       nullptr);
  }
  reader_.Seek(at);
  if (!EmitExpression(4, false, big_endian_)) return false;
  const std::size_t after = reader_.position();
  reader_.Seek(at);
  const auto number = reader_.Expression();
  reader_.Seek(after);
  if (number && number->known()) {
    type = static_cast<std::uint64_t>(number->value);
  }
  return true;
}

// kv KEY TYPE [VALUE]
bool RecipeBuilder::KeyValue(const std::string& label) {
  AutoLabel(label, ".key");
  if (!LengthAndBytes(label)) return false;
  AutoLabel(label, ".type");
  std::optional<std::uint64_t> type;
  if (!TypeField(false, type)) return false;
  AutoLabel(label, ".value");
  if (reader_.AtStatementEnd()) return true;
  if (!type) return reader_.Fail("a value needs a type known here");
  return Payload(*type, label);
}

bool RecipeBuilder::Payload(std::uint64_t type, const std::string& label) {
  if (type == kString) {
    return LengthAndBytes(label.empty() ? label : label + ".value");
  }
  if (type == kArray) return Array(label);
  const auto scalar = ScalarOf(type);
  if (!scalar) {
    return reader_.Fail(
        "a type outside 0..12 has no value; write its bytes "
        "as statements of their own");
  }
  if (scalar->is_float) return Floats(scalar->width, big_endian_);
  if (type == kBool && (reader_.TakeWord("true"))) {
    return EmitInteger(1, 1, false, big_endian_, 0, nullptr);
  }
  if (type == kBool && (reader_.TakeWord("false"))) {
    return EmitInteger(0, 1, false, big_endian_, 0, nullptr);
  }
  return EmitExpression(scalar->width, scalar->is_signed, big_endian_);
}

bool RecipeBuilder::ScanList(std::optional<std::uint64_t> type,
                             std::vector<std::size_t>& elements) {
  if (!reader_.Take('[')) return reader_.Fail("expected [");
  reader_.SkipLines();
  while (!reader_.Take(']')) {
    reader_.SkipLines();
    elements.push_back(reader_.position());
    const auto scalar = type ? ScalarOf(*type) : std::nullopt;
    bool read = false;
    if (type == kString) {
      read = reader_.String().has_value();
    } else if (type && !scalar) {
      return reader_.Fail(
          "a list takes scalars or strings; write other "
          "elements as statements of their own");
    } else if (scalar && scalar->is_float) {
      read = reader_.FloatBits(scalar->width * 8).has_value();
    } else {
      read = reader_.Expression().has_value();
    }
    if (!read) return false;
    reader_.SkipLines();
    if (!reader_.Take(',') && !reader_.Looking(']')) {
      return reader_.Fail("expected , or ]");
    }
    reader_.SkipLines();
  }
  return true;
}

// array ELEMENT [COUNT] [LIST]
bool RecipeBuilder::Array(const std::string& label) {
  AutoLabel(label, ".elem");
  std::optional<std::uint64_t> type;
  if (!TypeField(false, type)) return false;
  AutoLabel(label, ".len");
  std::vector<std::size_t> elements;
  const bool counted = !reader_.Looking('[');
  if (counted && !EmitExpression(LengthWidth(), false, big_endian_)) {
    return false;
  }
  if (!reader_.Looking('[')) {
    AutoLabel(label, ".items");
    return true;
  }
  if (!type) return reader_.Fail("a list needs a type known here");
  if (!ScanList(type, elements)) return false;
  const std::size_t after = reader_.position();
  if (!counted && !EmitLength(elements.size())) return false;
  AutoLabel(label, ".items");
  for (const std::size_t element : elements) {
    reader_.Seek(element);
    if (!Payload(*type, "")) return false;
  }
  reader_.Seek(after);
  return true;
}

// tensor NAME [DIMS] [n_dims N] TYPE OFFSET
bool RecipeBuilder::Tensor(const std::string& label) {
  AutoLabel(label, ".name");
  if (!LengthAndBytes(label)) return false;
  std::vector<std::size_t> dims;
  if (!ScanList(std::nullopt, dims)) return false;
  AutoLabel(label, ".n_dims");
  if (reader_.TakeWord("n_dims")) {
    if (!EmitExpression(4, false, big_endian_)) return false;
  } else if (!EmitInteger(static_cast<Wide>(dims.size()), 4, false, big_endian_,
                          0, nullptr)) {
    return false;
  }
  const std::size_t after = reader_.position();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    AutoLabel(label, fmt::format(".dim{}", i).c_str());
    reader_.Seek(dims[i]);
    if (!EmitExpression(LengthWidth(), false, big_endian_)) return false;
  }
  reader_.Seek(after);
  AutoLabel(label, ".type");
  std::optional<std::uint64_t> type;
  if (!TypeField(true, type)) return false;
  AutoLabel(label, ".offset");
  return EmitExpression(8, false, big_endian_);
}

}  // namespace weightproof::corpus
