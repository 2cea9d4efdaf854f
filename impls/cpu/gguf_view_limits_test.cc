// Memory and time of the optimized GGUF reader: what it allocates is bounded by
// the header it was given, whatever the header declares.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "impls/cpu/gguf_view.h"
#include "impls/cpu/gguf_view_internal.h"
#include "impls/cpu/gguf_view_testing.h"

namespace {

// Bytes allocated now and at most; each block remembers its size.
std::atomic<std::uint64_t> now{0}, peak{0};
constexpr std::size_t kHead = 16;

}  // namespace

void* operator new(std::size_t size) {
  void* const block = std::malloc(size + kHead);
  if (block == nullptr) throw std::bad_alloc();
  *static_cast<std::size_t*>(block) = size;
  if ((now += size) > peak) peak = now.load();
  return static_cast<char*>(block) + kHead;
}

void operator delete(void* pointer) noexcept {
  if (pointer == nullptr) return;
  void* const block = static_cast<char*>(pointer) - kHead;
  now -= *static_cast<std::size_t*>(block);
  std::free(block);
}

void operator delete(void* pointer, std::size_t) noexcept {
  operator delete(pointer);
}

namespace weightproof::impls::testing {
namespace {

constexpr GgufProfile kAll[] = {GgufProfile::kSpec, GgufProfile::kGgml,
                                GgufProfile::kCandle};

GgufResult ParseText(const std::string& bytes, GgufProfile profile,
                     std::uint64_t file_size) {
  return ParseGguf(
      {.prefix = {reinterpret_cast<const std::uint8_t*>(bytes.data()),
                  bytes.size()},
       .file_size = file_size,
       .base = 0,
       .profile = profile,
       .require_keys = true});
}

// All of bytes is header.
void ExpectBounded(const std::string& bytes, std::uint64_t file_size,
                   const std::string& what) {
  for (const GgufProfile profile : kAll) {
    const std::uint64_t before = now;
    peak = before;
    const GgufResult result = ParseText(bytes, profile, file_size);
    const std::uint64_t used = peak - before;
    EXPECT_LE(used, (1u << 20) + 16 * bytes.size())
        << what << ", profile " << static_cast<int>(profile) << ", "
        << bytes.size() << " bytes of header, " << result.index();
  }
}

TEST(GgufViewMemory, CasesStayWithinTheBound) {
  for (const Case& c : AllCases()) {
    ExpectBounded(c.bytes, c.file_size.value_or(c.bytes.size()), c.rule);
  }
}

TEST(GgufViewMemory, ManySmallEntriesStayWithinTheBound) {
  // Just over the sizes at which vectors and the set of names grow.
  for (const std::uint64_t n : {49153u, 65537u, 98305u, 131073u}) {
    std::string keys = H(3, 0, n), same = H(3, 0, n), tensors = H(3, n, 0);
    std::string nuls = H(3, n, 0);
    for (std::uint64_t i = 0; i < n; ++i) {
      keys += Kv(fmt::format("{:x}", i), 0, "\1");
      same += Kv("", 0, "\1");
      tensors += Ti(fmt::format("{:x}", i), {}, 0, 0);
      nuls += Ti(std::string(1, '\0') + fmt::format("{:x}", i), {}, 0, 32 * i);
    }
    ExpectBounded(keys, keys.size(), "keys");
    ExpectBounded(same, same.size(), "equal keys");
    ExpectBounded(Pad(tensors) + Z(4), Pad(tensors).size() + 4, "tensors");
    ExpectBounded(Pad(nuls), Pad(nuls).size() + 32 * n, "names with NUL");
  }
}

TEST(GgufViewMemory, DeclaredSizesAreNotBelieved) {
  constexpr std::uint64_t kFile = 40ull << 30;
  ExpectBounded(H(3, 1u << 30, 1u << 20), kFile, "counts");
  ExpectBounded(H(3, 0, 1) + U64(1u << 30), kFile, "key");
  ExpectBounded(H(3, 0, 1) + Kv("k", 8, U64(1u << 30)), kFile, "string");
  for (const std::uint32_t element : {0u, 8u, 9u, 12u}) {
    ExpectBounded(H(3, 0, 1) + Kv("k", 9, A(element, 1u << 30)), kFile,
                  "array");
  }
  ExpectBounded(H(3, 0, 1) + Kv("k", 9, Times(63, A(9, 1u << 30))), kFile,
                "nested arrays");
  ExpectBounded(H(3, 1, 0) + U64(1u << 30), kFile, "name");
}

TEST(GgufViewTime, HostileKeysDoNotCollide) {
  // Equal under h * 33 + c and under h * 31 + c, for any seed of either.
  for (const auto& [a, b] : {std::pair("Ez", "FY"), {"Aa", "BB"}}) {
    std::vector<std::string> names;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      std::string name;
      for (int i = 0; i < 16; ++i) name += (bits >> i) % 2 == 0 ? a : b;
      names.push_back(name);
    }
    gguf_internal::NameSet set;
    for (const std::string& name : names) EXPECT_TRUE(set.Insert(name));
    for (const std::string& name : names) EXPECT_FALSE(set.Insert(name));
    EXPECT_EQ(set.size(), names.size());
    EXPECT_LT(set.LongestProbe(), 1000u);
  }
}

TEST(GgufViewTime, SimilarKeysDoNotCollide) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < 100000; ++i) {
    names.push_back(U32(i) + std::string(i % 40, '\0'));
  }
  gguf_internal::NameSet set;
  for (const std::string& name : names) ASSERT_TRUE(set.Insert(name));
  EXPECT_LT(set.LongestProbe(), 1000u);
  EXPECT_TRUE(set.Insert(""));
  EXPECT_FALSE(set.Insert(""));
}

TEST(GgufViewTime, AliasedTensorsShareOneLookAtTheirPadding) {
  // 20,000 tensors of one byte at one place, each with 16 MiB of padding: a
  // look for each would read 320 GB.
  constexpr std::uint64_t kTensors = 20000, kAlignment = 1u << 24;
  std::string bytes =
      H(3, kTensors, 1) + Kv("general.alignment", 4, U32(kAlignment));
  for (std::uint64_t i = 0; i < kTensors; ++i) {
    bytes += Ti(fmt::format("t{}", i), {1}, 24, 0);
  }
  bytes = Pad(bytes, kAlignment) + Z(kAlignment);
  const GgufResult result = ParseText(bytes, GgufProfile::kSpec, bytes.size());
  ASSERT_TRUE(std::holds_alternative<GgufView>(result));
  EXPECT_EQ(std::get<GgufView>(result).tensors.size(), kTensors);
}

}  // namespace
}  // namespace weightproof::impls::testing
