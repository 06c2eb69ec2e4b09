#include "support/build_id.h"

#include <gtest/gtest.h>

TEST(BuildId, IsTheSameEachTimeAndMadeOfHexadecimalDigits) {
  const std::string id = asmevo::build_id();
  EXPECT_EQ(id, asmevo::build_id());
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), id.npos);
  EXPECT_EQ(id.size() % 2, 0u);
}
