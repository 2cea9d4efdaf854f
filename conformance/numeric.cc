#include "conformance/numeric.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>

#include "conformance/vector_json.h"
#include "reference/q8_0/blocks.h"
#include "reference/q8_0/f16.h"
#include "reference/q8_0/generator.h"

namespace weightproof::conformance {
namespace {

constexpr std::uint64_t kMaxBuffer = std::uint64_t{512} << 20;

using Buffer = std::expected<std::vector<std::uint8_t>, std::string>;

// A member that must be a one-letter string.
std::expected<char, std::string> Letter(const Json& gen, const char* name) {
  const auto it = gen.find(name);
  if (it == gen.end() || !it->is_string() ||
      it->get_ref<const std::string&>().size() != 1) {
    return std::unexpected(fmt::format("gen.{} is not one letter", name));
  }
  return it->get_ref<const std::string&>()[0];
}

std::expected<std::uint64_t, std::string> Count(const Json& gen,
                                                const char* name) {
  const auto it = gen.find(name);
  if (it == gen.end() || !it->is_number_integer() || *it < 0) {
    return std::unexpected(
        fmt::format("gen.{} is not an unsigned integer", name));
  }
  return it->get<std::uint64_t>();
}

Buffer Generate(const Json& gen) {
  if (!gen.is_object()) return std::unexpected("gen is not an object");
  q8_0::GeneratorSpec spec;
  const auto seed = Count(gen, "seed");
  if (!seed) return std::unexpected(seed.error());
  const auto draw = Letter(gen, "draw");
  if (!draw) return std::unexpected(draw.error());
  const auto blocks = Count(gen, "blocks");
  if (!blocks) return std::unexpected(blocks.error());
  spec.seed = *seed;
  spec.draw = *draw;
  spec.blocks = *blocks;
  if (gen.contains("after")) {
    const auto after = Letter(gen, "after");
    if (!after) return std::unexpected(after.error());
    const auto after_blocks = Count(gen, "after_blocks");
    if (!after_blocks) return std::unexpected(after_blocks.error());
    spec.after = *after;
    spec.after_blocks = *after_blocks;
  }
  return q8_0::ExpandGenerator(spec);
}

void CanonicalHalf(std::span<std::uint8_t> y, std::size_t at) {
  const auto half = static_cast<std::uint16_t>(y[at] | (y[at + 1] << 8));
  if (!q8_0::IsNanF16(half)) return;
  y[at] = 0x00;
  y[at + 1] = 0x7e;
}

void CanonicalFloat(std::span<std::uint8_t> y, std::size_t at) {
  const std::uint32_t pattern = y[at] | (y[at + 1] << 8) | (y[at + 2] << 16) |
                                (static_cast<std::uint32_t>(y[at + 3]) << 24);
  if (!q8_0::IsNanF32(pattern)) return;
  constexpr std::array<std::uint8_t, 4> kNan = {0x00, 0x00, 0xc0, 0x7f};
  for (std::size_t k = 0; k < 4; ++k) y[at + k] = kNan[k];
}

}  // namespace

std::string ToHex(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

Buffer FromHex(std::string_view hex) {
  auto bytes = BytesFromJson(Json::array({{{"hex", std::string(hex)}}}));
  if (!bytes) return std::unexpected(bytes.error().message);
  return bytes->Materialize(kMaxBuffer);
}

Buffer ExpandBuffer(const Json& buffer) {
  if (buffer.is_object() && buffer.contains("gen") && buffer.size() == 1) {
    return Generate(buffer["gen"]);
  }
  auto bytes =
      BytesFromJson(buffer.is_object() ? Json::array({buffer}) : buffer);
  if (!bytes) {
    return std::unexpected(bytes.error().pointer + ": " +
                           bytes.error().message);
  }
  return bytes->Materialize(kMaxBuffer);
}

std::string Sha256Hex(std::span<const std::uint8_t> bytes) {
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest;
  SHA256(bytes.data(), bytes.size(), digest.data());
  return ToHex(digest);
}

std::vector<std::uint8_t> CanonicalOutput(std::string_view operation,
                                          std::span<const std::uint8_t> y) {
  std::vector<std::uint8_t> out(y.begin(), y.end());
  const auto each = [&](std::size_t stride, auto&& canonical) {
    for (std::size_t at = 0; at + stride <= out.size(); at += stride) {
      canonical(std::span(out), at);
    }
  };
  if (operation == "q8_0.quantize") {
    each(q8_0::kQ80Bytes, CanonicalHalf);
  } else if (operation == "q8_1.quantize") {
    each(q8_0::kQ81Bytes, [](std::span<std::uint8_t> bytes, std::size_t at) {
      CanonicalHalf(bytes, at);
      CanonicalHalf(bytes, at + 2);
    });
  } else if (operation == "f16.from_f32") {
    each(2, CanonicalHalf);
  } else {
    each(4, CanonicalFloat);
  }
  return out;
}

}  // namespace weightproof::conformance
