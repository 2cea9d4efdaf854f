#include "reference/gguf/data_values.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "reference/gguf/rules.h"
#include "reference/gguf/scales.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf {
namespace {

using Bytes = std::span<const std::uint8_t>;

// gguf.values.scale_nan, gguf.values.scale_inf.
void CheckScales(const File& file, const Tensor& tensor, Bytes data,
                 std::vector<ValueFinding>& out) {
  ValueFinding nan{.rule = rules::kValuesScaleNan};
  ValueFinding inf{.rule = rules::kValuesScaleInf};
  const TensorType& type = *FindTensorType(tensor.type);
  std::vector<ScaleField> fields;
  for (const ScaleField& field : ScaleFields()) {
    if (field.type == tensor.type) fields.push_back(field);
  }
  if (fields.empty()) return;
  for (std::uint64_t block = 0; block < data.size() / type.block_bytes;
       ++block) {
    const std::uint64_t begin = block * type.block_bytes;
    for (const ScaleField& field : fields) {
      const auto found = Classify(field, data.subspan(begin, type.block_bytes),
                                  file.big_endian);
      if (found == ScaleClass::kFinite) continue;
      ValueFinding& finding = found == ScaleClass::kNan ? nan : inf;
      if (finding.count++ != 0) continue;
      finding.block = block;
      finding.field = field.name;
      finding.offset = file.data_start + tensor.offset + begin +
                       ScaleOffset(field, file.big_endian);
    }
  }
  if (nan.count != 0) out.push_back(nan);
  if (inf.count != 0) out.push_back(inf);
}

// gguf.values.tensor_zero, gguf.values.tensor_constant.
void CheckWhole(const File& file, const Tensor& tensor, Bytes data,
                std::vector<ValueFinding>& out) {
  const std::uint64_t block = FindTensorType(tensor.type)->block_bytes;
  ValueFinding finding{.offset = file.data_start + tensor.offset, .count = 1};
  bool zero = true, constant = data.size() > block;
  for (std::uint64_t i = 0; i < data.size(); ++i) {
    zero = zero && data[i] == 0;
    constant = constant && data[i] == data[i % block];
  }
  if (!zero && !constant) return;
  finding.rule = zero ? rules::kValuesTensorZero : rules::kValuesTensorConstant;
  out.push_back(finding);
}

std::vector<ValueFinding> CheckTensor(const File& file, const Tensor& tensor) {
  std::vector<ValueFinding> out;
  if (tensor.size == 0) return out;
  const Bytes data = file.Bytes({file.data_start + tensor.offset, tensor.size});
  CheckWhole(file, tensor, data, out);
  CheckScales(file, tensor, data, out);
  // Few: each goes behind those of no greater offset before it.
  for (auto it = out.begin(); it != out.end(); ++it) {
    const auto place = std::ranges::upper_bound(out.begin(), it, it->offset, {},
                                                &ValueFinding::offset);
    std::rotate(place, it, it + 1);
  }
  return out;
}

}  // namespace

std::vector<ValueFinding> CheckValues(const File& file) {
  std::vector<ValueFinding> out;
  // Any number of tensors may share their bytes: they are looked at once.
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>,
           std::vector<ValueFinding>>
      known;
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    const Tensor& tensor = file.tensors[i];
    const std::tuple key(tensor.offset, tensor.size, tensor.type);
    auto at = known.find(key);
    if (at == known.end()) {
      at = known.emplace(key, CheckTensor(file, tensor)).first;
    }
    for (ValueFinding finding : at->second) {
      finding.tensor = i;
      out.push_back(finding);
    }
  }
  return out;
}

}  // namespace weightproof::gguf
