// Issue and pipe rates: what a loop of one kind of instruction costs.
#include "timing/traced.h"

namespace asmevo::timing {
namespace {

const DeviceTable& mi300x = device_for(isa::Processor::gfx942);

// Clocks an instruction costs, from two lengths of straight-line code, so that what is fixed cancels.
double clocks_each(const std::string& line, uint32_t waves = 1, isa::Processor processor = isa::Processor::gfx942,
                   unsigned instructions_in_line = 1) {
  const DeviceTable& device = device_for(processor);
  const auto run = [&](uint32_t trips) {
    Traced k("loop:\n" + times(64, line) + "s_cbranch_scc1 loop\ns_endpgm", waves, processor);
    k.trips = trips;
    return k.cycles(device);
  };
  return (run(41) - run(1)) / (40 * 64.0 * instructions_in_line);
}

} // namespace

TEST(rates, independent_32_bit_operations_issue_every_four_clocks) {
  EXPECT_TRUE(within(clocks_each("v_add_f32 v0, v1, v2"), 4, 0.10));
  EXPECT_TRUE(within(clocks_each("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]"), 4, 0.10));
}

TEST(rates, eight_waves_on_a_simd_share_its_vector_unit) {
  EXPECT_TRUE(within(clocks_each("v_add_f32 v0, v1, v2", 16), 16, 0.10));
}

TEST(rates, transcendentals_run_at_a_quarter_rate_on_gfx942_and_half_on_gfx950) {
  EXPECT_TRUE(within(clocks_each("v_exp_f32 v0, v1"), 16, 0.10));
  EXPECT_TRUE(within(clocks_each("v_exp_f32 v0, v1", 1, isa::Processor::gfx950), 8, 0.10));
}

// Measured loop of dependent 32-bit multiply-adds on MI300X: 17 clk with its overhead.
TEST(rates, a_32_bit_integer_multiply_takes_four_turns) {
  EXPECT_TRUE(within(clocks_each("v_mul_lo_u32 v0, v0, v1"), 17, 0.10));
}

// AMD matrix instruction calculator: exec cycles = 4 x passes.
TEST(rates, matrix_instructions_take_their_passes) {
  EXPECT_TRUE(within(clocks_each("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]\n"
                                 "v_mfma_f32_32x32x8_f16 a[16:31], v[0:1], v[2:3], a[16:31]",
                                 4, isa::Processor::gfx942, 2),
                     32, 0.10));
  EXPECT_TRUE(within(clocks_each("v_mfma_i32_16x16x32_i8 a[0:3], v[0:1], v[2:3], a[0:3]\n"
                                 "v_mfma_i32_16x16x32_i8 a[4:7], v[0:1], v[2:3], a[4:7]",
                                 4, isa::Processor::gfx942, 2),
                     16, 0.10));
  EXPECT_TRUE(within(clocks_each("v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], a[0:7]"), 32, 0.10));
}

// gfx950 probe: 4 independent 16x16x32 f16 17 clk each, dependent 18.
TEST(rates, dependent_and_independent_matrix_chains_of_gfx950_are_as_probed) {
  EXPECT_TRUE(within(clocks_each("v_mfma_f32_16x16x32_f16 v[0:3], v[16:19], v[20:23], v[0:3]\n"
                                 "v_mfma_f32_16x16x32_f16 v[4:7], v[16:19], v[20:23], v[4:7]\n"
                                 "v_mfma_f32_16x16x32_f16 v[8:11], v[16:19], v[20:23], v[8:11]\n"
                                 "v_mfma_f32_16x16x32_f16 v[12:15], v[16:19], v[20:23], v[12:15]",
                                 1, isa::Processor::gfx950, 4),
                     17, 0.05));
  EXPECT_TRUE(within(
      clocks_each("v_mfma_f32_16x16x32_f16 v[0:3], v[16:19], v[20:23], v[0:3]", 1, isa::Processor::gfx950), 18, 0.05));
}

TEST(rates, vector_work_hides_behind_a_matrix_instruction_of_another_register) {
  const std::string mfma = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]\n";
  const double alone = clocks_each(mfma);
  EXPECT_TRUE(within(clocks_each(mfma + times(6, "v_add_f32 v10, v11, v12")), alone, 0.05));
  EXPECT_GT(clocks_each(mfma + times(16, "v_add_f32 v10, v11, v12")), 1.5 * alone);
}

TEST(rates, an_f32_matrix_instruction_of_gfx942_lets_no_vector_work_beside_it) {
  const std::string mfma = "v_mfma_f32_32x32x2_f32 a[0:15], v0, v1, a[0:15]\n";
  EXPECT_TRUE(within(clocks_each(mfma + times(6, "v_add_f32 v10, v11, v12")), clocks_each(mfma) + 6 * 4, 0.05));
}

TEST(rates, scalar_and_vector_instructions_of_different_waves_issue_together) {
  const double mixed = clocks_each("v_add_f32 v0, v1, v2\ns_add_u32 s0, s1, s2", 8);
  EXPECT_TRUE(within(mixed, 8, 0.15)); // two waves a SIMD, a pair each: 8 clk of VALU, SALU beside it
}

// Flash attention trace, gfx950.
TEST(rates, a_taken_branch_costs_twenty_clocks_and_a_nop_its_count) {
  Traced k("loop:\ns_nop 3\ns_cbranch_scc1 loop\ns_endpgm", 1, isa::Processor::gfx950);
  const DeviceTable& device = device_for(isa::Processor::gfx950);
  k.trips = 11;
  const double eleven = k.cycles(device);
  k.trips = 111;
  EXPECT_TRUE(within((k.cycles(device) - eleven) / 100, 16 + 20, 0.05));
}

TEST(rates, a_result_of_a_slow_pipe_makes_its_reader_wait_and_nobody_else) {
  const double dependent = clocks_each("v_exp_f32 v0, v1\nv_add_f32 v1, v0, v2");
  const double independent = clocks_each("v_exp_f32 v0, v1\nv_add_f32 v3, v4, v2");
  EXPECT_GE(dependent, independent + 4);
}

} // namespace asmevo::timing
