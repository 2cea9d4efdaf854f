// Statements for bytes without structure. Internal to the disassembler.
#ifndef WEIGHTPROOF_CORPUS_DISASSEMBLER_RUNS_H_
#define WEIGHTPROOF_CORPUS_DISASSEMBLER_RUNS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "corpus/disassembler.h"

namespace weightproof::corpus {

// Longer stretches of mixed bytes go to the side file.
inline constexpr std::uint64_t kMaxInline = 65536;

class RunWriter {
 public:
  RunWriter(std::span<const std::uint8_t> file,
            const DisassembleOptions& options, Disassembly& out)
      : file_(file), options_(options), out_(out) {}

  // Statements for bytes [offset, offset + size). comment goes to the first.
  void Write(std::uint64_t offset, std::uint64_t size,
             std::string_view comment);

  // One line of text, the comment behind it.
  void Line(std::string_view statement, std::string_view comment);

 private:
  void Data(std::uint64_t offset, std::uint64_t size);
  void Mixed(std::uint64_t offset, std::uint64_t size);
  void Statement(std::string_view text);

  std::span<const std::uint8_t> file_;
  const DisassembleOptions& options_;
  Disassembly& out_;
  std::string comment_;
  std::uint64_t side_size_ = 0;
};

// A string literal with its quotes, pure ASCII.
std::string Quote(std::span<const std::uint8_t> bytes);

}  // namespace weightproof::corpus

#endif  // WEIGHTPROOF_CORPUS_DISASSEMBLER_RUNS_H_
