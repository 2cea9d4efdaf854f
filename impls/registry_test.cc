#include "impls/registry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace weightproof::impls {
namespace {

TEST(Registry, NamesAreUniqueAndFindable) {
  std::set<std::string> names;
  for (const wp_implementation* implementation : BuiltIns()) {
    ASSERT_NE(implementation, nullptr);
    EXPECT_EQ(implementation->abi_version, WP_ABI_VERSION);
    ASSERT_NE(implementation->name, nullptr);
    EXPECT_TRUE(names.insert(implementation->name).second);
    EXPECT_EQ(FindBuiltIn(implementation->name), implementation);
    EXPECT_NE(implementation->version, nullptr);
    EXPECT_NE(implementation->language, nullptr);
  }
  EXPECT_TRUE(names.contains("gguf_view"));
}

TEST(Registry, UnknownNameIsNull) {
  EXPECT_EQ(FindBuiltIn("no such thing"), nullptr);
  EXPECT_EQ(FindBuiltIn(""), nullptr);
}

TEST(Registry, CanaryIsApart) {
  ASSERT_NE(CanaryImplementation(), nullptr);
  EXPECT_STREQ(CanaryImplementation()->name, "canary");
  EXPECT_EQ(FindBuiltIn("canary"), nullptr);
}

}  // namespace
}  // namespace weightproof::impls
