#include "reports/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weightproof::reports {
namespace {

using testing::ElementsAre;

TEST(Printable, SpellsOutWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(Printable("a\nb\r\t\x7f"), "a\\nb\\r\\t\\x7f");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\x9b");  // the one-byte CSI
  EXPECT_EQ(Printable("a\u202eb"), "a\\u202eb");
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Printable, KeepsTextAndSpellsIllFormedBytes) {
  EXPECT_EQ(Printable("Überprüfung \u4e2d\u6587 \U0001f600"),
            "Überprüfung \u4e2d\u6587 \U0001f600");
  EXPECT_EQ(Printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(Printable("\xe2\x82"), "\\xe2\\x82");           // cut
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(PrintableLines, KeepsNewlinesOnly) {
  EXPECT_EQ(PrintableLines("a\nb\x1b]0;x\x07"), "a\nb\\x1b]0;x\\x07");
}

TEST(ValidUtf8, ReplacesIllFormedBytes) {
  EXPECT_EQ(ValidUtf8("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(ValidUtf8("\u4e2d"), "\u4e2d");
}

TEST(HtmlEscape, LeavesNoMarkup) {
  EXPECT_EQ(HtmlEscape("<script>alert('x')&\"</script>"),
            "&lt;script&gt;alert(&#39;x&#39;)&amp;&quot;&lt;/script&gt;");
  EXPECT_EQ(HtmlEscape("\x1b[1m"), "\\x1b[1m");
}

TEST(Shorten, CountsCharactersNotBytes) {
  EXPECT_EQ(Shorten("abc", 3), "abc");
  EXPECT_EQ(Shorten("abcd", 3), "ab\u2026");
  EXPECT_EQ(Shorten("\u4e2d\u4e2d\u4e2d\u4e2d", 3), "\u4e2d\u4e2d\u2026");
}

TEST(Wrap, BreaksAtSpaces) {
  EXPECT_THAT(Wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(Wrap("unbreakable a", 4), ElementsAre("unbreakable", "a"));
  EXPECT_THAT(Wrap("", 4), ElementsAre(""));
}

TEST(Count, AgreesWithItsNoun) {
  EXPECT_EQ(Count(1, "vector"), "1 vector");
  EXPECT_EQ(Count(0, "vector"), "0 vectors");
}

TEST(ByteCount, IsReadable) {
  EXPECT_EQ(ByteCount(24), "24 bytes");
  EXPECT_EQ(ByteCount(1536 * 1024), "1.5 MiB");
  EXPECT_EQ(ByteCount(UINT64_MAX), "16.0 EiB");
}

TEST(ShellQuote, SurvivesAShell) {
  EXPECT_EQ(ShellQuote("ggml/full"), "ggml/full");
  EXPECT_EQ(ShellQuote("it's; rm"), "'it'\\''s; rm'");
  EXPECT_EQ(ShellQuote(""), "''");
}

}  // namespace
}  // namespace weightproof::reports
