// What edits of assembly can be proved, and what must not be.
#include "../analysis/kernel_program.h"
#include "pair.h"
#include "prove/cache.h"

namespace asmevo::prove {
namespace {

// Every text ends by storing what it computed, so that something is live.
constexpr const char* store = "global_store_dword v[10:11], v0, off\ns_endpgm\n";

testing::AssertionResult value_proved(const std::string& before, const std::string& after, const Policy& policy = {}) {
  return proved(before + "\n" + store, after + "\n" + store, policy);
}
Outcome value_outcome(const std::string& before, const std::string& after) {
  return proof_of(before + "\n" + store, after + "\n" + store).outcome;
}

TEST(Edits, independent_instructions_may_trade_places) {
  EXPECT_TRUE(value_proved("v_add_f32 v1, v2, v3\nv_mul_f32 v4, v5, v6\nv_add_f32 v0, v1, v4",
                           "v_mul_f32 v4, v5, v6\nv_add_f32 v1, v2, v3\nv_add_f32 v0, v1, v4"));
}

TEST(Edits, dependent_instructions_may_not) {
  EXPECT_NE(value_outcome("v_add_f32 v1, v2, v3\nv_mul_f32 v1, v1, v6\nv_add_f32 v0, v1, v4",
                          "v_mul_f32 v1, v1, v6\nv_add_f32 v1, v2, v3\nv_add_f32 v0, v1, v4"),
            Outcome::proved);
}

TEST(Edits, a_temporary_may_live_in_another_register) {
  EXPECT_TRUE(value_proved("v_add_f32 v1, v2, v3\nv_mul_f32 v0, v1, v1", "v_add_f32 v7, v2, v3\nv_mul_f32 v0, v7, v7"));
}

TEST(Edits, a_temporary_may_not_overwrite_what_is_read_later) {
  EXPECT_NE(value_outcome("v_add_f32 v1, v2, v3\nv_mul_f32 v0, v1, v7", "v_add_f32 v7, v2, v3\nv_mul_f32 v0, v7, v7"),
            Outcome::proved);
}

TEST(Edits, waits_and_nops_are_not_judged_here) {
  EXPECT_TRUE(value_proved("global_load_dword v0, v[2:3], off\ns_waitcnt vmcnt(0)\ns_nop 4\nv_add_f32 v0, v0, v1",
                           "global_load_dword v0, v[2:3], off\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_f32 v0, v0, v1"));
}

TEST(Edits, a_multiplication_by_a_power_of_two_is_a_shift) {
  EXPECT_TRUE(value_proved("v_mul_lo_u32 v0, v1, 8", "v_lshlrev_b32 v0, 3, v1"));
  EXPECT_TRUE(value_proved("v_mul_u32_u24 v0, v1, 8", "v_and_b32 v2, 0xffffff, v1\nv_lshlrev_b32 v0, 3, v2"));
}

TEST(Edits, a_shift_and_an_addition_are_one_instruction) {
  EXPECT_TRUE(value_proved("v_lshlrev_b32 v2, 2, v1\nv_add_u32 v0, v2, v3", "v_lshl_add_u32 v0, v1, 2, v3"));
  EXPECT_TRUE(value_proved("v_lshlrev_b32 v2, 2, v1\nv_or_b32 v0, 3, v2", "v_lshl_or_b32 v0, v1, 2, 3"));
  EXPECT_TRUE(value_proved("v_lshlrev_b32 v2, 2, v1\nv_or_b32 v0, 3, v2", "v_lshl_add_u32 v0, v1, 2, 3"));
}

TEST(Edits, sums_may_be_regrouped) {
  EXPECT_TRUE(value_proved("v_add_u32 v1, v2, v3\nv_add_u32 v0, v1, v4", "v_add3_u32 v0, v4, v2, v3"));
  EXPECT_TRUE(value_proved("v_sub_u32 v1, v2, v3\nv_add_u32 v0, v1, v3", "v_mov_b32 v0, v2"));
}

TEST(Edits, float_sums_may_not_be_regrouped) {
  EXPECT_NE(value_outcome("v_add_f32 v1, v2, v3\nv_add_f32 v0, v1, v4", "v_add_f32 v1, v3, v4\nv_add_f32 v0, v2, v1"),
            Outcome::proved);
}

TEST(Edits, float_operands_commute_only_where_the_policy_says_so) {
  const std::string before = "v_add_f32 v0, v2, v3", after = "v_add_f32 v0, v3, v2";
  EXPECT_NE(value_outcome(before, after), Outcome::proved);
  EXPECT_TRUE(value_proved(before, after, {.floats = {.commute = true}}));
}

TEST(Edits, a_modifier_of_a_float_source_is_an_operation_on_its_sign) {
  EXPECT_TRUE(value_proved("v_xor_b32 v1, 0x80000000, v2\nv_add_f32 v0, v1, v3", "v_add_f32 v0, -v2, v3"));
  EXPECT_TRUE(value_proved("v_and_b32 v1, 0x7fffffff, v2\nv_mul_f32 v0, v1, v3", "v_mul_f32 v0, |v2|, v3"));
  EXPECT_NE(value_outcome("v_add_f32 v0, v2, v3", "v_add_f32 v0, -v2, v3"), Outcome::proved);
}

TEST(Edits, a_64_bit_sum_with_a_carry_is_an_address_with_an_offset) {
  EXPECT_TRUE(proved("v_add_co_u32 v4, vcc, 16, v2\nv_addc_co_u32 v5, vcc, 0, v3, vcc\n"
                     "global_load_dword v0, v[4:5], off\ns_waitcnt vmcnt(0)\n" +
                         std::string(store),
                     "global_load_dword v0, v[2:3], off offset:16\ns_waitcnt vmcnt(0)\n" + std::string(store)));
  EXPECT_TRUE(proved("s_add_u32 s4, s2, 32\ns_addc_u32 s5, s3, 0\ns_load_dword s6, s[4:5], 0x0\ns_waitcnt "
                     "lgkmcnt(0)\nv_mov_b32 v0, s6\n" +
                         std::string(store),
                     "s_load_dword s6, s[2:3], 0x20\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v0, s6\n" + std::string(store)));
  EXPECT_TRUE(proved("v_lshl_add_u64 v[4:5], v[2:3], 0, 16\n"
                     "global_load_dword v0, v[4:5], off\ns_waitcnt vmcnt(0)\n" +
                         std::string(store),
                     "global_load_dword v0, v[2:3], off offset:16\ns_waitcnt vmcnt(0)\n" + std::string(store)));
}

TEST(Edits, an_address_that_is_off_by_one_dword_is_not_proved) {
  EXPECT_NE(proof_of("global_load_dword v0, v[2:3], off offset:16\n" + std::string(store),
                     "global_load_dword v0, v[2:3], off offset:20\n" + std::string(store))
                .outcome,
            Outcome::proved);
}

TEST(Edits, two_loads_side_by_side_are_one_wide_load) {
  const std::string use = "s_waitcnt vmcnt(0)\nv_add_f32 v0, v2, v3\n" + std::string(store);
  EXPECT_TRUE(proved("global_load_dword v2, v[4:5], off\nglobal_load_dword v3, v[4:5], off offset:4\n" + use,
                     "global_load_dwordx2 v[2:3], v[4:5], off\n" + use));
}

TEST(Edits, two_scalar_loads_are_one_wide_load) {
  const std::string use = "s_waitcnt lgkmcnt(0)\nv_mov_b32 v0, s4\nv_add_u32 v0, s5, v0\n" + std::string(store);
  EXPECT_TRUE(proved("s_load_dword s4, s[2:3], 0x10\ns_load_dword s5, s[2:3], 0x14\n" + use,
                     "s_load_dwordx2 s[4:5], s[2:3], 0x10\n" + use));
}

TEST(Edits, two_lds_reads_are_one_read2) {
  const std::string use = "s_waitcnt lgkmcnt(0)\nv_add_f32 v0, v2, v3\n" + std::string(store);
  EXPECT_TRUE(
      proved("ds_read_b32 v2, v4\nds_read_b32 v3, v4 offset:8\n" + use, "ds_read2_b32 v[2:3], v4 offset1:2\n" + use));
  EXPECT_TRUE(proved("v_lshlrev_b32 v4, 3, v9\nds_read_b64 v[2:3], v4\n" + use,
                     "v_lshlrev_b32 v4, 3, v9\nds_read2_b32 v[2:3], v4 offset1:1\n" + use));
}

TEST(Edits, two_stores_side_by_side_are_one_wide_store) {
  EXPECT_TRUE(proved("global_store_dword v[4:5], v2, off\nglobal_store_dword v[4:5], v3, off offset:4\ns_endpgm",
                     "global_store_dwordx2 v[4:5], v[2:3], off\ns_endpgm"));
}

TEST(Edits, stores_through_one_base_may_trade_places_where_they_do_not_overlap) {
  EXPECT_TRUE(proved("global_store_dword v[4:5], v2, off\nglobal_store_dword v[4:5], v3, off offset:8\ns_endpgm",
                     "global_store_dword v[4:5], v3, off offset:8\nglobal_store_dword v[4:5], v2, off\ns_endpgm"));
  EXPECT_NE(proof_of("global_store_dword v[4:5], v2, off\nglobal_store_dword v[4:5], v3, off offset:2\ns_endpgm",
                     "global_store_dword v[4:5], v3, off offset:2\nglobal_store_dword v[4:5], v2, off\ns_endpgm")
                .outcome,
            Outcome::proved);
}

TEST(Edits, a_load_passes_a_store_only_where_it_cannot_see_it) {
  EXPECT_TRUE(
      proved("global_store_dword v[4:5], v2, off\nglobal_load_dword v0, v[4:5], off offset:8\n" + std::string(store),
             "global_load_dword v0, v[4:5], off offset:8\nglobal_store_dword v[4:5], v2, off\n" + std::string(store)));
  EXPECT_NE(proof_of("global_store_dword v[4:5], v2, off\nglobal_load_dword v0, v[6:7], off\n" + std::string(store),
                     "global_load_dword v0, v[6:7], off\nglobal_store_dword v[4:5], v2, off\n" + std::string(store))
                .outcome,
            Outcome::proved);
}

TEST(Edits, lds_accesses_keep_their_order_where_one_writes) {
  EXPECT_NE(proof_of("ds_write_b32 v4, v2\nds_read_b32 v0, v4 offset:8\n" + std::string(store),
                     "ds_read_b32 v0, v4 offset:8\nds_write_b32 v4, v2\n" + std::string(store))
                .outcome,
            Outcome::proved);
}

TEST(Edits, nothing_passes_a_barrier) {
  EXPECT_NE(proof_of("s_barrier\nds_read_b32 v0, v4\n" + std::string(store),
                     "ds_read_b32 v0, v4\ns_barrier\n" + std::string(store))
                .outcome,
            Outcome::proved);
  EXPECT_TRUE(proved("v_add_u32 v4, v4, v5\ns_barrier\nds_read_b32 v0, v4\n" + std::string(store),
                     "s_barrier\nv_add_u32 v4, v4, v5\nds_read_b32 v0, v4\n" + std::string(store)));
}

TEST(Edits, a_skip_over_vector_code_without_active_lanes_may_go) {
  const std::string body =
      "global_load_dword v1, v[2:3], off\nv_add_f32 v0, v1, v4\nglobal_store_dword v[6:7], v0, off\n";
  EXPECT_TRUE(proved("s_and_saveexec_b64 s[2:3], vcc\ns_cbranch_execz skip\n" + body +
                         "skip:\ns_mov_b64 exec, s[2:3]\n" + store,
                     "s_and_saveexec_b64 s[2:3], vcc\n" + body + "skip:\ns_mov_b64 exec, s[2:3]\n" + store));
}

TEST(Edits, a_skip_over_scalar_code_may_not) {
  EXPECT_NE(proof_of("s_and_saveexec_b64 s[2:3], vcc\ns_cbranch_execz skip\ns_add_u32 s8, s8, 1\n"
                     "skip:\ns_mov_b64 exec, s[2:3]\nv_mov_b32 v0, s8\n" +
                         std::string(store),
                     "s_and_saveexec_b64 s[2:3], vcc\ns_add_u32 s8, s8, 1\nskip:\ns_mov_b64 exec, s[2:3]\n"
                     "v_mov_b32 v0, s8\n" +
                         std::string(store))
                .outcome,
            Outcome::proved);
}

TEST(Edits, a_redundant_and_with_exec_may_go) {
  EXPECT_TRUE(value_proved("v_cmp_lt_u32 vcc, v1, v2\ns_and_b64 vcc, exec, vcc\nv_cndmask_b32 v0, v3, v4, vcc",
                           "v_cmp_lt_u32 vcc, v1, v2\nv_cndmask_b32 v0, v3, v4, vcc"));
}

TEST(Edits, a_compare_and_a_choice_are_a_minimum) {
  EXPECT_TRUE(value_proved("v_cmp_lt_u32 vcc, v1, v2\nv_cndmask_b32 v0, v2, v1, vcc", "v_min_u32 v0, v1, v2"));
  EXPECT_NE(value_outcome("v_cmp_lt_i32 vcc, v1, v2\nv_cndmask_b32 v0, v2, v1, vcc", "v_min_u32 v0, v1, v2"),
            Outcome::proved);
}

TEST(Edits, what_no_normal_form_shows_the_solver_does) {
  const Proof proof =
      proof_of("v_xor_b32 v1, v2, v3\nv_and_b32 v4, v2, v3\nv_lshlrev_b32 v4, 1, v4\nv_add_u32 v0, v1, v4\n" +
                   std::string(store),
               "v_add_u32 v0, v2, v3\n" + std::string(store));
  EXPECT_EQ(proof.outcome, Outcome::proved) << proof.reason;
  EXPECT_GT(proof.questions, 0u);
}

TEST(Edits, the_encoding_of_an_instruction_does_not_matter) {
  EXPECT_TRUE(value_proved("v_add_f32_e32 v0, v1, v2", "v_add_f32_e64 v0, v1, v2"));
  EXPECT_NE(value_outcome("v_add_f32_e32 v0, v1, v2", "v_add_f32_e64 v0, v1, v2 clamp"), Outcome::proved);
}

TEST(Edits, an_accumulating_instruction_reads_its_destination) {
  EXPECT_NE(value_outcome("v_fmac_f32 v0, v0, v1", "v_mov_b32 v2, v0\nv_mov_b32 v0, v1\nv_fmac_f32 v0, v2, v1"),
            Outcome::proved);
  EXPECT_TRUE(value_proved("v_fmac_f32 v0, v1, v2", "v_mov_b32 v4, v0\nv_fmac_f32 v4, v1, v2\nv_mov_b32 v0, v4"));
}

TEST(Edits, a_loop_is_proved_by_its_body) {
  const auto loop = [](const std::string& body) {
    return "s_mov_b32 s4, 16\nloop:\n" + body + "s_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 loop\n" +
           store;
  };
  EXPECT_TRUE(proved(loop("v_mul_lo_u32 v1, v0, 4\nv_add_u32 v0, v1, v2\n"), loop("v_lshl_add_u32 v0, v0, 2, v2\n")));
  EXPECT_NE(
      proof_of(loop("v_mul_lo_u32 v1, v0, 4\nv_add_u32 v0, v1, v2\n"), loop("v_lshl_add_u32 v0, v0, 3, v2\n")).outcome,
      Outcome::proved);
}

TEST(Edits, a_new_load_could_fault_and_is_not_proved) {
  EXPECT_NE(value_outcome("v_mov_b32 v0, v1", "global_load_dword v5, v[6:7], off\nv_mov_b32 v0, v1"), Outcome::proved);
  EXPECT_TRUE(value_proved("global_load_dword v5, v[6:7], off\nv_mov_b32 v0, v1", "v_mov_b32 v0, v1"));
}

TEST(Edits, a_matrix_instruction_is_the_same_function_of_the_same_registers) {
  const std::string tail = "\nv_mov_b32 v0, v12\n";
  EXPECT_TRUE(value_proved("v_mfma_f32_16x16x16_f16 v[12:15], v[2:3], v[4:5], v[12:15]\nv_add_f32 v6, v7, v8" + tail,
                           "v_add_f32 v6, v7, v8\nv_mfma_f32_16x16x16_f16 v[12:15], v[2:3], v[4:5], v[12:15]" + tail));
  EXPECT_NE(value_outcome("v_mfma_f32_16x16x16_f16 v[12:15], v[2:3], v[4:5], v[12:15]" + tail,
                          "v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[2:3], v[12:15]" + tail),
            Outcome::proved);
}

TEST(Edits, a_matrix_instruction_is_proved_for_waves_of_any_lanes_where_its_sources_stay) {
  const std::string tail = "\nv_mov_b32 v0, v12\n" + std::string(store);
  const auto matrix = [](const std::string& b) {
    return "\nv_mfma_f32_16x16x16_f16 v[12:15], v[2:3], " + b + ", v[12:15]";
  };
  const Proof moved = proof_of("v_mul_f32 v4, v7, v8\nv_mul_f32 v5, v8, v8" + matrix("v[4:5]") + tail,
                               "v_mul_f32 v5, v8, v8\nv_mul_f32 v4, v7, v8" + matrix("v[4:5]") + tail);
  EXPECT_EQ(moved.outcome, Outcome::proved) << moved.reason;
  EXPECT_FALSE(moved.full_waves);
  // Lanes that never are active hold something else in the other registers, and it sees them.
  const Proof renamed = proof_of("v_mul_f32 v4, v7, v8\nv_mul_f32 v5, v8, v8" + matrix("v[4:5]") + tail,
                                 "v_mul_f32 v20, v7, v8\nv_mul_f32 v21, v8, v8" + matrix("v[20:21]") + tail);
  EXPECT_EQ(renamed.outcome, Outcome::proved) << renamed.reason;
  EXPECT_TRUE(renamed.full_waves);
}

TEST(Edits, a_difference_in_the_middle_of_a_loop_is_refuted_by_running_it) {
  const auto loop = [](const std::string& body) {
    return "s_mov_b32 s4, 16\nloop:\ns_cmp_eq_u32 s5, s4\ns_cbranch_scc1 out\n" + body +
           "s_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 loop\nout:\n" + store;
  };
  const Proof proof = proof_of(loop("v_add_u32 v0, v0, v2\n"), loop("v_sub_u32 v0, v0, v2\n"));
  EXPECT_EQ(proof.outcome, Outcome::refuted) << proof.reason;
  EXPECT_NE(proof.reason.find("v0 in lane"), std::string::npos) << proof.reason;
}

TEST(Edits, what_was_found_about_a_region_is_looked_up_by_its_content) {
  // The same edit behind other code, whose labels have other numbers: no question is asked twice.
  const std::string before = "v_xor_b32 v1, v2, v3\nv_and_b32 v4, v2, v3\nv_lshlrev_b32 v4, 1, v4\n"
                             "v_add_u32 v0, v1, v4\n" +
                             std::string(store);
  const std::string after = "v_add_u32 v0, v2, v3\n" + std::string(store);
  const std::string top = "s_cbranch_scc1 work\nv_mov_b32 v2, v3\nwork:\n";
  Cache cache;
  const auto ask = [&](const std::string& a, const std::string& b) {
    return prove(assemble(a, isa::Processor::gfx942), assemble(b, isa::Processor::gfx942), {}, {}, &cache);
  };
  const Proof first = ask(top + before, top + after);
  EXPECT_EQ(first.outcome, Outcome::proved) << first.reason;
  EXPECT_GT(first.questions, 0u);
  const std::string more = "s_cbranch_scc0 more\nv_mov_b32 v3, v2\nmore:\n" + top;
  const Proof second = ask(more + before, more + after);
  EXPECT_EQ(second.outcome, Outcome::proved) << second.reason;
  EXPECT_EQ(second.questions, 0u);
  // Another value is live behind it: another question.
  const std::string tail = "global_store_dword v[10:11], v4, off\n";
  EXPECT_NE(ask(top + before.substr(0, before.find("global")) + tail + store,
                top + after.substr(0, after.find("global")) + tail + store)
                .outcome,
            Outcome::proved);
}

TEST(Edits, a_product_and_a_sum_are_one_rounding_only_where_the_policy_says_so) {
  const std::string two = "v_mul_f32 v1, v2, v3\nv_add_f32 v0, v1, v4", one = "v_fma_f32 v0, v2, v3, v4";
  const Policy contracting{.floats = {.contract = true}};
  EXPECT_NE(value_outcome(two, one), Outcome::proved);
  EXPECT_TRUE(value_proved(two, one, contracting));
  EXPECT_TRUE(value_proved(two, "v_mov_b32 v0, v4\nv_fmac_f32 v0, v2, v3", contracting));
  EXPECT_TRUE(value_proved("v_mul_f32 v1, v2, v3\nv_sub_f32 v0, v1, v4", "v_mul_f32 v1, v2, v3\nv_sub_f32 v0, v1, v4",
                           contracting));
  // Another sign, another addend, a clamp.
  EXPECT_FALSE(value_proved(two, "v_fma_f32 v0, -v2, v3, v4", contracting));
  EXPECT_FALSE(value_proved(two, "v_fma_f32 v0, v2, v3, v5", contracting));
  EXPECT_FALSE(value_proved(two, "v_fma_f32 v0, v2, v3, v4 clamp", contracting));
}

TEST(Edits, a_call_sees_all_registers_and_memory) {
  const auto around = [](const std::string& before, const std::string& behind) {
    return before + "s_swappc_b64 s[30:31], s[16:17]\n" + behind + store;
  };
  const std::string one = "v_add_f32 v1, v2, v3\n", two = "v_mul_f32 v4, v5, v6\n";
  EXPECT_TRUE(proved(around(one + two, ""), around(two + one, "")));
  EXPECT_TRUE(proved(around("", one + two), around("", two + one)));
  EXPECT_NE(proof_of(around(one, two), around(two, one)).outcome, Outcome::proved);
  EXPECT_NE(proof_of(around(one, ""), around("v_add_f32 v1, v2, v4\n", "")).outcome, Outcome::proved);
  const std::string write = "global_store_dword v[8:9], v2, off\n";
  EXPECT_NE(proof_of(around(write, ""), around("", write)).outcome, Outcome::proved);
  EXPECT_NE(proof_of(around("s_mov_b32 s16, 1\n", ""), around("s_mov_b32 s16, 2\n", "")).outcome, Outcome::proved);
}

/// A program that loads from a place behind the code, whose distance the listing spells with names.
recover::Program with_table(const std::string& before, const std::string& place) {
  recover::Program program =
      assemble("s_getpc_b64 s[4:5]\nhere:\ns_add_u32 s4, s4, 0x100\ns_addc_u32 s5, s5, 0x101\n" + before +
               "s_load_dword s6, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v0, s6\n" + store);
  for (recover::Item& item : program.items) {
    const bool low = item.text.ends_with("0x100"), high = item.text.ends_with("0x101");
    if (!low && !high) continue;
    item.target = place;
    item.text = item.text.substr(0, item.text.rfind(',')) + ", (" + place + "-here)" + (low ? "&4294967295" : ">>32");
  }
  return program;
}

TEST(Edits, an_address_relative_to_the_code_is_that_of_the_place_it_names) {
  const std::string more = "v_add_u32 v20, v21, v22\n";
  const Proof same = prove(with_table("", "table"), with_table(more, "table"), {});
  EXPECT_EQ(same.outcome, Outcome::proved) << same.reason;
  EXPECT_NE(prove(with_table("", "table"), with_table(more, "another"), {}).outcome, Outcome::proved);
  EXPECT_NE(prove(with_table("", "table"), with_table("s_add_u32 s4, s4, 4\n", "table"), {}).outcome, Outcome::proved);
}

TEST(Edits, flat_loads_pass_each_other_and_merge_where_they_are_aligned) {
  const std::string use = "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_f32 v0, v2, v3\n" + std::string(store);
  const std::string one = "flat_load_dword v2, v[4:5]\n", two = "flat_load_dword v3, v[4:5] offset:4\n";
  EXPECT_TRUE(proved(one + two + use, two + one + use));
  EXPECT_NE(proof_of(one + two + use, "flat_load_dwordx2 v[2:3], v[4:5]\n" + use).outcome, Outcome::proved);
  const std::string aligned = "v_lshlrev_b32 v4, 3, v4\n";
  EXPECT_TRUE(proved(aligned + one + two + use, aligned + "flat_load_dwordx2 v[2:3], v[4:5]\n" + use));
  const std::string write = "ds_write_b32 v8, v9\n";
  EXPECT_NE(proof_of(one + two + write + use, one + write + two + use).outcome, Outcome::proved);
}

TEST(Edits, lanes_that_move_are_equal_only_as_whole_vectors) {
  // Both sources agree in even lanes only; one lane's equality must not be taken for that of all.
  EXPECT_TRUE(value_proved("v_mov_b32_dpp v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf",
                           "v_mov_b32 v2, v1\nv_mov_b32_dpp v0, v2 row_shl:1 row_mask:0xf bank_mask:0xf"));
  EXPECT_NE(value_outcome("v_mov_b32_dpp v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf",
                          "v_mov_b32_dpp v0, v1 row_shl:2 row_mask:0xf bank_mask:0xf"),
            Outcome::proved);
}

/// The block behind the label is entered with v1 as 4 * the work-item id: what proves anything is not in it.
Proof with_known_addresses(const std::string& before, const std::string& after, const Policy& policy = {}) {
  const std::string start = "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\n"
                            "v_mul_u32_u24 v2, 4, v0\ns_waitcnt lgkmcnt(0)\nregion:\n";
  const std::string end = "s_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v1, v5, s[6:7]\ns_cbranch_scc1 region\n"
                          "s_endpgm\n";
  return prove(analysis::kernel_program(start + before + end), analysis::kernel_program(start + after + end), policy);
}

TEST(Edits, accesses_of_lds_pass_each_other_where_no_two_lanes_can_meet) {
  const std::string write = "ds_write_b32 v1, v9\n", own = "ds_read_b32 v5, v2 offset:1020\n",
                    other = "ds_read_b32 v5, v2 offset:1024\n";
  EXPECT_EQ(with_known_addresses(write + other, other + write).outcome, Outcome::proved);
  EXPECT_NE(with_known_addresses(write + own, own + write).outcome, Outcome::proved);
  const std::string second = "ds_write_b32 v2, v8 offset:1024\n", near = "ds_write_b32 v2, v8 offset:1020\n";
  const std::string read = "ds_read_b32 v5, v0\n";
  EXPECT_EQ(with_known_addresses(write + second + read, second + write + read).outcome, Outcome::proved);
  EXPECT_NE(with_known_addresses(write + near + read, near + write + read).outcome, Outcome::proved);
}

TEST(Edits, global_accesses_pass_each_other_where_their_distance_is_known_beyond_the_region) {
  const std::string write = "global_store_dword v1, v9, s[4:5]\n", next = "global_load_dword v5, v2, s[4:5] offset:4\n",
                    same = "global_load_dword v5, v2, s[4:5]\n",
                    elsewhere = "global_load_dword v5, v2, s[6:7] offset:4\n";
  EXPECT_EQ(with_known_addresses(write + next, next + write).outcome, Outcome::proved);
  EXPECT_NE(with_known_addresses(write + same, same + write).outcome, Outcome::proved);
  EXPECT_NE(with_known_addresses(write + elsewhere, elsewhere + write).outcome, Outcome::proved);
  const Policy distinct{.aliases = {.arguments_are_distinct = true}};
  EXPECT_EQ(with_known_addresses(write + elsewhere, elsewhere + write, distinct).outcome, Outcome::proved);
  EXPECT_NE(with_known_addresses(write + same, same + write, distinct).outcome, Outcome::proved);
}

} // namespace
} // namespace asmevo::prove
