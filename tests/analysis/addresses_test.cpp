#include "analysis/addresses.h"

#include "kernel_program.h"

namespace asmevo::analysis {
namespace {

using Size = std::optional<std::array<uint32_t, 3>>;
constexpr Size row = std::array<uint32_t, 3>{256, 1, 1};

/// A kernel with its addresses. Memory instructions are numbered from 0, without the scalar loads of `arguments`.
struct Kernel {
  explicit Kernel(const std::string& text, Size size = std::nullopt, AliasPolicy policy = {},
                  isa::Processor processor = isa::Processor::gfx942, uint32_t last_axis = 2)
      : program(kernel_program(text, size, processor, last_axis)),
        addresses(program, program.functions[0], control_flow(program, program.functions[0]), policy) {
    for (const Address& a : addresses.all())
      if (a.base != BaseKind::kernarg_segment) accesses.push_back(&a);
  }

  std::string text(size_t n = 0) const {
    return base_text(*accesses.at(n)) + " | " + offset_text(addresses, *accesses.at(n), program);
  }
  Relation relation(Lanes lanes = Lanes::one_lane) const {
    return addresses.relation(accesses.at(0)->item, accesses.at(1)->item, lanes);
  }
  std::optional<int64_t> distance() const { return addresses.distance(accesses.at(0)->item, accesses.at(1)->item); }
  Stride stride(size_t n = 0) const { return addresses.lane_stride(*accesses.at(n)).value_or(Stride{-1, true}); }

  recover::Program program;
  Addresses addresses;
  std::vector<const Address*> accesses;
};

/// x in s[4:5], y in s[6:7], n in s8, m in s9.
const std::string arguments = "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_load_dwordx2 s[8:9], s[0:1], 0x10\n";
/// Work-item id x in v0, as 4 * x in the pair v[2:3].
const std::string scaled_id = "v_and_b32 v0, 0x3ff, v0\nv_mov_b32 v1, 0\nv_lshlrev_b64 v[2:3], 2, v[0:1]\n";

TEST(Addresses, kernel_arguments_are_named_by_their_place_in_the_kernarg_segment) {
  EXPECT_EQ(Kernel(arguments + "s_load_dword s10, s[6:7], 0x40\n").text(), "arg+8 | 64");
  EXPECT_EQ(Kernel("s_load_dwordx2 s[4:5], s[0:1], 0x18\ns_load_dword s10, s[4:5], s2\n").text(), "arg+24 | group.x");
  EXPECT_EQ(Kernel("s_add_u32 s4, s0, 8\ns_addc_u32 s5, s1, 0\ns_load_dwordx2 s[6:7], s[4:5], 0x0\n"
                   "s_load_dword s10, s[6:7], 0x0\n")
                .text(),
            "arg+8 | 0");
}

TEST(Addresses, carries_join_two_words_to_a_pair) {
  EXPECT_EQ(Kernel(arguments + scaled_id +
                   "v_mov_b32 v4, s5\nv_add_co_u32 v2, vcc, s4, v2\nv_addc_co_u32 v3, vcc, v4, v3, vcc\n"
                   "global_load_dword v5, v[2:3], off offset:12\n")
                .text(),
            "arg+0 | 4*item.x + 12");
  EXPECT_EQ(Kernel(arguments + "s_sub_u32 s4, s4, 64\ns_subb_u32 s5, s5, 0\ns_load_dword s10, s[4:5], 0x0\n").text(),
            "arg+0 | -64");
  // Whichever operand comes first in the upper half.
  EXPECT_EQ(Kernel(arguments + scaled_id +
                   "v_mov_b32 v4, s5\nv_add_co_u32 v2, vcc, s4, v2\nv_addc_co_u32 v3, vcc, v3, v4, vcc\n"
                   "global_load_dword v5, v[2:3], off\n")
                .text(),
            "arg+0 | 4*item.x");
}

TEST(Addresses, a_carry_that_was_overwritten_joins_nothing) {
  const Kernel k(arguments + scaled_id +
                 "v_mov_b32 v4, s5\nv_add_co_u32 v2, vcc, s4, v2\ns_mov_b64 vcc, 0\n"
                 "v_addc_co_u32 v3, vcc, v4, v3, vcc\nglobal_load_dword v5, v[2:3], off\n");
  EXPECT_EQ(k.accesses[0]->base, BaseKind::unknown);
}

TEST(Addresses, wide_instructions_are_sums_too) {
  EXPECT_EQ(
      Kernel(arguments + scaled_id + "v_lshl_add_u64 v[2:3], v[0:1], 3, s[6:7]\nglobal_load_dword v5, v[2:3], off\n")
          .text(),
      "arg+8 | 8*item.x");
  EXPECT_EQ(Kernel(arguments + scaled_id +
                   "v_mov_b32 v6, s4\nv_mov_b32 v7, s5\nv_mad_u64_u32 v[2:3], s[10:11], v0, 20, v[6:7]\n"
                   "global_load_dword v5, v[2:3], off\n")
                .text(),
            "arg+0 | 20*item.x");
}

TEST(Addresses, packed_work_item_ids_are_taken_apart) {
  const std::string store = "ds_write_b32 v1, v9\n";
  EXPECT_EQ(Kernel("v_and_b32 v1, 0x3ff, v0\n" + store).text(), "lds | item.x");
  EXPECT_EQ(Kernel("v_bfe_u32 v1, v0, 10, 10\n" + store).text(), "lds | item.y");
  EXPECT_EQ(Kernel("v_bfe_u32 v1, v0, 20, 10\n" + store).text(), "lds | item.z");
  EXPECT_EQ(Kernel("v_lshrrev_b32 v1, 20, v0\n" + store).text(), "lds | item.z");
  EXPECT_EQ(Kernel("v_lshlrev_b32 v1, 2, v0\n" + store, row).text(), "lds | 4*item.x");
  EXPECT_EQ(Kernel("v_lshl_add_u32 v1, v1, 5, v0\n" + store, std::nullopt, {}, isa::Processor::gfx908).text(),
            "lds | item.x + 32*item.y");
}

TEST(Addresses, ids_that_the_descriptor_does_not_ask_for_are_not_packed) {
  const auto of = [](uint32_t last_axis) {
    return Kernel("ds_write_b32 v0, v9\n", std::nullopt, {}, isa::Processor::gfx942, last_axis).text();
  };
  EXPECT_EQ(of(0), "lds | item.x");
  EXPECT_EQ(of(1), "lds | item.x + 1024*item.y");
  EXPECT_EQ(of(2), "lds | item.x + 1024*item.y + 2^20*item.z");
}

TEST(Addresses, a_word_that_may_wrap_is_a_symbol_when_it_becomes_a_pair) {
  const std::string index = arguments + "v_and_b32 v0, 0x3ff, v0\ns_lshl_b32 s2, s2, 8\nv_add_u32 v0, s2, v0\n"
                                        "v_lshlrev_b32 v1, 2, v0\n";
  const Kernel wraps(index + "global_load_dword v5, v1, s[4:5]\n");
  EXPECT_EQ(wraps.text(), "arg+0 | zext(1024*group.x + 4*item.x)");
  EXPECT_EQ(wraps.stride().bytes, 4);
  EXPECT_TRUE(wraps.stride().may_wrap);
  // The same symbol cancels; one that was moved before it was extended does not.
  EXPECT_EQ(Kernel(index + "global_load_dword v5, v1, s[4:5]\nglobal_store_dword v1, v5, s[4:5] offset:8\n").distance(),
            8);
  EXPECT_EQ(Kernel(index + "v_add_u32 v2, 8, v1\nglobal_load_dword v5, v1, s[4:5]\nglobal_store_dword v2, v5, s[4:5]\n")
                .distance(),
            std::nullopt);
}

TEST(Addresses, a_word_that_cannot_wrap_becomes_a_pair_as_it_is) {
  const Kernel k(arguments + "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\nv_add_u32 v2, 8, v1\n"
                             "global_load_dword v5, v1, s[4:5]\nglobal_store_dword v2, v5, s[4:5]\n");
  EXPECT_EQ(k.text(1), "arg+0 | 4*item.x + 8");
  EXPECT_EQ(k.distance(), 8);
  EXPECT_FALSE(k.stride().may_wrap);
  // With the workgroup's size known, a grid of less than 2^32 work-items bounds the sum.
  EXPECT_EQ(Kernel(arguments + "s_lshl_b32 s2, s2, 8\nv_add_u32 v0, s2, v0\nv_mov_b32 v1, 0\n"
                               "v_lshl_add_u64 v[2:3], v[0:1], 2, s[4:5]\nglobal_load_dword v5, v[2:3], off\n",
                   row)
                .text(),
            "arg+0 | 1024*group.x + 4*item.x");
}

TEST(Addresses, a_signed_index_is_extended_by_its_sign) {
  EXPECT_EQ(Kernel(arguments + "s_ashr_i32 s11, s8, 31\ns_mov_b32 s10, s8\ns_lshl_b64 s[10:11], s[10:11], 2\n"
                               "s_add_u32 s4, s4, s10\ns_addc_u32 s5, s5, s11\ns_load_dword s12, s[4:5], 0x0\n")
                .text(),
            "arg+0 | 4*sext(arg+16.dword)");
}

TEST(Addresses, products_are_distributed) {
  const Kernel k(arguments + "v_and_b32 v0, 0x3ff, v0\nv_add_u32 v1, 1, v0\nv_mul_lo_u32 v2, v0, s8\n"
                             "v_mul_lo_u32 v3, v1, s8\nds_write_b32 v2, v9\nds_write_b32 v3, v9\n");
  EXPECT_EQ(k.text(1), "lds | arg+16.dword + mul(item.x, arg+16.dword)");
}

TEST(Addresses, accumulation_registers_and_first_lanes_pass_values_on) {
  EXPECT_EQ(Kernel("v_and_b32 v0, 0x3ff, v0\nv_accvgpr_write_b32 a3, v0\nv_mov_b32 v0, 0\nv_accvgpr_read_b32 v1, a3\n"
                   "ds_write_b32 v1, v9\n")
                .text(),
            "lds | item.x");
  EXPECT_EQ(Kernel("v_mov_b32 v1, s2\nv_readfirstlane_b32 s9, v1\nv_mov_b32 v2, s9\nds_write_b32 v2, v9\n").text(),
            "lds | group.x");
  EXPECT_EQ(Kernel("v_readfirstlane_b32 s9, v0\nv_mov_b32 v2, s9\nds_write_b32 v2, v9\n").text(), "lds | s9@0x0");
  EXPECT_EQ(Kernel("v_mbcnt_lo_u32_b32 v1, -1, 0\nv_mbcnt_hi_u32_b32 v1, -1, v1\nds_write_b32 v1, v9\n").text(),
            "lds | lane");
}

// ---- EXEC ----

TEST(Addresses, what_was_written_under_a_mask_is_used_under_that_mask_only) {
  const std::string masked = "v_and_b32 v0, 0x3ff, v0\nv_mov_b32 v1, v9\nv_cmp_gt_u32 vcc, 9, v0\n"
                             "s_and_saveexec_b64 s[6:7], vcc\nv_lshlrev_b32 v1, 2, v0\n";
  EXPECT_EQ(Kernel(masked + "ds_write_b32 v1, v9\n").text(), "lds | 4*item.x");
  EXPECT_EQ(Kernel(masked + "s_or_b64 exec, exec, s[6:7]\nds_write_b32 v1, v9\n").text(), "lds | v1@0x14");
  EXPECT_EQ(Kernel(masked + "s_and_b64 exec, exec, s[8:9]\nds_write_b32 v1, v9\n").text(), "lds | 4*item.x");
  EXPECT_EQ(Kernel(masked + "s_mov_b64 exec, s[8:9]\nds_write_b32 v1, v9\n").text(), "lds | v1@0x14");
  // What was written before is good again when the mask is.
  EXPECT_EQ(Kernel(masked + "s_or_b64 exec, exec, s[6:7]\nds_write_b32 v0, v9\n").text(), "lds | item.x");
}

TEST(Addresses, both_sides_of_a_branch_come_back_to_the_whole_mask) {
  const Kernel k("v_and_b32 v0, 0x3ff, v0\nv_cmp_gt_u32 vcc, 9, v0\ns_and_saveexec_b64 s[6:7], vcc\n"
                 "s_xor_b64 s[6:7], exec, s[6:7]\nds_read_b32 v5, v0\ns_or_saveexec_b64 s[6:7], s[6:7]\n"
                 "v_lshlrev_b32 v1, 3, v0\ns_xor_b64 exec, exec, s[6:7]\nds_read_b32 v6, v1\n"
                 "s_or_b64 exec, exec, s[6:7]\nds_read_b32 v7, v1\nds_read_b32 v7, v0\n");
  for (size_t n : {1u, 2u}) EXPECT_EQ(k.text(n), "lds | 8*item.x") << n;
  EXPECT_EQ(k.text(3), "lds | item.x");
}

TEST(Addresses, lanes_without_a_work_item_have_no_id) {
  EXPECT_EQ(Kernel("s_mov_b64 exec, -1\nds_write_b32 v0, v9\n").text(), "lds | v0@entry");
}

TEST(Addresses, a_scalar_from_a_lane_is_known_only_if_there_was_a_lane) {
  const std::string read = arguments + "v_cmp_gt_u32 vcc, 9, v0\ns_and_saveexec_b64 s[10:11], vcc\nv_mov_b32 v1, s2\n"
                                       "v_readfirstlane_b32 s9, v1\n";
  EXPECT_EQ(Kernel(read + "s_load_dword s12, s[4:5], s9\n").text(), "arg+0 | s9@0x1c");
  EXPECT_EQ(Kernel(read + "v_mov_b32 v2, s9\nds_write_b32 v2, v9\n").text(), "lds | group.x");
  EXPECT_EQ(Kernel(read + "s_or_b64 exec, exec, s[10:11]\nv_mov_b32 v2, s9\nds_write_b32 v2, v9\n").text(),
            "lds | s9@0x1c");
}

// ---- control flow ----

TEST(Addresses, what_meets_from_two_sides_is_kept_where_it_is_the_same) {
  const std::string both = "v_and_b32 v0, 0x3ff, v0\ns_cbranch_scc1 other\nv_lshlrev_b32 v1, 2, v0\ns_branch meet\n"
                           "other:\n";
  EXPECT_EQ(Kernel(both + "v_mul_u32_u24 v1, 4, v0\nmeet:\nds_write_b32 v1, v9\n").text(), "lds | 4*item.x");
  EXPECT_EQ(Kernel(both + "v_mul_u32_u24 v1, 8, v0\nmeet:\nds_write_b32 v1, v9\n").text(), "lds | v1@meet");
}

TEST(Addresses, a_register_that_grows_each_round_counts_rounds) {
  const Kernel k(arguments +
                 "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\ns_mov_b32 s8, 0\n"
                 "again:\nglobal_load_dword v5, v1, s[4:5]\nds_write_b32 v1, v5\n"
                 "v_add_u32 v1, 0x400, v1\ns_add_u32 s4, s4, 16\ns_addc_u32 s5, s5, 0\ns_add_u32 s8, s8, 1\n"
                 "s_cmp_lt_u32 s8, 10\ns_cbranch_scc1 again\ns_endpgm\n");
  EXPECT_EQ(k.text(0), "arg+0 | 4*item.x + 1040*round@again");
  EXPECT_EQ(k.text(1), "lds | 4*item.x + 1024*round@again");
}

TEST(Addresses, without_a_trip_count_the_rounds_may_wrap) {
  const Kernel k(arguments + "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\n"
                             "again:\nglobal_load_dword v5, v1, s[4:5]\nv_add_u32 v1, 0x400, v1\n"
                             "s_add_u32 s8, s8, -1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 again\ns_endpgm\n");
  EXPECT_EQ(k.text(0), "arg+0 | zext(4*item.x + 1024*round@again)");
}

TEST(Addresses, a_loop_that_lanes_leave_one_by_one_is_a_loop) {
  const Kernel k(arguments + scaled_id +
                 "v_lshl_add_u64 v[2:3], v[0:1], 2, s[4:5]\ns_mov_b64 s[10:11], 0\n"
                 "again:\nglobal_load_dword v5, v[2:3], off\nv_add_u32 v0, 0x100, v0\nv_cmp_le_i32 vcc, s8, v0\n"
                 "v_lshl_add_u64 v[2:3], v[2:3], 0, 64\ns_or_b64 s[10:11], vcc, s[10:11]\n"
                 "s_andn2_b64 exec, exec, s[10:11]\ns_cbranch_execnz again\n"
                 "s_or_b64 exec, exec, s[10:11]\nds_write_b32 v1, v5\nds_write_b32 v0, v5\ns_endpgm\n");
  EXPECT_EQ(k.text(0), "arg+0 | 4*item.x + 64*round@again");
  EXPECT_EQ(k.text(1), "lds | 0");
  // Lanes that left early did not count on.
  EXPECT_EQ(k.text(2).substr(0, 8), "lds | v0") << k.text(2);
}

TEST(Addresses, a_step_that_some_lanes_skip_is_no_count) {
  const Kernel k("v_and_b32 v0, 0x3ff, v0\nagain:\nds_read_b32 v5, v0\nv_cmp_gt_u32 vcc, 9, v5\n"
                 "s_and_saveexec_b64 s[6:7], vcc\nv_add_u32 v0, 4, v0\ns_or_b64 exec, exec, s[6:7]\n"
                 "s_add_u32 s8, s8, -1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 again\ns_endpgm\n");
  EXPECT_EQ(k.text(0), "lds | v0@again");
}

TEST(Addresses, last_rounds_value_is_not_this_rounds) {
  // v6 is what v5 was a round ago: both were loaded by one instruction, at different times.
  const Kernel k("again:\nds_read_b32 v5, v1\nds_write_b32 v5, v9\nds_write_b32 v6, v9\nv_mov_b32 v6, v5\n"
                 "s_add_u32 s8, s8, -1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 again\ns_endpgm\n");
  EXPECT_NE(k.accesses[1]->form, k.accesses[2]->form);
  // The same through an inner loop, where both ways into it bring the load's symbol after the first round.
  const Kernel nested(
      "v_mov_b32 v6, 0\nouter:\ninner:\nds_write_b32 v6, v9\nds_read_b32 v5, v1\nds_write_b32 v5, v9\n"
      "ds_write_b32 v6, v9\nv_mov_b32 v6, v5\ns_add_u32 s8, s8, -1\ns_cmp_lg_u32 s8, 0\n"
      "s_cbranch_scc1 inner\ns_add_u32 s9, s9, -1\ns_cmp_lg_u32 s9, 0\ns_cbranch_scc1 outer\ns_endpgm\n");
  EXPECT_NE(nested.accesses[2]->form, nested.accesses[3]->form);
}

TEST(Addresses, calls_leave_nothing_known_of_registers) {
  EXPECT_EQ(Kernel("v_and_b32 v0, 0x3ff, v0\ns_swappc_b64 s[30:31], s[4:5]\nds_write_b32 v0, v9\n").text(),
            "lds | v0@0x8");
}

TEST(Addresses, indexed_registers_leave_no_facts) {
  EXPECT_TRUE(
      Kernel("s_set_gpr_idx_on s2, 1\nv_mov_b32 v1, v0\ns_set_gpr_idx_off\nds_write_b32 v1, v9\n").accesses.empty());
}

// ---- buffers ----

const std::string resource = arguments + "s_and_b32 s13, s5, 0xffff\ns_or_b32 s13, s13, {}\ns_mov_b32 s12, s4\n"
                                         "s_mov_b32 s14, -1\ns_mov_b32 s15, 0x27000\nv_and_b32 v0, 0x3ff, v0\n";

TEST(Addresses, a_resource_made_of_a_pointer_leads_where_the_pointer_does) {
  const std::string raw = fmt::format(fmt::runtime(resource), 0);
  EXPECT_EQ(Kernel(raw + "buffer_load_dword v5, v0, s[12:15], s2 offen offset:8\n").text(),
            "arg+0 | group.x + item.x + 8");
  EXPECT_EQ(Kernel(raw + "buffer_load_dword v5, off, s[12:15], 64\n").text(), "arg+0 | 64");
  const std::string strided = fmt::format(fmt::runtime(resource), 0x100000);
  EXPECT_EQ(Kernel(strided + "buffer_load_dword v5, v0, s[12:15], 0 idxen\n").text(), "arg+0 | 16*item.x");
}

TEST(Addresses, a_swizzled_or_unknown_resource_is_only_a_name) {
  const std::string swizzled = fmt::format(fmt::runtime(resource), "0x80100000");
  const Kernel k(swizzled + "buffer_load_dword v5, v0, s[12:15], 0 offen\n"
                            "buffer_store_dword v5, v0, s[12:15], 0 offen offset:4\n");
  EXPECT_TRUE(k.accesses[0]->named_origin);
  EXPECT_EQ(k.relation(), Relation::disjoint);
  const Kernel other(swizzled + "buffer_load_dword v5, v0, s[12:15], 0 offen\n"
                                "buffer_store_dword v5, v0, s[12:15], 4 offen\n");
  EXPECT_EQ(other.relation(), Relation::unknown);
}

TEST(Addresses, the_offset_of_a_buffer_wraps_at_32_bits) {
  const std::string raw = fmt::format(fmt::runtime(resource), 0);
  const Kernel k(raw + "v_lshl_add_u32 v1, s8, 2, v0\nbuffer_load_dword v5, v1, s[12:15], 0 offen\n"
                       "buffer_store_dword v5, v1, s[12:15], 0 offen offset:4\n");
  EXPECT_EQ(k.text(0), "arg+0 | zext(item.x + 4*arg+16.dword)");
  EXPECT_EQ(k.relation(), Relation::disjoint);
}

// ---- relations ----

TEST(Addresses, other_registers_may_name_the_same_place) {
  const std::string both = arguments + "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\nv_mul_u32_u24 v2, 4, v0\n";
  EXPECT_EQ(Kernel(both + "global_store_dword v1, v9, s[4:5]\nglobal_load_dword v5, v2, s[4:5] offset:4\n").relation(),
            Relation::disjoint);
  EXPECT_EQ(
      Kernel(both + "global_store_dwordx2 v1, v[8:9], s[4:5]\nglobal_load_dword v5, v2, s[4:5] offset:4\n").relation(),
      Relation::overlapping);
}

TEST(Addresses, arguments_are_distinct_only_where_the_policy_says_so) {
  const std::string both = arguments + "v_and_b32 v0, 0x3ff, v0\nglobal_store_dword v0, v9, s[4:5]\n"
                                       "global_load_dword v5, v0, s[6:7]\n";
  EXPECT_EQ(Kernel(both).relation(), Relation::unknown);
  EXPECT_EQ(Kernel(both, std::nullopt, {.arguments_are_distinct = true}).relation(), Relation::disjoint);
  const std::string same = arguments + "v_and_b32 v0, 0x3ff, v0\nglobal_store_dword v0, v9, s[4:5]\n"
                                       "global_load_dword v5, v9, s[4:5]\n";
  EXPECT_EQ(Kernel(same, std::nullopt, {.arguments_are_distinct = true}).relation(), Relation::unknown);
}

TEST(Addresses, in_lds_every_pair_of_lanes_counts) {
  const std::string scaled = "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\n";
  // 256 work-items reach 1024 bytes: one lane's next word is another's own.
  const Kernel near(scaled + "ds_write_b32 v1, v9\nds_read_b32 v5, v1 offset:4\n");
  EXPECT_EQ(near.relation(Lanes::one_lane), Relation::disjoint);
  EXPECT_EQ(near.relation(Lanes::any_lanes), Relation::unknown);
  EXPECT_FALSE(near.addresses.may_trade_places(near.accesses[0]->item, near.accesses[1]->item));
  const Kernel far(scaled + "ds_write_b32 v1, v9\nds_read_b32 v5, v1 offset:1024\n");
  EXPECT_EQ(far.relation(Lanes::any_lanes), Relation::disjoint);
  EXPECT_TRUE(far.addresses.may_trade_places(far.accesses[0]->item, far.accesses[1]->item));
  EXPECT_EQ(Kernel(scaled + "ds_write_b32 v1, v9\nds_read_b32 v5, v1 offset:1020\n").relation(Lanes::any_lanes),
            Relation::unknown);
}

TEST(Addresses, what_lanes_share_cancels_between_lanes) {
  const std::string shared = "v_and_b32 v0, 0x3ff, v0\nv_lshl_add_u32 v1, v0, 2, s9\n";
  EXPECT_EQ(Kernel(shared + "ds_write_b32 v1, v9\nds_read_b32 v5, v1 offset:1024\n").relation(Lanes::any_lanes),
            Relation::disjoint);
}

TEST(Addresses, two_blocks_are_two_executions) {
  const Kernel k(
      "v_and_b32 v0, 0x3ff, v0\nds_write_b32 v0, v9\nnext:\nds_read_b32 v5, v0 offset:2048\ns_cbranch_scc1 next\n"
      "s_endpgm\n");
  EXPECT_EQ(k.relation(), Relation::unknown);
}

TEST(Addresses, atomics_keep_their_order) {
  const Kernel k("v_and_b32 v0, 0x3ff, v0\nds_add_u32 v0, v9\nds_read_b32 v5, v0 offset:4096\n");
  EXPECT_FALSE(k.addresses.may_trade_places(k.accesses[0]->item, k.accesses[1]->item));
}

TEST(Addresses, alignment_follows_from_factors_and_bases) {
  const Kernel k(arguments + "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 4, v0\nds_read_b128 v[4:7], v1 offset:32\n"
                             "global_load_dword v8, v1, s[4:5] offset:8\n");
  EXPECT_EQ(k.addresses.alignment(*k.accesses[0], true), 16u);
  EXPECT_EQ(k.addresses.alignment(*k.accesses[1], false), 8u);
  EXPECT_EQ(k.addresses.alignment(*k.accesses[1], true), 1u); // of a pointer nothing is known
}

TEST(Addresses, neighbouring_work_items_are_a_stride_apart) {
  const Kernel k(arguments + "v_bfe_u32 v1, v0, 10, 10\nv_and_b32 v0, 0x3ff, v0\nv_mul_lo_u32 v2, v1, s8\n"
                             "v_lshl_add_u32 v2, v0, 4, v2\nds_read_b32 v5, v2\nv_mul_lo_u32 v3, v0, s8\n"
                             "ds_read_b32 v5, v3\nv_mov_b32 v4, s8\nds_read_b32 v5, v4\n");
  EXPECT_EQ(k.stride(0).bytes, 16); // what y adds is the same for both
  EXPECT_EQ(k.addresses.lane_stride(*k.accesses[1]), std::nullopt);
  EXPECT_TRUE(k.addresses.is_uniform(*k.accesses[2]));
}

} // namespace
} // namespace asmevo::analysis
