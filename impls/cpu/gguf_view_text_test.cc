// UTF-8 and the walk over arrays of strings.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "impls/cpu/gguf_view_internal.h"
#include "impls/cpu/gguf_view_testing.h"

namespace weightproof::impls::testing {
namespace {

// By value: decode as far as the lead byte promises, then ask whether the code
// point is one, and whether this is its shortest form.
std::size_t NaiveLength(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  const std::size_t n = lead >= 0xf0 && lead < 0xf8   ? 4
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xc0 && lead < 0xe0 ? 2
                                                      : 0;
  if (n == 0) return 0;
  std::uint32_t point = lead & (0x7fu >> n);
  for (std::size_t i = 1; i < n; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(at + i) & 0x3f);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return point < kLeast[n] || point > 0x10ffff || surrogate ? 0 : n;
}

std::uint64_t Naive(const std::string& text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t n = NaiveLength(text, i);
    if (n == 0) return i;
    i += n;
  }
  return i;
}

TEST(FirstIllFormed, IsRightForEveryThreeBytes) {
  std::string text(3, '\0');
  for (std::uint32_t bits = 0; bits < 1u << 24; ++bits) {
    for (int i = 0; i < 3; ++i) text[i] = static_cast<char>(bits >> (8 * i));
    if (gguf_internal::FirstIllFormed(text) != Naive(text)) {
      FAIL() << fmt::format("{:06x}", bits);
    }
  }
}

TEST(FirstIllFormed, IsRightForFourByteSequences) {
  for (unsigned lead = 0xe0; lead < 0x100; ++lead) {
    for (unsigned second = 0; second < 0x100; ++second) {
      for (const unsigned third : {0x7fu, 0x80u, 0xbfu, 0xc0u}) {
        for (const unsigned fourth : {0x7fu, 0x80u, 0xbfu, 0xc0u}) {
          std::string text;
          for (unsigned c : {lead, second, third, fourth}) {
            text += static_cast<char>(c);
          }
          ASSERT_EQ(gguf_internal::FirstIllFormed(text), Naive(text));
          const std::string longer = std::string(77, 'x') + text + "yy";
          ASSERT_EQ(gguf_internal::FirstIllFormed(longer), Naive(longer));
        }
      }
    }
  }
}

TEST(FirstIllFormed, SeesTruncatedSequencesAtTheEnd) {
  for (const std::string sequence :
       {"\xc3\xa9", "\xe2\x96\x81", "\xf0\x9f\x98\x80"}) {
    for (std::size_t cut = 1; cut < sequence.size(); ++cut) {
      for (const std::size_t before : {0u, 5u, 8u, 63u, 64u, 65u, 200u}) {
        const std::string text =
            std::string(before, 'a') + sequence.substr(0, cut);
        EXPECT_EQ(gguf_internal::FirstIllFormed(text), before);
      }
    }
  }
}

struct Layout {
  std::uint32_t version;
  bool big;
};
constexpr Layout kLayouts[] = {{1, false}, {3, false}, {3, true}};

// A file with one array of these strings; where[i]: offset of string i's bytes.
std::string ArrayOf(const Layout& layout,
                    const std::vector<std::string>& strings,
                    std::vector<std::uint64_t>* where = nullptr) {
  Writer w(layout.version, layout.big);
  w.Header(0, 1);
  w.Key("k", 9);
  w.Array(8, strings.size());
  for (const std::string& text : strings) {
    w.Word(text.size());
    if (where != nullptr) where->push_back(w.bytes().size());
    w.Raw(text);
  }
  return w.bytes();
}

std::string Verdict(const std::string& bytes) {
  Outcome outcome = Parse(*GgufViewImplementation(), bytes);
  outcome.policies.clear();
  return Summary(outcome);
}

std::vector<std::string> Mixed(std::mt19937_64& random, std::size_t n) {
  const std::vector<std::string> kinds = {
      "",
      "a",
      "\xc4\xa0t",
      "\xe2\x96\x81",
      "\xf0\x9f\x98\x80",
      std::string(126, 'b'),
      std::string(127, 'c'),
      std::string(128, 'd'),
      std::string(63, 'e') + "\xc3\xa9",
      std::string(255, 'f'),
      std::string(300, 'g') + "\xe2\x96\x81"};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < n; ++i) {
    // Short ones in runs longer than a batch.
    const std::size_t few = i / 3000 % 2 == 0 ? 5 : kinds.size();
    out.push_back(kinds[random() % few]);
  }
  return out;
}

TEST(StringArrays, AreWalkedWholeInEveryLayout) {
  std::mt19937_64 random(1);
  for (const Layout& layout : kLayouts) {
    for (const std::size_t n : {0u, 1u, 2u, 100u, 9000u}) {
      const auto strings = Mixed(random, n);
      const std::string bytes = ArrayOf(layout, strings);
      const Outcome got = Parse(*GgufViewImplementation(), bytes);
      EXPECT_EQ(got.verdict, WP_ACCEPT);
      std::size_t seen = 0, at = 0;
      while ((at = got.events.find("\nstring ", at)) != std::string::npos) {
        ++seen, ++at;
      }
      EXPECT_EQ(seen, n);
    }
  }
}

TEST(StringArrays, FirstBadByteIsFoundWhereverItIs) {
  std::mt19937_64 random(2);
  for (const Layout& layout : kLayouts) {
    const auto strings = Mixed(random, 6500);
    for (std::size_t i = 0; i < strings.size(); i += 1 + random() % 97) {
      auto broken = strings;
      const std::uint64_t before = broken[i].size();
      broken[i] += "\xe2\x96";
      broken[std::min(broken.size() - 1, i + 5)] += "\xff";
      std::vector<std::uint64_t> where;
      const std::string bytes = ArrayOf(layout, broken, &where);
      ASSERT_EQ(Verdict(bytes),
                fmt::format("reject gguf.kv.string.utf8_invalid at {}",
                            where[i] + before))
          << "string " << i;
    }
  }
}

TEST(StringArrays, SequenceAcrossTwoStringsIsTwoFaults) {
  for (const Layout& layout : kLayouts) {
    for (const std::size_t filler : {0u, 40u}) {
      std::vector<std::string> strings(filler, "filler");
      strings.push_back("a\xc3");
      strings.push_back("\xa9");
      strings.resize(strings.size() + filler, "filler");
      std::vector<std::uint64_t> where;
      const std::string bytes = ArrayOf(layout, strings, &where);
      EXPECT_EQ(Verdict(bytes),
                fmt::format("reject gguf.kv.string.utf8_invalid at {}",
                            where[filler] + 1));
    }
  }
}

TEST(StringArrays, BadTextBeforeABadLengthComesFirst) {
  std::vector<std::string> strings(100, "word");
  std::vector<std::uint64_t> where;
  std::string bytes = ArrayOf({3, false}, strings, &where);
  bytes.replace(where[90] - 8, 8, U64(1u << 20));
  EXPECT_EQ(Verdict(bytes),
            fmt::format("reject gguf.kv.string.past_eof at {}", where[90] - 8));
  bytes[where[70]] = '\xff';
  EXPECT_EQ(Verdict(bytes),
            fmt::format("reject gguf.kv.string.utf8_invalid at {}", where[70]));
}

}  // namespace
}  // namespace weightproof::impls::testing
