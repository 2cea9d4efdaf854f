#include "reference/gguf/test_case.h"

#include <utility>

namespace weightproof::gguf::test {

Case::Case(std::string rule_id, const TestFile& test_file, std::string_view sgc,
           const std::string& mark, std::uint64_t delta)
    : rule(std::move(rule_id)), file(test_file) {
  std::uint64_t offset = 0;
  if (mark == "eof") offset = file.size();
  if (!mark.empty() && mark != "eof") offset = file.At(mark) + delta;
  for (std::size_t i = 0; i < 3; ++i) {
    if (sgc[i] == 'A') continue;
    if (sgc[i] == 'P') {
      expected[i].policies = {rule};
      continue;
    }
    expected[i] = {sgc[i], rule, offset, {}};
  }
}

Case&& Case::With(std::size_t profile, Expected e) {
  expected[profile] = std::move(e);
  return std::move(*this);
}

Case&& Case::Sparse(std::uint64_t size) && {
  for (Expected& e : expected) {
    if (e.offset == file.size() && e.verdict != 'A') e.offset = size;
  }
  file_size = size;
  return std::move(*this);
}

Case&& Case::Required() && {
  require_keys = true;
  return std::move(*this);
}

Case&& Case::Base(std::uint64_t position) && {
  base = position;
  return std::move(*this);
}

TestFile OneTensor() {
  return TestFile().Header(3, 1, 0).Tensor("t", {8}, 0, 0).Pad().Fill(32);
}

}  // namespace weightproof::gguf::test
