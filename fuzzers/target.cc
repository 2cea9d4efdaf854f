#include "fuzzers/target.h"

#include <algorithm>
#include <array>

// The build writes one line FORMAT(gguf) for each folder.
#define FORMAT(name)                              \
  namespace weightproof::fuzzers::format_##name { \
    std::span<const Target> FormatTargets();      \
  }
#include "fuzzers/formats.inc"
#undef FORMAT

namespace weightproof::fuzzers {
namespace {

std::vector<Target> Collect() {
  std::vector<Target> all;
#define FORMAT(name)                                            \
  for (const Target& target : format_##name::FormatTargets()) { \
    all.push_back(target);                                      \
  }
#include "fuzzers/formats.inc"
#undef FORMAT
  std::ranges::sort(all, {}, &Target::name);
  return all;
}

constexpr std::array<std::uint64_t, 16> kBoundaries = {0,
                                                       1,
                                                       0x7f,
                                                       0x80,
                                                       0xff,
                                                       0x7fff,
                                                       0x8000,
                                                       0xffff,
                                                       0x7fffffff,
                                                       0x80000000,
                                                       0xffffffff,
                                                       0x100000000,
                                                       0x7fffffffffffffff,
                                                       0x8000000000000000,
                                                       0xffffffffffffffff,
                                                       0xfffffffffffffffe};

std::ptrdiff_t At(Random& random, std::size_t size) {
  return static_cast<std::ptrdiff_t>(random.Below(size));
}

void PutBoundary(Bytes& out, Random& random) {
  const std::size_t width = std::size_t{1} << random.Below(4);
  if (out.size() < width) return;
  const std::uint64_t value =
      kBoundaries[random.Below(kBoundaries.size())] + random.Below(3) - 1;
  const std::size_t at = random.Below(out.size() - width + 1);
  const bool big = random.OneIn(2);
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t place = big ? width - 1 - i : i;
    out[at + place] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

void MutateOnce(Bytes& out, Random& random) {
  if (out.empty()) {
    out = random.Take(1 + random.Below(16));
    return;
  }
  const std::ptrdiff_t at = At(random, out.size());
  const auto place = out.begin() + at;
  const std::size_t run = std::min<std::size_t>(
      1 + random.Below(16), out.size() - static_cast<std::size_t>(at));
  const auto run_end = place + static_cast<std::ptrdiff_t>(run);
  switch (random.Below(7)) {
    case 0:
      *place ^= static_cast<std::uint8_t>(1u << random.Below(8));
      return;
    case 1:
      *place = static_cast<std::uint8_t>(random.Next());
      return;
    case 2:
      PutBoundary(out, random);
      return;
    case 3: {
      const Bytes fresh = random.Take(run);
      out.insert(place, fresh.begin(), fresh.end());
      return;
    }
    case 4:
      out.erase(place, run_end);
      return;
    case 5: {
      const Bytes copy(place, run_end);
      out.insert(out.begin() + At(random, out.size() + 1), copy.begin(),
                 copy.end());
      return;
    }
    default:
      std::fill(place, run_end, *place);
  }
}

}  // namespace

std::span<const Target> Targets() {
  static const std::vector<Target> kAll = Collect();
  return kAll;
}

const Target* FindTarget(std::string_view name) {
  for (const Target& target : Targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

Bytes MutateBytes(ByteSpan input, Random& random, std::size_t max_size) {
  Bytes out(input.begin(), input.end());
  do {
    MutateOnce(out, random);
  } while (random.OneIn(2));
  if (out.size() > max_size) out.resize(max_size);
  return out;
}

Bytes CrossBytes(ByteSpan a, ByteSpan b, Random& random, std::size_t max_size) {
  const std::size_t head = random.Below(a.size() + 1);
  const std::size_t tail = random.Below(b.size() + 1);
  Bytes out(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(head));
  out.insert(out.end(), b.end() - static_cast<std::ptrdiff_t>(tail), b.end());
  if (out.size() > max_size) out.resize(max_size);
  return out;
}

Bytes GenerateBytes(Random& random) {
  const std::uint64_t bound = std::uint64_t{1} << random.Below(10);
  return random.Take(random.Below(bound + 1));
}

}  // namespace weightproof::fuzzers
