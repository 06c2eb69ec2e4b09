#include "profile/occupancy.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace asmevo::profile {

constexpr auto gfx942 = isa::Processor::gfx942;

TEST(next_step, asks_for_as_few_registers_less_as_one_more_wave_needs) {
  const auto step = next_step({.vgprs = 136, .sgprs = 32}, gfx942, 256, 0); // 3 waves a SIMD; 4 fit 128 registers
  ASSERT_TRUE(step);
  ASSERT_EQ(step->changes.size(), 1u);
  EXPECT_EQ(step->changes[0].resource, "VGPRs");
  EXPECT_EQ(step->changes[0].now, 136u);
  EXPECT_EQ(step->changes[0].then, 128u);
  EXPECT_EQ(step->occupancy.waves_per_simd, 4u);
  EXPECT_EQ(words(*step), "8 fewer VGPRs (128 instead of 136)");
}

TEST(next_step, counts_accumulation_registers_as_rows_of_the_same_file) {
  const auto step = next_step({.vgprs = 128, .agprs = 64, .accum_offset = 128}, gfx942, 256, 0); // 192 rows: 2 waves
  ASSERT_TRUE(step);
  EXPECT_EQ(step->changes[0].now, 192u);
  EXPECT_EQ(step->changes[0].then, 168u);
  EXPECT_EQ(step->occupancy.waves_per_simd, 3u);
}

TEST(next_step, asks_for_less_of_everything_that_is_in_the_way) {
  const auto step = next_step({.vgprs = 136, .sgprs = 32, .lds_bytes = 20000}, gfx942, 256, 0);
  ASSERT_TRUE(step);
  ASSERT_EQ(step->changes.size(), 2u);
  EXPECT_EQ(step->changes[0].then, 128u);
  EXPECT_EQ(step->changes[1].resource, "bytes of LDS");
  EXPECT_EQ(step->changes[1].then, 16384u);
  EXPECT_EQ(step->occupancy.workgroups_per_cu, 4u);
}

TEST(next_step, counts_dynamic_lds_too) {
  const auto step = next_step({.vgprs = 16, .lds_bytes = 1024}, gfx942, 256, 32768); // 1 workgroup
  ASSERT_TRUE(step);
  EXPECT_EQ(step->changes[0].now, 33792u);
  EXPECT_EQ(step->changes[0].then, 32768u);
}

TEST(next_step, is_nothing_where_the_hardware_is_full) {
  EXPECT_FALSE(next_step({.vgprs = 16, .sgprs = 16}, gfx942, 256, 0));
}

TEST(next_step, reaches_what_occupancy_says_and_one_register_more_would_not) {
  for (isa::Processor p : {isa::Processor::gfx908, isa::Processor::gfx90a, gfx942, isa::Processor::gfx950})
    for (uint32_t vgprs = 24; vgprs < 250; vgprs += 7)
      for (uint32_t items : {64u, 192u, 512u}) {
        const isa::Resources r{.vgprs = vgprs, .sgprs = 20, .lds_bytes = 4096};
        const uint32_t now = isa::occupancy(r, p, items, 0).workgroups_per_cu;
        const auto step = next_step(r, p, items, 0);
        if (!step) continue;
        EXPECT_GT(step->occupancy.workgroups_per_cu, now);
        for (const WhatIf::Change& c : step->changes) {
          isa::Resources more = step->resources;
          if (c.resource == "VGPRs") ++more.vgprs;
          if (c.resource == "SGPRs") ++more.sgprs;
          if (c.resource == "bytes of LDS") ++more.lds_bytes;
          EXPECT_LE(isa::occupancy(more, p, items, 0).workgroups_per_cu, now);
        }
      }
}

TEST(spare, is_what_can_be_used_more_at_the_same_occupancy) {
  const isa::Resources r{.vgprs = 100, .sgprs = 32};
  const auto spares = spare(r, gfx942, 256, 0); // 4 waves a SIMD, up to 128 registers
  const auto vgprs = std::ranges::find(spares, "VGPRs", &Spare::resource);
  ASSERT_NE(vgprs, spares.end());
  EXPECT_EQ(vgprs->free, 28u);
}

TEST(spare, leaves_out_what_is_full) {
  const auto spares = spare({.vgprs = 128, .sgprs = 32}, gfx942, 256, 0);
  EXPECT_EQ(std::ranges::find(spares, "VGPRs", &Spare::resource), spares.end());
}

} // namespace asmevo::profile
