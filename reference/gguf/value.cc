#include "reference/gguf/value.h"

#include <algorithm>
#include <array>

#include "reference/gguf/context.h"
#include "reference/gguf/types.h"

namespace weightproof::gguf {
namespace {

// Bytes turned round at a time; a multiple of every width.
constexpr std::size_t kPieceBytes = 4096;

class Walker {
 public:
  Walker(const File& file, std::uint64_t pos, ValueVisitor& visitor)
      : file_(file), pos_(pos), visitor_(visitor) {}

  void Value(std::uint32_t type) {
    if (type == kString) return String();
    if (type == kArray) return Array();
    Items(type, 1);
  }

 private:
  struct Level {
    std::uint32_t type = 0;
    std::uint64_t remaining = 0;
  };

  std::uint64_t Integer(std::uint64_t width) {
    const std::uint64_t value =
        LoadInteger(file_.Bytes({pos_, width}), file_.big_endian);
    pos_ += width;
    return value;
  }

  void String() {
    const std::uint64_t length = Integer(file_.LengthWidth());
    visitor_.String(file_.Bytes({pos_, length}));
    pos_ += length;
  }

  void Items(std::uint32_t type, std::uint64_t count) {
    const std::uint64_t width = ValueWidth(type);
    auto bytes = file_.Bytes({pos_, count * width});
    pos_ += bytes.size();
    if (count == 0) return;
    if (!file_.big_endian) return visitor_.Scalars(type, bytes, count);
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min(bytes.size(), kPieceBytes));
      std::array<std::uint8_t, kPieceBytes> turned;
      for (std::size_t i = 0; i < piece.size(); ++i) {
        turned[i / width * width + width - 1 - i % width] = piece[i];
      }
      visitor_.Scalars(type, std::span(turned).first(piece.size()),
                       piece.size() / width);
      bytes = bytes.subspan(piece.size());
    }
  }

  Level ArrayHeader() {
    Level level;
    level.type = static_cast<std::uint32_t>(Integer(4));
    level.remaining = Integer(file_.LengthWidth());
    visitor_.ArrayBegin(level.type, level.remaining);
    return level;
  }

  void Array() {
    std::array<Level, kMaxArrayLevels> open;
    std::size_t depth = 0;
    open[depth++] = ArrayHeader();
    while (depth > 0) {
      Level& level = open[depth - 1];
      if (level.remaining == 0) {
        visitor_.ArrayEnd();
        --depth;
      } else if (level.type == kArray) {
        --level.remaining;
        open[depth++] = ArrayHeader();
      } else if (level.type == kString) {
        --level.remaining;
        String();
      } else {
        Items(level.type, level.remaining);
        level.remaining = 0;
      }
    }
  }

  const File& file_;
  std::uint64_t pos_;
  ValueVisitor& visitor_;
};

}  // namespace

void VisitValue(const File& file, const KeyValue& kv, ValueVisitor& visitor) {
  Walker(file, kv.value.begin, visitor).Value(kv.type);
}

}  // namespace weightproof::gguf
