// The committed vectors tell every two known arithmetics apart, and more than
// once.
#include "conformance/separation.h"

#include <gtest/gtest.h>

#include "conformance/numeric_testing.h"

namespace weightproof::conformance {
namespace {

TEST(Separation, EveryPairIsToldApartByThreeVectors) {
  Separation separation;
  for (const Vector& vector : CommittedVectors().vectors) {
    if (vector.format == "q8_0") separation.Add(vector);
  }
  // 9 and 8 named variants, 12 orders, 40 points.
  EXPECT_EQ(separation.pairs().size(), 36u + 28u + 66u + 780u);
  for (const SeparatedPair& pair : separation.pairs()) {
    EXPECT_GE(pair.vectors.size(), 3u)
        << pair.operation << ": " << pair.a << " and " << pair.b;
  }
}

TEST(Separation, CountsOnlyWhatDiffers) {
  Separation separation;
  EXPECT_EQ(separation.Least("q8_0.dot"), 0u);
  for (const Vector& vector : CommittedVectors().vectors) {
    if (vector.id != "q8v-02") continue;
    // x = -128 where w < 0: the three orders with the defect against the nine
    // without, and the one from the two that add in another order.
    EXPECT_EQ(separation.Gain(vector, 1), 29);
    separation.Add(vector);
    EXPECT_EQ(separation.Gain(vector, 1), 0);
    EXPECT_EQ(separation.Gain(vector, 2), 29);
  }
}

}  // namespace
}  // namespace weightproof::conformance
