// Tensor entries.
#include <array>

#include "impls/cpu/gguf_view_internal.h"
#include "reference/gguf/rules.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {
namespace gguf_internal {
namespace rules = gguf::rules;

namespace {

constexpr std::uint32_t kPtq10 = 143;
constexpr TensorType kUnknown{1, 0, rules::kTensorTypeUnknown};

constexpr std::array<TensorType, 43> kTypes = [] {
  constexpr RuleIndex kCommon = rules::kTensorTypeCommon;
  constexpr RuleIndex kMiddle = rules::kTensorTypeIntermediate;
  constexpr RuleIndex kExtended = rules::kTensorTypeExtended;
  constexpr RuleIndex kNewer = rules::kTensorTypeNewer;
  constexpr TensorType kGone{1, 0, rules::kTensorTypeWithdrawn};
  return std::array<TensorType, 43>{{
      {1, 4, kCommon},        //  0 F32
      {1, 2, kCommon},        //  1 F16
      {32, 18, kCommon},      //  2 Q4_0
      {32, 20, kCommon},      //  3 Q4_1
      kGone,                  //  4 Q4_2
      kGone,                  //  5 Q4_3
      {32, 22, kCommon},      //  6 Q5_0
      {32, 24, kCommon},      //  7 Q5_1
      {32, 34, kCommon},      //  8 Q8_0
      {32, 36, kMiddle},      //  9 Q8_1
      {256, 84, kCommon},     // 10 Q2_K
      {256, 110, kCommon},    // 11 Q3_K
      {256, 144, kCommon},    // 12 Q4_K
      {256, 176, kCommon},    // 13 Q5_K
      {256, 210, kCommon},    // 14 Q6_K
      {256, 292, kMiddle},    // 15 Q8_K
      {256, 66, kExtended},   // 16 IQ2_XXS
      {256, 74, kExtended},   // 17 IQ2_XS
      {256, 98, kExtended},   // 18 IQ3_XXS
      {256, 50, kExtended},   // 19 IQ1_S
      {32, 18, kExtended},    // 20 IQ4_NL
      {256, 110, kExtended},  // 21 IQ3_S
      {256, 82, kExtended},   // 22 IQ2_S
      {256, 136, kExtended},  // 23 IQ4_XS
      {1, 1, kExtended},      // 24 I8
      {1, 2, kExtended},      // 25 I16
      {1, 4, kExtended},      // 26 I32
      {1, 8, kExtended},      // 27 I64
      {1, 8, kExtended},      // 28 F64
      {256, 56, kExtended},   // 29 IQ1_M
      {1, 2, kCommon},        // 30 BF16
      kGone,                  // 31 Q4_0_4_4
      kGone,                  // 32 Q4_0_4_8
      kGone,                  // 33 Q4_0_8_8
      {256, 54, kExtended},   // 34 TQ1_0
      {256, 66, kExtended},   // 35 TQ2_0
      kGone,                  // 36 IQ4_NL_4_4
      kGone,                  // 37 IQ4_NL_4_8
      kGone,                  // 38 IQ4_NL_8_8
      {32, 17, kExtended},    // 39 MXFP4
      {64, 36, kNewer},       // 40 NVFP4
      {128, 18, kNewer},      // 41 Q1_0
      {64, 18, kNewer},       // 42 Q2_0
  }};
}();

std::string_view CutAtNul(std::string_view name) {
  return name.substr(0, name.find('\0'));
}

}  // namespace

TensorType FindTensorType(std::uint32_t id) {
  if (id < kTypes.size()) return kTypes[id];
  if (id == kPtq10) return {128, 28, rules::kTensorTypeForkPtq10};
  if (id >> 31 != 0) return {1, 0, rules::kTensorTypeSignBit};
  return kUnknown;
}

bool Reader::Tensors() {
  names_ = NameSet();
  for (std::uint64_t i = 0; i < tensor_count_; ++i) {
    if (!Tensor()) return false;
  }
  return true;
}

bool Reader::Tensor() {
  GgufTensor tensor{};
  if (!TensorName(&tensor.name)) return false;
  std::uint64_t elements = 0;
  if (!Dims(&tensor, &elements)) return false;
  if (!TypeAndSize(elements, &tensor)) return false;
  if (!Have(8, rules::kTensorEntryTruncated)) return false;
  tensor.offset = in_.U64(pos_);
  pos_ += 8;
  view_.tensors.push_back(tensor);
  return true;
}

bool Reader::TensorName(std::string_view* name) {
  const std::uint64_t at = pos_, word = in_.word();
  if (!Have(word, rules::kTensorEntryTruncated)) return false;
  const std::uint64_t size = in_.Word(at);
  pos_ += word;
  if (size > left()) return Fail(rules::kTensorNamePastEof, at);
  if (size == 0 && !Fail(rules::kTensorNameEmpty, at)) return false;
  if (size == 64 && !Fail(rules::kTensorNameLength64, at)) return false;
  if (size > 64 && !Fail(rules::kTensorNameTooLong, at)) return false;
  if (size > kCap && !Fail(rules::kLimitStringCap, at)) return false;
  if (!Loaded(size)) return false;
  *name = Text(pos_, size);
  if (judge_.Cares(rules::kTensorNameUtf8Invalid)) {
    const std::uint64_t bad = FirstIllFormed(*name);
    if (bad < size && !Fail(rules::kTensorNameUtf8Invalid, pos_ + bad)) {
      return false;
    }
  }
  const std::uint64_t nul = CutAtNul(*name).size();
  if (nul < size && !Fail(rules::kTensorNameNul, pos_ + nul)) return false;
  pos_ += size;
  return DistinctName(*name, at);
}

bool Reader::DistinctName(std::string_view name, std::uint64_t at) {
  bool repeated = false;
  if (judge_.Cares(rules::kTensorNameDuplicate)) {
    repeated = !names_.Insert(name);
    if (repeated && !Fail(rules::kTensorNameDuplicate, at)) return false;
  }
  if (!judge_.Cares(rules::kTensorNameDistinctAfterNul)) return true;
  const std::string_view cut = CutAtNul(name);
  if (!cut_ && cut.size() == name.size()) return true;
  if (!cut_) {
    // Up to here no name had a NUL and each is its own cut.
    for (const GgufTensor& tensor : view_.tensors) {
      cut_names_.Insert(tensor.name);
    }
    cut_ = true;
  }
  return cut_names_.Insert(cut) || repeated ||
         Fail(rules::kTensorNameDistinctAfterNul, at);
}

bool Reader::Dims(GgufTensor* tensor, std::uint64_t* elements) {
  const std::uint64_t at = pos_, word = in_.word();
  if (!Have(4, rules::kTensorEntryTruncated)) return false;
  tensor->n_dims = in_.U32(at);
  pos_ += 4;
  if (tensor->n_dims == 0 && !Fail(rules::kTensorNDimsZero, at)) return false;
  if (tensor->n_dims > 4) return Fail(rules::kTensorNDimsTooMany, at);
  tensor->dims = pos_;
  bool empty = false;
  for (std::uint32_t i = 0; i < tensor->n_dims; ++i) {
    if (!Have(word, rules::kTensorEntryTruncated)) return false;
    const std::uint64_t dim = in_.Word(pos_);
    if (dim >> 63 != 0) return Fail(rules::kTensorDimSignBit, pos_);
    empty |= dim == 0;
    pos_ += word;
  }
  *elements = empty ? 0 : 1;
  for (std::uint32_t i = 0; i < tensor->n_dims && !empty; ++i) {
    const std::uint64_t dim_at = tensor->dims + i * word;
    if (__builtin_mul_overflow(*elements, in_.Word(dim_at), elements) ||
        *elements >> 63 != 0) {
      return Fail(rules::kTensorElementsOverflow, dim_at);
    }
  }
  return true;
}

bool Reader::TypeAndSize(std::uint64_t elements, GgufTensor* tensor) {
  const std::uint64_t at = pos_;
  if (!Have(4, rules::kTensorEntryTruncated)) return false;
  tensor->type = in_.U32(at);
  pos_ += 4;
  const TensorType type = FindTensorType(tensor->type);
  if (!Fail(type.rule, at)) return false;
  quantized_ |= type.elements > 1;
  const bool scalar = tensor->n_dims == 0;
  const std::uint64_t row = scalar ? 1 : in_.Word(tensor->dims);
  const std::uint64_t row_at = scalar ? tensor->dims - 4 : tensor->dims;
  if (row % type.elements != 0) {
    return Fail(rules::kTensorRowBlockMultiple, row_at);
  }
  if (__builtin_mul_overflow(elements / type.elements,
                             std::uint64_t{type.bytes}, &tensor->size)) {
    return Fail(rules::kTensorBytesOverflow, row_at);
  }
  std::uint64_t padded = 0;
  return RoundUp(tensor->size, view_.alignment, &padded) ||
         Fail(rules::kTensorBytesPadOverflow, row_at);
}

bool Reader::RequiredKeys() {
  if (!input_.require_keys) return true;
  if (has_architecture_ && (has_quantization_version_ || !quantized_)) {
    return true;
  }
  return Fail(rules::kKvRequiredKeys, input_.base);
}

}  // namespace gguf_internal
}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls
