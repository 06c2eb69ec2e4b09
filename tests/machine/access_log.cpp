#include "machine/access_log.h"

#include <gtest/gtest.h>

using namespace asmevo::machine;

TEST(AccessLog, JoinsWhatOneWorkgroupDoesInSeveralInstructionsAndKeepsWorkgroupsApart) {
  Memory memory;
  ASSERT_TRUE(memory.map(0x1000, 0x1000, Access::read_write, "x"));
  Snapshots snapshots(memory);
  AccessLog log(snapshots);
  log.track_all();
  for (uint32_t workgroup : {0u, 1u}) {
    log.begin(workgroup);
    for (const uint64_t half : {0, 2}) // every other two bytes, then those between
      for (uint64_t k = 0; k < 200; ++k) log.note(0x1000 + 800 * workgroup + 4 * k + half, 2, true);
    for (uint64_t k = 0; k < 100; ++k) log.note(0x1000 + 8 * k, 2, false); // gaps that nothing fills
  }
  log.begin(2);
  ASSERT_EQ(log.writes().size(), 2u);
  EXPECT_EQ(log.writes()[0].last, 0x1000u + 800);
  EXPECT_EQ(log.writes()[1].workgroup, 1u);
  EXPECT_EQ(log.reads().size(), 200u);
  AccessLog* logs[] = {&log};
  EXPECT_FALSE(independent(logs, snapshots)); // workgroup 1 reads what workgroup 0 wrote
}
