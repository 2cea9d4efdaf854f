// Names and text: the set of names, UTF-8, and the walk over string arrays.
#include <simdjson.h>
#include <sys/random.h>

#include <algorithm>
#include <chrono>

#include "impls/cpu/gguf_view_internal.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {
namespace gguf_internal {
namespace {

struct HashKey {
  std::uint64_t k0, k1;
};

HashKey ProcessKey() {
  static const HashKey kKey = [] {
    HashKey key{};
    if (getentropy(&key, sizeof key) != 0) {
      key.k0 = static_cast<std::uint64_t>(
          std::chrono::steady_clock::now().time_since_epoch().count());
      key.k1 = reinterpret_cast<std::uintptr_t>(&key);
    }
    return key;
  }();
  return kKey;
}

struct SipState {
  std::uint64_t v0, v1, v2, v3;
  void Round() {
    v0 += v1, v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0, v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1, v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2, v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
};

// SipHash-1-3 (Aumasson and Bernstein 2012).
std::uint64_t KeyedHash(std::string_view text) {
  const HashKey key = ProcessKey();
  SipState s{key.k0 ^ 0x736f6d6570736575u, key.k1 ^ 0x646f72616e646f6du,
             key.k0 ^ 0x6c7967656e657261u, key.k1 ^ 0x7465646279746573u};
  const char* p = text.data();
  std::size_t left = text.size();
  for (; left >= 8; p += 8, left -= 8) {
    std::uint64_t m;
    std::memcpy(&m, p, 8);
    s.v3 ^= m;
    s.Round();
    s.v0 ^= m;
  }
  std::uint64_t m = 0;
  if (left > 0) std::memcpy(&m, p, left);
  m |= static_cast<std::uint64_t>(text.size()) << 56;
  s.v3 ^= m;
  s.Round();
  s.v0 ^= m;
  s.v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) s.Round();
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

// Bytes of the well-formed sequence at the head of text, which is not empty;
// 0 if there is none. Table 3-7 of the Unicode standard.
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0u;
  };
  const auto tail = [&byte](std::size_t i) { return byte(i) >> 6 == 2; };
  const unsigned lead = byte(0), second = byte(1);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return tail(1) ? 2 : 0;
  const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high || !tail(2)) return 0;
  if (lead < 0xf0) return 3;
  return tail(3) ? 4 : 0;
}

std::uint64_t FirstIllFormedScalar(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    if (text.size() - i >= 8) {
      std::uint64_t eight;
      std::memcpy(&eight, text.data() + i, 8);
      if ((eight & 0x8080808080808080u) == 0) {
        i += 8;
        continue;
      }
    }
    const std::size_t length = SequenceLength(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return i;
}

constexpr std::uint64_t kShort = 127;
constexpr std::uint64_t kBatch = 16384;

template <bool kWide, bool kSwap>
std::uint64_t LengthAt(const std::uint8_t* p) {
  if constexpr (kWide) {
    std::uint64_t value;
    std::memcpy(&value, p, 8);
    return kSwap ? __builtin_bswap64(value) : value;
  } else {
    std::uint32_t value;
    std::memcpy(&value, p, 4);
    return kSwap ? __builtin_bswap32(value) : value;
  }
}

// A length of at most 127 is ASCII bytes in the file, so a run of lengths and
// strings is well-formed UTF-8 exactly if every string is: no sequence can
// reach across a length. One vectorised check then serves thousands of
// strings.
template <bool kWide, bool kSwap>
bool Walk(const std::uint8_t* data, std::uint64_t end, bool check,
          std::uint64_t* at, std::uint64_t* count) {
  constexpr std::uint64_t kWord = kWide ? 8 : 4;
  if (end < *at || end - *at < kWord + kShort) return true;
  const std::uint8_t* const last = data + end - (kWord + kShort);
  const std::uint8_t* p = data + *at;
  std::uint64_t left = *count;
  bool more = true;
  while (more && left > 0 && p <= last) {
    const std::uint8_t* const batch = p;
    std::uint64_t before = left;
    const std::uint8_t* const stop =
        static_cast<std::uint64_t>(last - p) < kBatch ? last : p + kBatch;
    while (left > 0 && p <= stop) {
      const std::uint64_t size = LengthAt<kWide, kSwap>(p);
      if (size > kShort) {
        more = false;
        break;
      }
      p += kWord + size;
      --left;
    }
    if (!check ||
        simdjson::validate_utf8(reinterpret_cast<const char*>(batch),
                                static_cast<std::size_t>(p - batch))) {
      continue;
    }
    for (p = batch; before > left; --before) {
      const std::uint64_t size = LengthAt<kWide, kSwap>(p);
      const std::string_view text(reinterpret_cast<const char*>(p) + kWord,
                                  size);
      if (FirstIllFormedScalar(text) != size) break;
      p += kWord + size;
    }
    left = before;
    *at = static_cast<std::uint64_t>(p - data);
    *count = left;
    return false;
  }
  *at = static_cast<std::uint64_t>(p - data);
  *count = left;
  return true;
}

}  // namespace

std::uint64_t FirstIllFormed(std::string_view text) {
  if (text.size() > 64 && simdjson::validate_utf8(text.data(), text.size())) {
    return text.size();
  }
  return FirstIllFormedScalar(text);
}

bool WalkShortStrings(const Layout& layout, std::uint64_t end, bool check,
                      std::uint64_t* at, std::uint64_t* count) {
  const auto walk = !layout.wide  ? Walk<false, false>
                    : layout.swap ? Walk<true, true>
                                  : Walk<true, false>;
  return walk(layout.data, end, check, at, count);
}

std::uint32_t NameSet::HashOf(std::string_view name) {
  return static_cast<std::uint32_t>(KeyedHash(name));
}

bool NameSet::Insert(std::string_view name, std::uint32_t hash) {
  if (used_ * 4 >= slots_.size() * 3) Grow();
  Slot* const slot = Find(name, hash);
  if (slot->data != nullptr) return false;
  // An empty name may have no address of its own.
  *slot = {name.data() != nullptr ? name.data() : "",
           static_cast<std::uint32_t>(name.size()), hash};
  ++used_;
  return true;
}

NameSet::Slot* NameSet::Find(std::string_view name, std::uint32_t hash) {
  const std::uint64_t mask = slots_.size() - 1;
  for (std::uint64_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.data == nullptr) return &slot;
    if (slot.hash == hash && std::string_view(slot.data, slot.size) == name) {
      return &slot;
    }
  }
}

void NameSet::Grow() {
  std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 4);
  old.swap(slots_);
  const std::uint64_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.data == nullptr) continue;
    std::uint64_t i = slot.hash & mask;
    while (slots_[i].data != nullptr) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

std::uint64_t NameSet::LongestProbe() const {
  const std::uint64_t mask = slots_.size() - 1;
  std::uint64_t longest = 0;
  for (std::uint64_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].data == nullptr) continue;
    longest = std::max(longest, ((i - slots_[i].hash) & mask) + 1);
  }
  return longest;
}

}  // namespace gguf_internal
}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls
