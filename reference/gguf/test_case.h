// Files with the verdict of each profile written down by hand.
#ifndef WEIGHTPROOF_REFERENCE_GGUF_TEST_CASE_H_
#define WEIGHTPROOF_REFERENCE_GGUF_TEST_CASE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/gguf/test_file.h"

namespace weightproof::gguf::test {

// A accept, R reject, L limit, U unsupported. Rules without "gguf.".
struct Expected {
  char verdict = 'A';
  std::string rule;
  std::uint64_t offset = 0;
  std::vector<std::string> policies;
};

struct Case {
  // rule: what the file is about. sgc: a letter for each profile as in the
  // registry; P is an accept with the rule among the policies. mark: where the
  // rule points, "eof" or "" (nowhere).
  Case(std::string rule_id, const TestFile& test_file, std::string_view sgc,
       const std::string& mark = "", std::uint64_t delta = 0);

  // What one profile says instead.
  Case&& Spec(Expected e) && { return With(0, std::move(e)); }
  Case&& Ggml(Expected e) && { return With(1, std::move(e)); }
  Case&& Candle(Expected e) && { return With(2, std::move(e)); }
  // The file is this long, zeros after the bytes given.
  Case&& Sparse(std::uint64_t size) &&;
  Case&& Required() &&;
  Case&& Base(std::uint64_t position) &&;

  std::string rule;
  TestFile file;
  std::array<Expected, 3> expected;
  std::optional<std::uint64_t> file_size;
  std::uint64_t base = 0;
  bool require_keys = false;

 private:
  Case&& With(std::size_t profile, Expected e);
};

std::vector<Case> HeaderCases();
std::vector<Case> KeyCases();
std::vector<Case> ValueCases();
std::vector<Case> AlignmentCases();
std::vector<Case> TensorCases();
std::vector<Case> GeometryCases();
std::vector<Case> DataCases();

// Whatever else the cases hold, a file with one tensor "t" of 8 F32 at offset
// 0 and its data.
TestFile OneTensor();

}  // namespace weightproof::gguf::test

#endif  // WEIGHTPROOF_REFERENCE_GGUF_TEST_CASE_H_
