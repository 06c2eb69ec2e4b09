// LDS: phases, bank conflicts, and the stride table measured on MI300X.
#include "timing/patterns.h"
#include "timing/traced.h"

namespace asmevo::timing {
namespace {

machine::AccessPattern strided(uint32_t stride, uint32_t bytes, bool write = false) {
  machine::AccessPattern p{.space = machine::Space::lds, .write = write, .bytes = bytes};
  for (uint32_t lane = 0; lane < 64; ++lane) p.offset[lane] = lane * stride;
  return p;
}

// Clocks of 64 back-to-back reads of one wave, first issue to last wait.
double reads(uint32_t stride, uint32_t bytes) {
  const std::string op = bytes == 4   ? "ds_read_b32 v4, v0"
                         : bytes == 8 ? "ds_read_b64 v[4:5], v0"
                                      : "ds_read_b128 v[4:7], v0";
  const auto run = [&](uint32_t trips) {
    Traced k("loop:\n" + times(64, op) + "s_waitcnt lgkmcnt(0)\ns_cbranch_scc1 loop\ns_endpgm");
    const uint32_t row = k.strided(stride, bytes, machine::Space::lds);
    k.trips = trips;
    k.access = [=](const Occurrence&) { return Access{row, 0}; };
    return k.cycles(device_for(isa::Processor::gfx942));
  };
  return run(2) - run(1) - 20; // instructions cached, without the branch
}

} // namespace

TEST(lds, conflicts_count_the_extra_lanes_on_a_bank_within_a_phase) {
  const auto gfx942 = isa::Processor::gfx942;
  EXPECT_EQ(lds_accesses(strided(4, 4), gfx942), 2u);
  EXPECT_EQ(lds_accesses(strided(128, 4), gfx942), 2u + 62);
  EXPECT_EQ(lds_accesses(strided(8, 8), gfx942), 4u);
  EXPECT_EQ(lds_accesses(strided(128, 8), gfx942), 4u + 60);
  EXPECT_EQ(lds_accesses(strided(16, 16), gfx942), 8u);
  EXPECT_EQ(lds_accesses(strided(128, 16), gfx942), 8u + 56);
}

TEST(lds, lanes_that_read_the_same_dword_share_one_access) {
  EXPECT_EQ(lds_accesses(strided(0, 4), isa::Processor::gfx942), 2u);
}

TEST(lds, gfx950_reads_through_sixty_four_banks) {
  EXPECT_EQ(lds_accesses(strided(4, 4), isa::Processor::gfx950), 1u);
  EXPECT_EQ(lds_accesses(strided(16, 16), isa::Processor::gfx950), 4u);
  EXPECT_EQ(lds_accesses(strided(16, 16, true), isa::Processor::gfx950), 8u);
}

// Measured on MI300X: 64 back-to-back reads, clock64 around them.
TEST(lds, the_stride_table_of_mi300x_is_met) {
  struct Row {
    uint32_t bytes, stride;
    double clocks;
  };
  const Row rows[] = {{4, 4, 500.8},  {4, 8, 570.2},  {4, 16, 956.8}, {4, 32, 1833},  {4, 64, 3512},
                      {4, 128, 6810}, {8, 8, 852.3},  {8, 16, 991.5}, {8, 32, 1856},  {8, 64, 3625},
                      {8, 128, 7158}, {16, 16, 1384}, {16, 32, 1941}, {16, 64, 3804}, {16, 128, 7615}};
  for (const Row& row : rows)
    EXPECT_TRUE(within(reads(row.stride, row.bytes), row.clocks, 0.10)) << row.bytes << " B, stride " << row.stride;
}

} // namespace asmevo::timing
