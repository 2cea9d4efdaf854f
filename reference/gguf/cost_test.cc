// What a parse costs: peak allocation by a counting allocator, time by counted
// steps. No clock is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>

#include "reference/gguf/rich_file.h"
#include "reference/gguf/test_case.h"

namespace {

std::size_t live_bytes = 0;
std::size_t peak_bytes = 0;

constexpr std::size_t kHeader = 16;

void* Allocate(std::size_t size) {
  auto* block = static_cast<unsigned char*>(std::malloc(size + kHeader));
  if (block == nullptr) throw std::bad_alloc();
  *static_cast<std::size_t*>(static_cast<void*>(block)) = size;
  live_bytes += size;
  if (live_bytes > peak_bytes) peak_bytes = live_bytes;
  return block + kHeader;
}

void Release(void* pointer) {
  if (pointer == nullptr) return;
  auto* block = static_cast<unsigned char*>(pointer) - kHeader;
  live_bytes -= *static_cast<std::size_t*>(static_cast<void*>(block));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void* operator new[](std::size_t size) { return Allocate(size); }
void operator delete(void* p) noexcept { Release(p); }
void operator delete[](void* p) noexcept { Release(p); }
void operator delete(void* p, std::size_t) noexcept { Release(p); }
void operator delete[](void* p, std::size_t) noexcept { Release(p); }

namespace weightproof::gguf::test {
namespace {

// Peak of one parse, its result included.
void ExpectBounded(const Input& input, const std::string& what) {
  for (const Profile& profile : Profiles()) {
    const std::size_t before = live_bytes;
    peak_bytes = before;
    const auto file = Parse(input, profile);
    const std::size_t peak = peak_bytes - before;
    // A refused header is at most what was handed over.
    std::uint64_t header = input.prefix.size();
    if (file) header = std::min(header, file->data_start);
    EXPECT_LE(peak, (std::size_t{1} << 20) + 16 * header)
        << what << " under " << profile.name;
  }
}

// Distinct, as short as can be, in byte order or against it.
std::string Name(std::uint64_t i) {
  std::string name;
  for (; i != 0; i /= 26) name += static_cast<char>('a' + i % 26);
  return name;
}

constexpr std::uint64_t kMany = 50000;

TestFile ManyKeys(std::uint64_t n, std::uint32_t version = 3) {
  TestFile f = TestFile().Header(version, 0, n);
  for (std::uint64_t i = 1; i <= n; ++i) f.Key(Name(i), 0).U8(0);
  return f;
}

TestFile ManyTensors(std::uint64_t n, std::uint64_t elements,
                     std::uint64_t step, std::uint32_t version = 3) {
  TestFile f = TestFile().Header(version, n, 0);
  for (std::uint64_t i = 1; i <= n; ++i) {
    f.Tensor(Name(i), {elements}, 0, (i - 1) * step);
  }
  return f.Pad().Fill(elements == 0 ? 0 : 32 + n * step);
}

TEST(Memory, OfEveryCase) {
  for (const auto& cases :
       {HeaderCases(), KeyCases(), ValueCases(), AlignmentCases(),
        TensorCases(), GeometryCases(), DataCases()}) {
    for (const Case& c : cases) {
      Input input = c.file.input();
      input.file_size = c.file_size.value_or(c.file.size());
      input.base = c.base;
      ExpectBounded(input, c.rule);
    }
  }
}

TEST(Memory, OfManySmallEntries) {
  ExpectBounded(ManyKeys(kMany).input(), "keys");
  ExpectBounded(ManyKeys(kMany, 1).input(), "keys of version 1");
  ExpectBounded(ManyTensors(kMany, 0, 0).input(), "empty tensors");
  ExpectBounded(ManyTensors(kMany, 0, 0, 1).input(),
                "empty tensors of version 1");
  ExpectBounded(ManyTensors(kMany, 8, 0).input(), "tensors at one place");
  ExpectBounded(ManyTensors(20000, 8, 32).input(), "tensors in a row");
  // 13 bytes each, all with the empty key: candle takes them.
  TestFile zeros = TestFile().Header(3, 0, kMany).Fill(13 * kMany);
  ExpectBounded(zeros.input(), "empty keys");
  TestFile zeros_v1 = TestFile().Header(1, 0, kMany).Fill(9 * kMany);
  ExpectBounded(zeros_v1.input(), "empty keys of version 1");
}

TEST(Memory, OfArrays) {
  TestFile strings = TestFile().Header(3, 0, 1).Key("k", 9).Array(8, kMany);
  strings.Fill(8 * kMany);
  ExpectBounded(strings.input(), "empty strings");
  TestFile arrays = TestFile().Header(3, 0, 1).Key("k", 9).Array(9, kMany);
  arrays.Fill(12 * kMany);
  ExpectBounded(arrays.input(), "empty arrays");
  TestFile bytes = TestFile().Header(3, 0, 1).Key("k", 9).Array(0, 8 * kMany);
  bytes.Fill(8 * kMany);
  ExpectBounded(bytes.input(), "bytes");
}

// Counts and lengths that a file of this size could hold, and does not.
TEST(Memory, OfLies) {
  const std::uint64_t huge = Pow2(50);
  const TestFile files[] = {
      TestFile().Header(3, Pow2(30), Pow2(30)),
      TestFile().Header(3, Pow2(30), 0).Fill(8, 0xff),
      TestFile().Header(3, 0, 1).Key("k", 9).Array(8, Pow2(30)),
      TestFile().Header(3, 0, 1).Key("k", 9).Array(10, Pow2(30)),
      TestFile().Header(3, 0, 1).Key("k", 9).Array(9, Pow2(30)),
      TestFile().Header(3, 0, 1).Key("k", 8).U64(Pow2(30)),
      TestFile().Header(3, 0, 1).U64(Pow2(30)),
      TestFile().Header(3, 1, 0).U64(Pow2(30)),
  };
  for (const TestFile& f : files) {
    Input input = f.input();
    input.file_size = huge;
    ExpectBounded(input, "a lie");
  }
}

Work Steps(const TestFile& f, const Profile& profile) {
  Work work;
  Input input = f.input();
  input.work = &work;
  const auto file = Parse(input, profile);
  EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().detail);
  return work;
}

// Ten times the entries: ten times the fields, n log n the comparisons.
void ExpectGrowth(const std::string& what, const Profile& profile,
                  const std::function<TestFile(std::uint64_t)>& make) {
  constexpr std::uint64_t kSmall = 2000;
  constexpr std::uint64_t kLarge = 20000;
  const Work small = Steps(make(kSmall), profile);
  const Work large = Steps(make(kLarge), profile);
  EXPECT_LE(large.fields, 10 * small.fields + 100) << what;
  const double n_log_n = 10 * std::log2(kLarge) / std::log2(kSmall);
  EXPECT_LE(static_cast<double>(large.comparisons),
            1.3 * n_log_n * static_cast<double>(small.comparisons) + 100)
      << what;
}

TEST(Growth, OfKeys) {
  ExpectGrowth("keys", SpecProfile(),
               [](std::uint64_t n) { return ManyKeys(n); });
  ExpectGrowth("keys of one stem", SpecProfile(), [](std::uint64_t n) {
    TestFile f = TestFile().Header(3, 0, n);
    for (std::uint64_t i = n; i > 0; --i) {
      f.Key("blk." + std::to_string(1000000 + i), 0).U8(0);
    }
    return f;
  });
  ExpectGrowth("one key again and again", CandleProfile(), [](std::uint64_t n) {
    TestFile f = TestFile().Header(3, 0, n);
    for (std::uint64_t i = 0; i < n; ++i) f.Key("k", 0).U8(0);
    return f;
  });
}

TEST(Growth, OfTensors) {
  for (const Profile* profile : {&SpecProfile(), &GgmlProfile()}) {
    ExpectGrowth("tensors in a row", *profile,
                 [](std::uint64_t n) { return ManyTensors(n, 8, 32); });
  }
  ExpectGrowth("tensors at one place", SpecProfile(),
               [](std::uint64_t n) { return ManyTensors(n, 8, 0); });
  ExpectGrowth("tensors backwards", SpecProfile(), [](std::uint64_t n) {
    TestFile f = TestFile().Header(3, n, 0);
    for (std::uint64_t i = n; i > 0; --i) {
      f.Tensor(Name(i), {8}, 0, (i - 1) * 32);
    }
    return f.Pad().Fill(32 * n);
  });
  ExpectGrowth("names that differ after a NUL", CandleProfile(),
               [](std::uint64_t n) {
                 TestFile f = TestFile().Header(3, n, 0);
                 for (std::uint64_t i = 1; i <= n; ++i) {
                   f.Tensor("t" + std::string(1, '\0') + Name(i), {0}, 0, 0);
                 }
                 return f.Pad();
               });
}

TEST(Growth, OfArrays) {
  ExpectGrowth("strings", SpecProfile(), [](std::uint64_t n) {
    return TestFile().Header(3, 0, 1).Key("k", 9).Array(8, n).Fill(8 * n);
  });
  ExpectGrowth("arrays", SpecProfile(), [](std::uint64_t n) {
    return TestFile().Header(3, 0, 1).Key("k", 9).Array(9, n).Fill(12 * n);
  });
  const Work small =
      Steps(TestFile().Header(3, 0, 1).Key("k", 9).Array(0, 10).Fill(10),
            SpecProfile());
  const Work large =
      Steps(TestFile().Header(3, 0, 1).Key("k", 9).Array(0, 10000).Fill(10000),
            SpecProfile());
  EXPECT_EQ(small.fields, large.fields);
}

}  // namespace
}  // namespace weightproof::gguf::test
