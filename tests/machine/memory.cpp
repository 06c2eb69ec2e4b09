#include "machine/memory.h"

#include <gtest/gtest.h>

using namespace asmevo::machine;

TEST(Memory, FindsTheRegionThatHoldsAllOfAnAccess) {
  Memory memory;
  ASSERT_TRUE(memory.map(0x1000, 100, Access::read_write, "in"));
  EXPECT_NE(memory.find(0x1000, 100), nullptr);
  EXPECT_NE(memory.find(0x1063, 1), nullptr);
  EXPECT_EQ(memory.find(0x1063, 2), nullptr);
  EXPECT_EQ(memory.find(0xfff, 1), nullptr);
}

TEST(Memory, RefusesOverlapsByName) {
  Memory memory;
  ASSERT_TRUE(memory.map(0x1000, 100, Access::read_write, "in"));
  for (uint64_t base : {0xff0u, 0x1000u, 0x1063u}) {
    auto second = memory.map(base, 32, Access::read_write, "out");
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("`in`"), std::string::npos) << second.error().message;
  }
  EXPECT_TRUE(memory.map(0x1064, 32, Access::read_write, "next"));
  EXPECT_FALSE(memory.map(0, 0, Access::read_write, "empty"));
  EXPECT_FALSE(memory.map(~uint64_t{0}, 32, Access::read_write, "wraps"));
}

TEST(Memory, DescribesWhereAnAccessMisses) {
  Memory memory;
  ASSERT_TRUE(memory.map(0x1000, 100, Access::read_write, "in"));
  ASSERT_TRUE(memory.map(0x1064, 64, Access::guard, "guard"));
  EXPECT_EQ(memory.describe(0x1064, 4), "4 bytes past the end of `in`");
  EXPECT_EQ(memory.describe(0x1062, 4), "2 bytes past the end of `in`");
  EXPECT_EQ(memory.describe(0xfc0, 4), "64 bytes before `in`");
  EXPECT_EQ(memory.describe(uint64_t{1} << 40, 4), "in no buffer");
}

TEST(Memory, KeptBytesAreReadOnlyAndStayTheirOwners) {
  auto block = std::make_shared<HostBlock>(100);
  std::fill_n(block->data(), 100, uint8_t{7});
  {
    Memory memory;
    ASSERT_TRUE(memory.map_kept(0x1000, 100, block, "in"));
    const Region* region = memory.find(0x1000, 100);
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(region->access, Access::read_only);
    EXPECT_EQ(region->data, block->data());
    EXPECT_EQ(block.use_count(), 2);
    EXPECT_FALSE(memory.map_kept(0x1010, 10, block, "overlaps"));
    memory.unmap(0x1000);
    EXPECT_EQ(block.use_count(), 1);
    ASSERT_TRUE(memory.map_kept(0x2000, 100, block, "in"));
  }
  EXPECT_EQ(block.use_count(), 1);
  EXPECT_EQ(block->data()[99], 7);
}

TEST(Memory, UnmappedRegionsAreGone) {
  Memory memory;
  ASSERT_TRUE(memory.map(0x1000, 100, Access::read_write, "in"));
  memory.unmap(0x1000);
  EXPECT_EQ(memory.find(0x1000, 1), nullptr);
  EXPECT_TRUE(memory.map(0x1000, 10, Access::read_only, "again"));
  EXPECT_EQ(memory.regions().size(), 1u);
}
