#include "reference/q8_0/generator.h"

#include <array>
#include <bit>
#include <optional>
#include <span>
#include <string_view>

#include "reference/q8_0/blocks.h"

namespace weightproof::q8_0 {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::uint32_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }

 private:
  std::uint64_t state_;
};

using Values = std::array<float, kBlockValues>;

float FromFields(std::uint32_t sign, std::uint32_t exponent,
                 std::uint32_t mantissa) {
  return std::bit_cast<float>(sign << 31 | exponent << 23 | mantissa);
}

float Uniform(Draw& draw) {
  const std::int32_t r = static_cast<std::int32_t>(draw.Next() >> 7);
  return static_cast<float>(r - (1 << 23)) * 0x1p-21f;
}

float Bf16Value(Draw& draw) {
  const std::uint32_t r = draw.Next();
  return FromFields(r & 1, 118 + (r >> 1) % 10, ((r >> 20) & 127) << 16);
}

float HalfInteger(Draw& draw) {
  const std::int32_t r = static_cast<std::int32_t>(draw.Next() % 509);
  return static_cast<float>(r - 254) / 2;
}

float Wide(Draw& draw, std::uint32_t exponent) {
  const std::uint32_t r = draw.Next();
  return FromFields(r & 1, exponent + (r >> 1) % 8, draw.Next() & 0x7fffff);
}

Values DrawValues(Draw& draw, char kind) {
  Values values;
  std::uint32_t exponent = 0;
  if (kind == 'W') exponent = 40 + draw.Next() % 100;
  for (float& value : values) {
    switch (kind) {
      case 'U':
        value = Uniform(draw);
        break;
      case 'B':
        value = Bf16Value(draw);
        break;
      case 'H':
        value = HalfInteger(draw);
        break;
      default:
        value = Wide(draw, exponent);
    }
  }
  if (kind == 'H') values[0] = 127;
  return values;
}

Block DrawBlock(Draw& draw, char kind) {
  Block block;
  const std::uint32_t r = draw.Next();
  block.d = static_cast<std::uint16_t>(kind == 'w' ? 1 + r % 0x7bff
                                                   : 0x2800 + r % 0x1400);
  if (kind == 's' && ((r >> 20) & 1) != 0) block.d |= 0x8000;
  for (std::int8_t& code : block.q) {
    const std::uint32_t c = draw.Next();
    code = kind == 'f'
               ? static_cast<std::int8_t>(static_cast<std::uint8_t>(c % 256))
               : static_cast<std::int8_t>(static_cast<int>(c % 255) - 127);
  }
  return block;
}

bool DrawsValues(char kind) {
  return std::string_view("UBHW").find(kind) != std::string_view::npos;
}

bool DrawsBlocks(char kind) {
  return std::string_view("msfw").find(kind) != std::string_view::npos;
}

// Block b of the f16 patterns in rising order.
void AppendPatterns(std::uint64_t b, std::vector<std::uint8_t>& out) {
  for (std::uint64_t i = 0; i < kBlockValues; ++i) {
    const std::uint64_t pattern = b * kBlockValues + i;
    out.push_back(static_cast<std::uint8_t>(pattern));
    out.push_back(static_cast<std::uint8_t>(pattern >> 8));
  }
}

// Draws count blocks of kind; the bytes are appended to out.
void Append(Draw& draw, char kind, std::uint64_t count,
            std::vector<std::uint8_t>& out) {
  for (std::uint64_t b = 0; b < count; ++b) {
    const std::size_t at = out.size();
    if (kind == 'h') {
      AppendPatterns(b, out);
    } else if (DrawsValues(kind)) {
      const Values values = DrawValues(draw, kind);
      out.resize(at + 4 * kBlockValues);
      for (std::size_t i = 0; i < kBlockValues; ++i) {
        WriteF32(values[i], std::span(out).subspan(at), i);
      }
    } else {
      out.resize(at + kQ80Bytes);
      WriteQ80(DrawBlock(draw, kind), std::span(out).subspan(at));
    }
  }
}

}  // namespace

std::expected<std::vector<std::uint8_t>, std::string> ExpandGenerator(
    const GeneratorSpec& spec) {
  for (char kind : {spec.draw, spec.after == 0 ? 'U' : spec.after}) {
    if (!DrawsValues(kind) && !DrawsBlocks(kind) && kind != 'h') {
      return std::unexpected(std::string("unknown draw \"") + kind + "\"");
    }
  }
  if (spec.blocks > kMaxGeneratedBlocks ||
      spec.after_blocks > kMaxGeneratedBlocks - spec.blocks) {
    return std::unexpected(std::string("too many blocks"));
  }
  Draw draw(spec.seed);
  std::vector<std::uint8_t> out;
  if (spec.after != 0) Append(draw, spec.after, spec.after_blocks, out);
  out.clear();
  Append(draw, spec.draw, spec.blocks, out);
  return out;
}

}  // namespace weightproof::q8_0
