#include "isa/resources.h"

#include <gtest/gtest.h>

namespace asmevo::isa {
namespace {

Occupancy occupied(Processor processor, Resources resources, uint32_t size = 256, uint32_t lds = 0) {
  return occupancy(resources, processor, size, lds);
}

TEST(Resources, AccumulatorsFollowTheVectorRegistersInTheUnifiedFile) {
  EXPECT_EQ(total_vgprs({.vgprs = 57, .agprs = 32}, Processor::gfx942), 60u + 32u);
  EXPECT_EQ(total_vgprs({.vgprs = 57, .agprs = 32, .accum_offset = 128}, Processor::gfx942), 160u);
  EXPECT_EQ(total_vgprs({.vgprs = 57}, Processor::gfx90a), 57u);
}

TEST(Resources, Gfx908HasTwoFilesOfTheSameAllocation) {
  EXPECT_EQ(total_vgprs({.vgprs = 57, .agprs = 96}, Processor::gfx908), 96u);
}

TEST(Resources, ReservedScalarsSitOnTopOfTheNamedOnes) {
  EXPECT_EQ(total_sgprs({.sgprs = 20}), 20u);
  EXPECT_EQ(total_sgprs({.sgprs = 20, .uses_vcc = true}), 22u);
  EXPECT_EQ(total_sgprs({.sgprs = 20, .uses_vcc = true, .uses_flat_scratch = true}), 26u);
  EXPECT_EQ(total_sgprs({.sgprs = 20, .uses_xnack_mask = true}), 24u);
}

TEST(Occupancy, AFullRegisterFileLeavesOneWavePerSimd) {
  const Occupancy o = occupied(Processor::gfx942, {.vgprs = 256, .agprs = 256});
  EXPECT_EQ(o.waves_per_simd, 1u);
  EXPECT_EQ(o.workgroups_per_cu, 1u);
  EXPECT_EQ(o.limiter, "vgpr");
}

TEST(Occupancy, VectorRegistersAreAllocatedInGranules) {
  EXPECT_EQ(occupied(Processor::gfx942, {.vgprs = 64}).waves_per_simd, 8u);
  EXPECT_EQ(occupied(Processor::gfx942, {.vgprs = 65}).waves_per_simd, 7u); // 72 rows
  EXPECT_EQ(occupied(Processor::gfx908, {.vgprs = 64}).waves_per_simd, 4u);
  EXPECT_EQ(occupied(Processor::gfx908, {.vgprs = 24}).waves_per_simd, 10u);
  EXPECT_EQ(occupied(Processor::gfx908, {.vgprs = 25}).waves_per_simd, 9u);
}

TEST(Occupancy, SmallKernelsReachTheWaveLimit) {
  const Occupancy o = occupied(Processor::gfx942, {.vgprs = 16, .sgprs = 16});
  EXPECT_EQ(o.waves_per_simd, 8u);
  EXPECT_EQ(o.limiter, "waves");
  EXPECT_EQ(o.workgroups_per_cu, 8u);
}

TEST(Occupancy, LdsLimitsWorkgroups) {
  const Occupancy o = occupied(Processor::gfx942, {.vgprs = 16, .lds_bytes = 20 * 1024});
  EXPECT_EQ(o.workgroups_per_cu, 3u);
  EXPECT_EQ(o.waves_per_simd, 3u);
  EXPECT_EQ(o.limiter, "lds");
  EXPECT_EQ(occupied(Processor::gfx950, {.vgprs = 16, .lds_bytes = 20 * 1024}).workgroups_per_cu, 8u);
}

TEST(Occupancy, DynamicLdsCountsAndTooMuchOfItFitsNowhere) {
  EXPECT_EQ(occupied(Processor::gfx942, {.vgprs = 16}, 256, 64 * 1024).workgroups_per_cu, 1u);
  EXPECT_EQ(occupied(Processor::gfx942, {.vgprs = 16, .lds_bytes = 512}, 256, 64 * 1024).workgroups_per_cu, 0u);
}

TEST(Occupancy, AWorkgroupIsPlacedWhole) {
  const Occupancy o = occupied(Processor::gfx942, {.vgprs = 168}, 1024); // 3 waves a SIMD, 16 waves a workgroup
  EXPECT_EQ(o.workgroups_per_cu, 0u);
  const Occupancy fits = occupied(Processor::gfx942, {.vgprs = 128}, 1024);
  EXPECT_EQ(fits.workgroups_per_cu, 1u);
  EXPECT_EQ(fits.waves_per_simd, 4u);
}

TEST(Occupancy, MoreThanSixteenWavesAreNoWorkgroup) {
  EXPECT_EQ(occupied(Processor::gfx942, {.vgprs = 8}, 1025).workgroups_per_cu, 0u);
}

TEST(Occupancy, ScalarRegistersLimitWhenTheyRunOutFirst) {
  EXPECT_EQ(occupied(Processor::gfx942, {.vgprs = 8, .sgprs = 96}).limiter, "waves");
  const Occupancy all = occupied(Processor::gfx942, {.vgprs = 8, .sgprs = 102, .uses_vcc = true}); // 112 allocated
  EXPECT_EQ(all.waves_per_simd, 7u);
  EXPECT_EQ(all.limiter, "sgpr");
}

} // namespace
} // namespace asmevo::isa
