#include "reference/q8_0/environment.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <set>
#include <thread>

#include "reference/q8_0/rules.h"

namespace weightproof::q8_0 {
namespace {

std::set<std::string_view> Ids(const std::vector<FpFault>& faults) {
  std::set<std::string_view> ids;
  for (const FpFault& fault : faults) ids.insert(fault.id);
  return ids;
}

TEST(FpEnvironment, IsSoundAtTheStartAndInAWorker) {
  for (const FpFault& fault : CheckFpEnvironment()) {
    ADD_FAILURE() << fault.id << ": " << fault.detail;
  }
  EXPECT_EQ(DescribeFpControlWord(), "");
  std::vector<FpFault> in_worker;
  std::thread([&] { in_worker = CheckFpEnvironment(); }).join();
  EXPECT_TRUE(in_worker.empty());
}

TEST(FpEnvironment, SeesARoundingMode) {
  const FpGuard restore;
  std::fesetround(FE_UPWARD);
  const auto up = CheckFpState();
  std::fesetround(FE_TOWARDZERO);
  const auto zero = CheckFpState();
  std::fesetround(FE_DOWNWARD);
  const auto down = CheckFpState();
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(Ids(up).contains("fp-12"));
  EXPECT_TRUE(Ids(zero).contains("fp-13"));
  EXPECT_TRUE(Ids(down).contains("fp-14"));
  EXPECT_EQ(up[0].rule, rules::kBuildFpRounding);
}

TEST(FpGuard, ReportsAndRepairsALeak) {
  FpGuard guard;
  std::fesetround(FE_UPWARD);
  const auto faults = guard.CheckAndRestore();
  ASSERT_FALSE(faults.empty());
  EXPECT_EQ(faults[0].rule, rules::kBuildFpLeak);
  EXPECT_TRUE(CheckFpState().empty());
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

#if defined(__x86_64__)
TEST(FpEnvironment, SeesFlushedResultsAndOperands) {
  FpGuard guard;
  const unsigned word = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(word | 0x8000);
  const auto ftz = CheckFpState();
  const std::string name = DescribeFpControlWord();
  __builtin_ia32_ldmxcsr(word | 0x0040);
  const auto daz = CheckFpState();
  __builtin_ia32_ldmxcsr(word);
  EXPECT_TRUE(Ids(ftz).contains("fp-08"));
  EXPECT_EQ(name, "FTZ");
  EXPECT_TRUE(Ids(daz).contains("fp-10"));
  EXPECT_TRUE(Ids(daz).contains("fp-11"));
  EXPECT_TRUE(CheckFpState().empty());
}
#endif

}  // namespace
}  // namespace weightproof::q8_0
