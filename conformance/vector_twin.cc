#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/vector_build_one.h"
#include "reference/gguf/fields.h"

namespace weightproof::conformance {
namespace {

using gguf::Field;
using gguf::FieldKind;

// The fields of a file by path, and whether its structure could be told to
// the end.
struct Walk {
  std::map<std::string, std::vector<std::uint8_t>> fields;
  bool complete = false;
};

// Fields of the header and the tables only: data and padding move with them.
bool IsStructure(FieldKind kind) {
  return kind != FieldKind::kData && kind != FieldKind::kPadding &&
         kind != FieldKind::kGap && kind != FieldKind::kTrailing &&
         kind != FieldKind::kUnparsed && kind != FieldKind::kBase;
}

Walk WalkOf(const FileView& file, std::uint64_t base) {
  Walk out;
  gguf::Input input;
  input.prefix = file.bytes();
  input.file_size = file.bytes().size();
  input.base = base;
  const gguf::FieldWalk walk =
      gguf::VisitFields(input, [&](const Field& field) {
        if (!IsStructure(field.kind)) return;
        const auto bytes = file.bytes().subspan(field.offset, field.size);
        out.fields[field.path].assign(bytes.begin(), bytes.end());
      });
  out.complete = walk.complete;
  return out;
}

// "header", "kv[3]", "tensor[0]".
std::string EntryOf(const std::string& path) {
  return path.substr(0, path.find('.'));
}

}  // namespace

std::set<std::string> DifferingEntries(const FileView& file,
                                       const FileView& twin,
                                       std::uint64_t base) {
  std::set<std::string> out;
  const auto a = file.bytes(), b = twin.bytes();
  const std::size_t common = std::min(a.size(), b.size());
  // Cut short, or longer at the end only.
  if (std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(common),
                 b.begin())) {
    return out;
  }
  const Walk faulty = WalkOf(file, base);
  const Walk clean = WalkOf(twin, 0);
  // An entry that only one of them has is a matter of the header's counts.
  const auto entry_of = [](const std::string& path, const Walk& other) {
    const std::string entry = EntryOf(path);
    const auto first = other.fields.lower_bound(entry + ".");
    const bool present =
        first != other.fields.end() && EntryOf(first->first) == entry;
    return present ? entry : std::string("header");
  };
  for (const auto& [path, bytes] : clean.fields) {
    const auto found = faulty.fields.find(path);
    // Behind the place where the structure is lost nothing can be compared.
    if (found == faulty.fields.end() && !faulty.complete) continue;
    if (found == faulty.fields.end() || found->second != bytes) {
      out.insert(entry_of(path, faulty));
    }
  }
  for (const auto& [path, bytes] : faulty.fields) {
    if (!clean.fields.contains(path)) out.insert(entry_of(path, clean));
  }
  return out;
}

}  // namespace weightproof::conformance
