// The two built-in GGUF readers, written apart, must say the same of every
// file: verdict, rule, offset and every event, under all three profiles.
//
// WEIGHTPROOF_MUTATIONS: random files tried (default 200000).
// WEIGHTPROOF_SEED: where they start (default: from the clock; printed).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <set>

#include "impls/cpu/gguf_view_testing.h"
#include "impls/registry.h"

namespace weightproof::impls::testing {
namespace {

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string HexOf(const std::string& bytes) {
  std::string out;
  for (const char c : bytes.substr(0, 4096)) {
    out += fmt::format("{:02x}", static_cast<std::uint8_t>(c));
  }
  return out;
}

// What both say must be the same; how many more bytes a prefix lacks is a
// lower bound and may differ.
::testing::AssertionResult Agree(const std::string& bytes,
                                 RunOptions options = {}) {
  static const wp_implementation& reference = *FindBuiltIn("reference");
  static const wp_implementation& view = *FindBuiltIn("gguf_view");
  for (const char* profile : kProfiles) {
    options.profile = profile;
    Outcome expected = Parse(reference, bytes, options);
    Outcome got = Parse(view, bytes, options);
    expected.detail.clear();
    got.detail.clear();
    if (got == expected) continue;
    return ::testing::AssertionFailure()
           << "profile " << profile << ", base " << options.base
           << ", required keys " << options.require_keys << ", file size "
           << options.file_size.value_or(bytes.size())
           << "\nreference: " << Summary(expected)
           << "\ngguf_view: " << Summary(got)
           << (got.events == expected.events ? "" : "\nevents differ")
           << "\nbytes: " << HexOf(bytes);
  }
  return ::testing::AssertionSuccess();
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t Below(std::uint64_t n) { return engine_() % n; }
  bool OneIn(std::uint64_t n) { return Below(n) == 0; }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(from.size())];
  }

 private:
  std::mt19937_64 engine_;
};

const std::vector<std::uint64_t>& Values() {
  static const std::vector<std::uint64_t> kValues = {0,
                                                     1,
                                                     2,
                                                     3,
                                                     4,
                                                     5,
                                                     7,
                                                     8,
                                                     9,
                                                     12,
                                                     13,
                                                     24,
                                                     31,
                                                     32,
                                                     63,
                                                     64,
                                                     65,
                                                     127,
                                                     128,
                                                     255,
                                                     256,
                                                     65535,
                                                     65536,
                                                     0x7fffffff,
                                                     0x80000000,
                                                     0xffffffff,
                                                     1ull << 30,
                                                     1ull << 32,
                                                     1ull << 60,
                                                     1ull << 61,
                                                     1ull << 62,
                                                     1ull << 63,
                                                     ~0ull,
                                                     ~0ull - 31,
                                                     (1ull << 63) - 1,
                                                     0x03000000u,
                                                     (1ull << 62) + 1};
  return kValues;
}

const std::vector<std::string>& Keys() {
  static const std::vector<std::string> kKeys = {"general.alignment",
                                                 "general.architecture",
                                                 "general.quantization_version",
                                                 "a",
                                                 "b",
                                                 "c.d",
                                                 "k1",
                                                 "k2",
                                                 "k3",
                                                 "A",
                                                 "a-b",
                                                 "a..b",
                                                 "a.",
                                                 "",
                                                 std::string("a\0", 2),
                                                 std::string("\0a", 2),
                                                 "a b",
                                                 "\x7f",
                                                 "caf\xc3\xa9",
                                                 "\xff",
                                                 "\xe2\x96",
                                                 "version"};
  return kKeys;
}

void RandomScalar(Random& random, Writer& w, std::uint32_t type) {
  constexpr int kWidths[13] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  std::uint64_t value = random.Pick(Values());
  if (type == 7 && !random.OneIn(20)) value &= 1;
  w.Int(value, kWidths[type]);
}

void RandomString(Random& random, Writer& w) {
  static const std::vector<std::string> kStrings = {
      "",
      "a",
      "token",
      "\xe2\x96\x81",
      "caf\xc3\xa9",
      "\xf0\x9f\x98\x80",
      std::string("n\0l", 3),
      std::string(126, 'x'),
      std::string(127, 'y'),
      std::string(128, 'z'),
      std::string(300, 'w') + "\xc3\xa9"};
  static const std::vector<std::string> kBad = {"\xff",
                                                "\xe2\x96",
                                                "\xc0\xaf",
                                                "\xed\xa0\x80",
                                                "\xf4\x90\x80\x80",
                                                "\x80",
                                                std::string(200, 'q') + "\xe2"};
  w.Text(random.OneIn(40) ? random.Pick(kBad) : random.Pick(kStrings));
}

void RandomArray(Random& random, Writer& w, int level) {
  std::uint32_t type = static_cast<std::uint32_t>(random.Below(13));
  if (level > 3 && type == 9) type = 0;
  if (random.OneIn(40)) type = 13;
  const std::uint64_t n = random.Below(random.OneIn(10) ? 60 : 5);
  w.Array(type, n);
  for (std::uint64_t i = 0; i < n && type < 13; ++i) {
    if (type == 8) {
      RandomString(random, w);
    } else if (type == 9) {
      RandomArray(random, w, level + 1);
    } else {
      RandomScalar(random, w, type);
    }
  }
}

std::uint64_t RandomKv(Random& random, Writer& w, std::size_t number) {
  const std::string& key = random.Pick(Keys());
  if (key == "general.alignment" && !random.OneIn(4)) {
    static const std::vector<std::uint64_t> kAlignments = {8,  16, 24, 32, 64,
                                                           40, 4,  2,  1,  12};
    const std::uint64_t value = random.Pick(kAlignments);
    w.Key(key, 4);
    w.Int(value, 4);
    return value;
  }
  std::uint32_t type = static_cast<std::uint32_t>(random.Below(13));
  if (random.OneIn(60)) type = 13;
  w.Key(random.OneIn(3) ? key : fmt::format("key_{}", number), type);
  if (type == 8) {
    RandomString(random, w);
  } else if (type == 9) {
    RandomArray(random, w, 1);
  } else if (type < 13) {
    RandomScalar(random, w, type);
  }
  return 0;
}

// Block elements and bytes of the types used below.
struct Type {
  std::uint32_t id;
  std::uint64_t elements, bytes;
};

// A file that is mostly sound, with faults of structure here and there.
std::string RandomFile(Random& random) {
  const bool big = random.OneIn(4);
  Writer w(big ? 3 : random.OneIn(4) ? 1 : 3, big);
  const std::uint64_t kvs = random.Below(5), tensors = random.Below(6);
  w.Header(tensors, kvs);
  std::uint64_t alignment = 32;
  for (std::uint64_t i = 0; i < kvs; ++i) {
    const std::uint64_t stated = RandomKv(random, w, i);
    if (stated != 0) alignment = stated;
  }
  static const std::vector<Type> kTypes = {
      {0, 1, 4},   {1, 1, 2},  {8, 32, 34},  {2, 32, 18},    {12, 256, 144},
      {9, 32, 36}, {24, 1, 1}, {40, 64, 36}, {143, 128, 28}, {30, 1, 2}};
  const auto up = [alignment](std::uint64_t x) {
    return (x + alignment - 1) / alignment * alignment;
  };
  std::uint64_t next = 0, last = 0;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    Type type = random.Pick(kTypes);
    std::vector<std::uint64_t> dims = {type.elements * random.Below(3)};
    std::uint64_t size = dims[0] / type.elements * type.bytes;
    if (type.elements == 1 && random.OneIn(8)) dims.clear(), size = type.bytes;
    while (dims.size() < 4 && !dims.empty() && random.OneIn(2)) {
      dims.push_back(random.OneIn(6) ? random.Pick(Values()) : 1);
    }
    if (random.OneIn(40)) type.id = random.Below(50);
    static const std::vector<std::string> kNames = {"t",
                                                    "u",
                                                    std::string("t\0", 2),
                                                    std::string("t\0x", 3),
                                                    "",
                                                    "\xff",
                                                    std::string(63, 'n'),
                                                    std::string(64, 'n'),
                                                    std::string(65, 'n')};
    const std::string name =
        random.OneIn(3) ? random.Pick(kNames) : fmt::format("tensor_{}", i);
    std::uint64_t offset = next;
    if (random.OneIn(8)) offset = last;
    if (random.OneIn(8)) offset = alignment * random.Below(6);
    if (random.OneIn(30)) offset = random.Pick(Values());
    w.Tensor(name, dims, type.id, offset);
    last = offset;
    next = up(offset + size);
  }
  std::string bytes = w.bytes();
  const char fill = random.OneIn(8) ? '\1' : '\0';
  while (bytes.size() % alignment != 0) bytes += fill;
  if (next > 4096) next = 4096;
  const std::string data(next + (random.OneIn(4) ? random.Below(70) : 0),
                         random.OneIn(4) ? '\1' : '\0');
  return bytes +
         data.substr(0, data.size() - (random.OneIn(6) ? data.size() / 3 : 0));
}

void Overwrite(Random& random, std::string& bytes) {
  static const std::vector<int> kWidths = {1, 4, 8};
  const int width = random.Pick(kWidths);
  std::uint64_t value = random.Pick(Values());
  if (random.OneIn(4)) value = bytes.size() - random.Below(3);
  const std::uint64_t at = random.Below(bytes.size());
  const bool big = random.OneIn(4);
  for (int i = 0; i < width && at + i < bytes.size(); ++i) {
    bytes[at + i] = static_cast<char>(value >> (8 * (big ? width - 1 - i : i)));
  }
}

void Mutate(Random& random, std::string& bytes) {
  for (std::uint64_t i = random.Below(4); i > 0 && !bytes.empty(); --i) {
    const std::uint64_t at = random.Below(bytes.size());
    switch (random.Below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.Below(256));
        break;
      case 2:
        bytes.erase(at, 1 + random.Below(9));
        break;
      case 3:
        bytes.insert(
            at, bytes.substr(random.Below(bytes.size()), 1 + random.Below(16)));
        break;
      default:
        Overwrite(random, bytes);
    }
  }
}

TEST(ReadersAgree, OnEveryCase) {
  for (const Case& c : AllCases()) {
    RunOptions options;
    options.file_size = c.file_size;
    EXPECT_TRUE(Agree(c.bytes, options)) << c.rule;
    options.require_keys = true;
    EXPECT_TRUE(Agree(c.bytes, options)) << c.rule;
  }
}

TEST(ReadersAgree, OnEveryTruncationAndPrefixOfRichFiles) {
  for (const std::uint32_t version : {1u, 2u, 3u}) {
    for (const bool big : {false, true}) {
      const std::string whole = RichFile(version, big);
      for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
        const std::string head = whole.substr(0, cut);
        ASSERT_TRUE(Agree(head)) << version << big << " cut at " << cut;
        RunOptions options;
        options.file_size = whole.size();
        ASSERT_TRUE(Agree(head, options)) << version << big << " of " << cut;
      }
    }
  }
}

TEST(ReadersAgree, OnEveryByteAndFieldOfRichFilesReplaced) {
  for (const bool big : {false, true}) {
    const std::string whole = RichFile(3, big);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const int width : {1, 4, 8}) {
        for (const std::uint64_t value : Values()) {
          std::string bytes = whole;
          for (int i = 0; i < width && at + i < bytes.size(); ++i) {
            const int shift = 8 * (big ? width - 1 - i : i);
            bytes[at + i] = static_cast<char>(value >> shift);
          }
          ASSERT_TRUE(Agree(bytes))
              << "at " << at << ", " << width << " bytes of " << value;
        }
      }
    }
  }
}

TEST(ReadersAgree, OnRandomFiles) {
  const std::uint64_t seed = FromEnvironment(
      "WEIGHTPROOF_SEED",
      static_cast<std::uint64_t>(
          std::chrono::system_clock::now().time_since_epoch().count()));
  const std::uint64_t count = FromEnvironment("WEIGHTPROOF_MUTATIONS", 200000);
  fmt::print("WEIGHTPROOF_SEED={} WEIGHTPROOF_MUTATIONS={}\n", seed, count);
  std::uint64_t accepted = 0, refused = 0;
  std::set<std::string> met;
  for (std::uint64_t i = 0; i < count; ++i) {
    Random random(seed + i);
    std::string bytes = random.OneIn(6)
                            ? RichFile(random.OneIn(4) ? 1 : 3, random.OneIn(3))
                            : RandomFile(random);
    RunOptions options;
    if (!random.OneIn(3)) Mutate(random, bytes);
    if (random.OneIn(8)) {
      options.base = random.Below(70);
      bytes.insert(0, options.base, 'b');
    }
    options.require_keys = random.OneIn(4);
    if (random.OneIn(8)) {
      options.file_size = bytes.size();
      bytes.resize(random.Below(bytes.size() + 1));
    } else if (random.OneIn(16)) {
      options.file_size = bytes.size() + random.Pick(Values()) / 2;
    }
    ASSERT_TRUE(Agree(bytes, options))
        << "WEIGHTPROOF_SEED=" << seed + i << " WEIGHTPROOF_MUTATIONS=1";
    if (i % 8 != 0) continue;
    for (const char* profile : kProfiles) {
      options.profile = profile;
      const Outcome said = Parse(*FindBuiltIn("gguf_view"), bytes, options);
      ++(said.status == WP_STATUS_OK && said.verdict == WP_ACCEPT ? accepted
                                                                  : refused);
      met.insert(said.rule);
      met.insert(said.policies.begin(), said.policies.end());
    }
  }
  fmt::print("sampled: {} accepted, {} not, {} rules met\n", accepted, refused,
             met.size());
  if (count < 100000) return;
  // Sound often enough to reach the last checks, faulty in many ways.
  EXPECT_GT(accepted, refused / 10);
  EXPECT_GT(met.size(), 60u);
}

}  // namespace
}  // namespace weightproof::impls::testing
