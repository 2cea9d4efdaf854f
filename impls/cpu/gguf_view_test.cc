#include "impls/cpu/gguf_view.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "impls/cpu/gguf_view_testing.h"

namespace weightproof::impls::testing {
namespace {

const wp_implementation& Reader() { return *GgufViewImplementation(); }

std::string Expected(const Case& c, int profile) {
  std::string rule = c.rule;
  std::uint64_t offset = c.offset;
  if (const auto also = c.also.find(profile); also != c.also.end()) {
    rule = also->second.rule;
    offset = also->second.offset;
  }
  switch (c.sgc[static_cast<std::size_t>(profile)]) {
    case 'R':
      return fmt::format("reject gguf.{} at {}", rule, offset);
    case 'U':
      return fmt::format("unsupported gguf.{} at {}", rule, offset);
    case 'L':
      // Another rule that comes first may say reject.
      return fmt::format("{} gguf.{} at {}",
                         rule == c.rule ? "limit" : "reject", rule, offset);
    default:
      return "accept";
  }
}

TEST(GgufView, EveryCaseHasItsVerdictRuleAndOffsetInEveryProfile) {
  for (const Case& c : AllCases()) {
    for (int profile = 0; profile < 3; ++profile) {
      RunOptions options;
      options.profile = kProfiles[profile];
      options.file_size = c.file_size;
      const Outcome got = Parse(Reader(), c.bytes, options);
      Outcome bare = got;
      bare.policies.clear();
      EXPECT_EQ(Summary(bare), Expected(c, profile))
          << c.rule << " under " << kProfiles[profile] << ", " << c.bytes.size()
          << " bytes";
      const bool listed = std::ranges::find(got.policies, "gguf." + c.rule) !=
                          got.policies.end();
      EXPECT_EQ(listed, c.sgc[static_cast<std::size_t>(profile)] == 'P')
          << c.rule << " under " << kProfiles[profile];
    }
  }
}

TEST(GgufView, CasesCoverEveryRuleThatAParseCanBreak) {
  std::set<std::string> covered = {
      // Judged on request only, and with a base: tests of their own below.
      "gguf.kv.required.keys", "gguf.geometry.data_start.base"};
  for (const Case& c : AllCases()) covered.insert("gguf." + c.rule);
  for (const Rule& rule : Rules()) {
    if (rule.format != "gguf" || rule.judged_by != "parse") continue;
    const bool can_break = rule.spec != Cell::kAccept ||
                           rule.ggml != Cell::kAccept ||
                           rule.candle != Cell::kAccept;
    if (can_break) {
      EXPECT_TRUE(covered.contains(std::string(rule.id))) << rule.id;
    }
  }
}

TEST(GgufView, RichFilesAreAcceptedAndEqualInAllByteOrders) {
  const Outcome v3 = Parse(Reader(), RichFile());
  ASSERT_EQ(Summary(v3), "accept");
  const Outcome big = Parse(Reader(), RichFile(3, true));
  ASSERT_EQ(Summary(big), "accept");
  const auto after_header = [](const Outcome& outcome) {
    return outcome.events.substr(outcome.events.find('\n'));
  };
  EXPECT_EQ(after_header(big), after_header(v3));
  EXPECT_EQ(after_header(Parse(Reader(), RichFile(2))), after_header(v3));
  const Outcome v1 = Parse(Reader(), RichFile(1));
  EXPECT_EQ(Summary(v1), "accept +gguf.header.version.one");
  EXPECT_EQ(after_header(v1),
            after_header(v3) + "policy gguf.header.version.one\n");
  EXPECT_TRUE(v3.events.starts_with("header 3 0 64 "));
  EXPECT_TRUE(big.events.starts_with("header 3 1 64 "));
}

TEST(GgufView, EventsShowEveryValueAsWritten) {
  const std::string file =
      Pad(H(3, 1, 4) + Kv("s", 8, S("\xe2\x96\x81")) +
          Kv("n", 9, A(9, 2) + A(4, 2) + U32(1) + U32(2) + A(8, 1) + S("")) +
          Kv("f", 6, U32(0x7fc00001)) + Kv("e", 9, A(9, 0)) +
          Ti("t", {4, 2}, 0, 0)) +
      Z(32);
  EXPECT_EQ(Parse(Reader(), file).events,
            "header 3 0 32 224 4 1\n"
            "key 73 8\nstring e29681\n"
            "key 6e 9\narray 9 2\narray 4 2\nscalars 4 0100000002000000\nend\n"
            "array 8 1\nstring \nend\nend\n"
            "key 66 6\nscalars 6 0100c07f\n"
            "key 65 9\narray 9 0\nend\n"
            "tensor 74 [4,2,] 0 0 32\n");
}

TEST(GgufView, EveryTruncationOfARichFileIsRefusedAtEofOrItsField) {
  for (const bool big : {false, true}) {
    for (const std::uint32_t version : {1u, 3u}) {
      if (big && version == 1) continue;
      const std::string whole = RichFile(version, big);
      for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        const Outcome got = Parse(Reader(), whole.substr(0, cut));
        ASSERT_EQ(got.status, WP_STATUS_OK) << cut;
        ASSERT_EQ(got.verdict, WP_REJECT) << cut << " of " << whole.size();
        ASSERT_FALSE(got.rule.empty());
        ASSERT_LE(got.offset, cut);
        ASSERT_TRUE(got.events.empty());
      }
    }
  }
}

TEST(GgufView, PrefixThatEndsInTheHeaderAsksForMore) {
  const std::string whole = RichFile();
  const Outcome full = Parse(Reader(), whole);
  for (const char* profile : kProfiles) {
    std::size_t needed = 0;
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
      RunOptions options;
      options.profile = profile;
      options.file_size = whole.size();
      const Outcome got = Parse(Reader(), whole.substr(0, cut), options);
      if (got.status != WP_STATUS_NOT_RUN) break;
      needed = cut + 1;
      unsigned long long bytes = 0;
      ASSERT_EQ(std::sscanf(got.detail.c_str(),
                            "the prefix ends inside the header; at least %llu",
                            &bytes),
                1);
      EXPECT_GT(bytes, 0u);
      EXPECT_LE(cut + bytes, whole.size());
    }
    EXPECT_GT(needed, 24u);
  }
  const std::string header = whole.substr(0, 832);
  RunOptions options;
  options.file_size = whole.size();
  EXPECT_EQ(Parse(Reader(), header, options).events, full.events);
}

TEST(GgufView, FaultInThePrefixIsFoundWithoutTheRest) {
  RunOptions options;
  options.file_size = 1 << 20;
  const std::string head =
      H(3, 0, 2) + Kv("k", 9, A(8, 2) + S("a\xff") + U64(100));
  EXPECT_EQ(Summary(Parse(Reader(), head, options)),
            "reject gguf.kv.string.utf8_invalid at 58");
}

TEST(GgufView, RequiredKeysAreJudgedOnRequest) {
  const auto with = [](const std::string& file) {
    RunOptions options;
    options.require_keys = true;
    return Summary(Parse(Reader(), file, options));
  };
  const std::string bare = H(3, 0, 0);
  EXPECT_EQ(with(bare), "accept +gguf.kv.required.keys");
  EXPECT_EQ(Summary(Parse(Reader(), bare)), "accept");
  const std::string architecture = Kv("general.architecture", 8, S("llama"));
  EXPECT_EQ(with(H(3, 0, 1) + architecture), "accept");
  const std::string f32 = Ti("t", {8}, 0, 0), q8 = Ti("t", {32}, 8, 0);
  EXPECT_EQ(with(Pad(H(3, 1, 1) + architecture + f32) + Z(32)), "accept");
  EXPECT_EQ(with(Pad(H(3, 1, 1) + architecture + q8) + Z(34)),
            "accept +gguf.kv.required.keys");
  EXPECT_EQ(with(Pad(H(3, 1, 2) + architecture +
                     Kv("general.quantization_version", 4, U32(2)) + q8) +
                 Z(34)),
            "accept");
}

TEST(GgufView, FileInsideAFileHasAbsoluteOffsets) {
  const std::string file = Pad(H(3, 1, 0) + Ti("t", {8}, 0, 0)) + Z(32);
  RunOptions options;
  options.base = 64;
  EXPECT_EQ(Summary(Parse(Reader(), Z(64) + file, options)),
            "accept +gguf.geometry.data_start.base");
  options.profile = "ggml";
  EXPECT_EQ(Summary(Parse(Reader(), Z(64) + file, options)), "accept");
  EXPECT_EQ(Summary(Parse(Reader(), Z(64) + H(0, 0, 0), options)),
            "reject gguf.header.version.zero at 68");
  EXPECT_EQ(Summary(Parse(Reader(), Z(60), options)),
            "reject gguf.header.magic.truncated at 60");
}

TEST(GgufView, PoliciesAreListedOnceInOrder) {
  const std::string file =
      Pad(H(3, 2, 2) + Kv("A", 0, "\1") + Kv("B", 0, "\1") + Ti("", {8}, 0, 0) +
          Ti("x", {8}, 0, 0)) +
      Z(33);
  EXPECT_EQ(Summary(Parse(Reader(), file)),
            "accept +gguf.kv.key.grammar +gguf.tensor.name.empty "
            "+gguf.geometry.layout.alias +gguf.data.tail.trailing_bytes");
}

TEST(GgufView, CandleTakesTheLastOfRepeatedAlignments) {
  const std::string head = H(3, 1, 2) + Kv("general.alignment", 4, U32(32)) +
                           Kv("general.alignment", 4, U32(64)) +
                           Ti("t", {8}, 0, 0);
  const std::string file = Pad(head, 64) + Z(32);
  RunOptions options;
  options.profile = "candle";
  const Outcome got = Parse(Reader(), file, options);
  EXPECT_EQ(Summary(got), "accept");
  EXPECT_TRUE(got.events.starts_with("header 3 0 64 128 2 1\n"));
}

TEST(GgufView, FirstOverlapInOffsetOrderIsReported) {
  // c reaches into both a and b; a and c come first in offset order.
  const std::string file = Pad(H(3, 3, 0) + Ti("b", {8}, 0, 64) +
                               Ti("c", {16}, 0, 32) + Ti("a", {16}, 0, 0)) +
                           Z(128);
  const std::uint64_t third = 24 + 2 * 33 + 25;
  EXPECT_EQ(
      Summary(Parse(Reader(), file)),
      fmt::format("reject gguf.geometry.layout.partial_overlap at {}", third));
}

}  // namespace
}  // namespace weightproof::impls::testing
