// The disassembler: any file to a recipe (corpus/RECIPES.md) that assembles to
// the same bytes.
//
// The structure comes from the reference's field visitor; what it cannot tell
// becomes bytes in hex. Runs of one byte become `fill`, holes stay holes, and
// a stretch of more than 64 KiB of other bytes goes to a side file that the
// recipe names.
#ifndef WEIGHTPROOF_CORPUS_DISASSEMBLER_H_
#define WEIGHTPROOF_CORPUS_DISASSEMBLER_H_

#include <cstdint>
#include <expected>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace weightproof::corpus {

// Bytes [offset, offset + size) of a file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  bool operator==(const Extent&) const = default;
};

struct DisassembleOptions {
  std::string header;  // lines to put first: "recipe ID\nrule ..."; or empty
  std::string side_name = "side.bin";  // of the side file, if one is needed
  std::uint64_t base = 0;              // the GGUF starts here in the file
  std::vector<Extent> holes;           // ascending, apart, all zero bytes
};

struct Disassembly {
  std::string text;
  // The side file is these parts of the file, one after another.
  std::vector<Extent> side;
};

Disassembly Disassemble(std::span<const std::uint8_t> file,
                        const DisassembleOptions& options = {});

// The holes of a file on disk, in order. Empty where the file system cannot
// tell.
std::vector<Extent> FindHoles(const std::filesystem::path& path);

// Writes the side file. The error names the path.
std::expected<void, std::string> WriteSideFile(
    std::span<const std::uint8_t> file, const Disassembly& disassembly,
    const std::filesystem::path& path);

}  // namespace weightproof::corpus

#endif  // WEIGHTPROOF_CORPUS_DISASSEMBLER_H_
