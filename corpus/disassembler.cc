#include "corpus/disassembler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "corpus/disassembler_runs.h"
#include "reference/gguf/fields.h"

namespace weightproof::corpus {
namespace {

using gguf::Field;
using gguf::FieldKind;

constexpr std::array<const char*, 13> kValueTypes = {
    "u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
    "bool", "string", "array", "u64", "i64", "f64"};
constexpr std::uint32_t kF32 = 6, kBool = 7, kF64 = 12;

// Width, or 0 for what is not of fixed size.
std::uint64_t WidthOf(std::uint32_t type) {
  constexpr std::array<std::uint64_t, 13> kWidths = {1, 1, 2, 2, 4, 4, 4,
                                                     1, 0, 0, 8, 8, 8};
  return type < kWidths.size() ? kWidths[type] : 0;
}

class Disassembler {
 public:
  Disassembler(std::span<const std::uint8_t> file,
               const DisassembleOptions& options, Disassembly& out)
      : file_(file), runs_(file, options, out) {}

  void Take(const Field& field) {
    const std::string group = GroupOf(field.path);
    if (group != group_) Flush();
    group_ = group;
    // What may be long is written as it comes.
    const bool element = field.path.find(".value[") != std::string::npos;
    const bool bulk =
        field.kind == FieldKind::kItems ||
        (field.kind == FieldKind::kText && field.size > kMaxInline);
    if (!element && !bulk && !group.empty()) {
      pending_.push_back(field);
      return;
    }
    if (element && Pairs(field)) return;
    Flush();
    Plain(field);
  }

  void Flush() {
    if (pending_.empty()) return;
    const std::vector<Field> fields = std::exchange(pending_, {});
    if (gguf_header_ && fields[0].path.starts_with("kv[") && KeyValue(fields)) {
      return;
    }
    if (gguf_header_ && fields[0].path.starts_with("tensor[") &&
        Tensor(fields)) {
      return;
    }
    if (fields[0].path.starts_with("header.") && Header(fields)) return;
    Strings(fields, 0);
  }

 private:
  // "kv[3]", "tensor[0]", "header"; "" for the rest.
  static std::string GroupOf(const std::string& path) {
    if (path.starts_with("header.")) return "header";
    if (!path.starts_with("kv[") && !path.starts_with("tensor[")) return "";
    return path.substr(0, path.find(']') + 1);
  }

  // Two fields of an array's element that make one statement: the length and
  // the bytes of a string, the header of an array. True if the field was used.
  bool Pairs(const Field& field) {
    const bool second =
        pending_.size() == 1 &&
        ((field.kind == FieldKind::kText && field.size <= kMaxInline &&
          pending_[0].kind == FieldKind::kLength) ||
         (field.kind == FieldKind::kLength &&
          pending_[0].kind == FieldKind::kType));
    if (!second) {
      Flush();
      if (field.kind != FieldKind::kLength && field.kind != FieldKind::kType) {
        return false;
      }
    }
    pending_.push_back(field);
    if (second) Flush();
    return true;
  }

  std::span<const std::uint8_t> BytesOf(const Field& field) const {
    return file_.subspan(field.offset, field.size);
  }

  std::uint64_t Raw(std::uint64_t offset, std::uint64_t width) const {
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < width; ++i) {
      const std::uint64_t place = big_endian_ ? i : width - 1 - i;
      value = value << 8 | file_[offset + place];
    }
    return value;
  }

  // "7", "-3", "bits 0x7fc00000".
  std::string ScalarText(std::uint32_t type, std::uint64_t offset) const {
    const std::uint64_t width = WidthOf(type);
    const std::uint64_t raw = Raw(offset, width);
    if (type == kF32) return fmt::format("bits 0x{:08x}", raw);
    if (type == kF64) return fmt::format("bits 0x{:016x}", raw);
    const bool is_signed = type == 1 || type == 3 || type == 5 || type == 11;
    if (!is_signed) return std::to_string(raw);
    const int shift = static_cast<int>(64 - 8 * width);
    return std::to_string(static_cast<std::int64_t>(raw << shift) >> shift);
  }

  // The word of an integer statement of a field without a type of its own.
  static std::string UnsignedWord(std::uint64_t width) {
    return fmt::format("u{}", width * 8);
  }

  std::string TypeText(const Field& field) const {
    if (!field.tensor_type && field.number < kValueTypes.size()) {
      return kValueTypes[field.number];
    }
    return std::to_string(field.number);
  }

  // A string with its length, which may lie.
  std::string StringText(const Field& length, const Field& text) const {
    std::string out = Quote(BytesOf(text));
    if (length.number != text.size)
      out += fmt::format(" len {}", length.number);
    return out;
  }

  // magic, version, tensor_count, kv_count
  bool Header(const std::vector<Field>& fields) {
    constexpr std::string_view kMagic = "GGUF";
    if (fields.size() != 4 || !std::ranges::equal(BytesOf(fields[0]), kMagic)) {
      return false;
    }
    const std::uint64_t width = fields[2].size;
    const std::uint64_t version = fields[1].number;
    if (width != (version == 1 ? 4u : 8u)) return false;
    big_endian_ = Raw(fields[1].offset, 4) != version;
    if (big_endian_) runs_.Line("endian big", "");
    runs_.Line(fmt::format("gguf {} {} {}", version, fields[2].number,
                           fields[3].number),
               "version, tensors, kv");
    return gguf_header_ = true;
  }

  bool KeyValue(const std::vector<Field>& fields) {
    if (fields.size() < 3 || fields[0].kind != FieldKind::kLength ||
        fields[1].kind != FieldKind::kText ||
        fields[2].kind != FieldKind::kType) {
      return false;
    }
    std::string line = fmt::format("kv {} {}", StringText(fields[0], fields[1]),
                                   TypeText(fields[2]));
    const std::span rest = std::span(fields).subspan(3);
    std::size_t used = 0;
    if (!rest.empty() && rest[0].kind == FieldKind::kScalar) {
      const bool is_bool = rest[0].type == kBool;
      line += " " + (is_bool ? std::to_string(Raw(rest[0].offset, 1))
                             : ScalarText(rest[0].type, rest[0].offset));
      used = 1;
    } else if (rest.size() == 2 && rest[0].kind == FieldKind::kLength &&
               rest[1].kind == FieldKind::kText) {
      line += " " + StringText(rest[0], rest[1]);
      used = 2;
    } else if (rest.size() == 2 && rest[0].kind == FieldKind::kType &&
               rest[1].kind == FieldKind::kLength) {
      line += fmt::format(" {} {}", TypeText(rest[0]), rest[1].number);
      used = 2;
    }
    runs_.Line(line, "");
    Strings(fields, 3 + used);
    return true;
  }

  // name.len name n_dims dims.. type offset
  bool Tensor(const std::vector<Field>& fields) {
    if (fields.size() < 5 || fields[1].kind != FieldKind::kText ||
        fields[2].kind != FieldKind::kCount ||
        fields.back().kind != FieldKind::kOffset) {
      return false;
    }
    std::string dims;
    for (std::size_t i = 3; i + 2 < fields.size(); ++i) {
      if (fields[i].kind != FieldKind::kDim) return false;
      dims += fmt::format("{}{}", dims.empty() ? "" : ", ", fields[i].number);
    }
    std::string line =
        fmt::format("tensor {} [{}]", StringText(fields[0], fields[1]), dims);
    if (fields[2].number != fields.size() - 5) {
      line += fmt::format(" n_dims {}", fields[2].number);
    }
    const Field& type = fields[fields.size() - 2];
    if (type.kind != FieldKind::kType) return false;
    runs_.Line(fmt::format("{} {} {}", line, type.number, fields.back().number),
               "");
    return true;
  }

  // The fields from first on; pairs as Pairs() says are one statement.
  void Strings(const std::vector<Field>& fields, std::size_t first) {
    for (std::size_t i = first; i < fields.size(); ++i) {
      const bool pair = gguf_header_ && i + 1 < fields.size() &&
                        fields[i].kind == FieldKind::kLength &&
                        fields[i + 1].kind == FieldKind::kText;
      const bool array = gguf_header_ && i + 1 < fields.size() &&
                         fields[i].kind == FieldKind::kType &&
                         fields[i + 1].kind == FieldKind::kLength;
      if (!pair && !array) {
        Plain(fields[i]);
        continue;
      }
      runs_.Line(array ? fmt::format("array {} {}", TypeText(fields[i]),
                                     fields[i + 1].number)
                       : "str " + StringText(fields[i], fields[i + 1]),
                 "");
      ++i;
    }
  }

  // One field by itself.
  void Plain(const Field& field) {
    switch (field.kind) {
      case FieldKind::kVersion:
      case FieldKind::kCount:
      case FieldKind::kLength:
      case FieldKind::kType:
      case FieldKind::kDim:
      case FieldKind::kOffset:
        return runs_.Line(fmt::format("{} {}", UnsignedWord(field.size),
                                      Raw(field.offset, field.size)),
                          field.path);
      case FieldKind::kScalar:
      case FieldKind::kItems:
        return Scalars(field);
      case FieldKind::kText:
        if (field.size <= kMaxInline) {
          return runs_.Line("text " + Quote(BytesOf(field)), field.path);
        }
        break;
      default:
        break;
    }
    if (field.size > 0) runs_.Write(field.offset, field.size, field.path);
  }

  void Scalars(const Field& field) {
    const std::uint64_t width = WidthOf(field.type);
    if (width == 0 || field.size > kMaxInline || field.size % width != 0) {
      if (field.size > 0) runs_.Write(field.offset, field.size, field.path);
      return;
    }
    const std::uint64_t per_line = width == 8 ? 4 : width == 4 ? 6 : 16;
    const std::string word =
        field.type == kBool ? "u8" : kValueTypes[field.type];
    std::string comment = field.path;
    for (std::uint64_t at = 0; at < field.size;) {
      std::string line = word;
      for (std::uint64_t i = 0; i < per_line && at < field.size; ++i) {
        line +=
            (i > 0 ? ", " : " ") + ScalarText(field.type, field.offset + at);
        at += width;
      }
      runs_.Line(line, std::exchange(comment, {}));
    }
  }

  std::span<const std::uint8_t> file_;
  RunWriter runs_;
  std::string group_;
  std::vector<Field> pending_;  // of one group, in file order
  bool gguf_header_ = false;    // written by the macro: its widths hold
  bool big_endian_ = false;
};

}  // namespace

Disassembly Disassemble(std::span<const std::uint8_t> file,
                        const DisassembleOptions& options) {
  Disassembly out;
  out.text = options.header;
  if (!out.text.empty() && out.text.back() != '\n') out.text += '\n';
  Disassembler disassembler(file, options, out);
  gguf::Input input;
  input.prefix = file;
  input.file_size = file.size();
  input.base = options.base;
  const gguf::FieldWalk walk = gguf::VisitFields(
      input, [&](const Field& field) { disassembler.Take(field); });
  disassembler.Flush();
  if (!walk.complete) out.text += "# " + walk.problem + "\n";
  return out;
}

std::vector<Extent> FindHoles(const std::filesystem::path& path) {
  std::vector<Extent> out;
#ifdef SEEK_HOLE
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return out;
  const off_t size = lseek(fd, 0, SEEK_END);
  for (off_t at = 0; at < size;) {
    const off_t hole = lseek(fd, at, SEEK_HOLE);
    if (hole < 0 || hole >= size) break;
    const off_t data = lseek(fd, hole, SEEK_DATA);
    at = data < 0 ? size : data;
    out.push_back({static_cast<std::uint64_t>(hole),
                   static_cast<std::uint64_t>(at - hole)});
  }
  close(fd);
#endif
  return out;
}

std::expected<void, std::string> WriteSideFile(
    std::span<const std::uint8_t> file, const Disassembly& disassembly,
    const std::filesystem::path& path) {
  std::ofstream out(path, std::ios::binary);
  for (const Extent& part : disassembly.side) {
    const auto bytes = file.subspan(part.offset, part.size);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  }
  out.flush();
  if (!out) return std::unexpected(path.string() + ": cannot be written");
  return {};
}

}  // namespace weightproof::corpus
