#include "analysis/dependence.h"

#include "analysis/addresses.h"
#include "analysis/memory.h"
#include "kernel_program.h"

#include <algorithm>

namespace asmevo::analysis {
namespace {

DependenceGraph graph_of(const std::string& text) {
  const auto program = assemble(text);
  return dependences(program, program.functions[0], 0, program.items.size());
}

/// Whether node `later` depends on node `earlier` directly.
bool depends(const DependenceGraph& graph, uint32_t later, uint32_t earlier) {
  return std::ranges::any_of(graph.predecessors[later], [&](const Dependence& d) { return d.node == earlier; });
}
bool depends(const std::string& text) { return depends(graph_of(text), 1, 0); }

TEST(Dependence, registers_order_reads_and_writes) {
  EXPECT_TRUE(depends("v_mov_b32 v1, 0\nv_mov_b32 v2, v1"));
  EXPECT_TRUE(depends("v_mov_b32 v2, v1\nv_mov_b32 v1, 0"));
  EXPECT_TRUE(depends("v_mov_b32 v1, 0\nv_mov_b32 v1, 1"));
  EXPECT_FALSE(depends("v_mov_b32 v1, 0\nv_mov_b32 v2, 0"));
}

TEST(Dependence, implicit_registers_count) {
  EXPECT_TRUE(depends("s_cmp_eq_u32 s0, s1\ns_cselect_b32 s2, s3, s4"));
  EXPECT_TRUE(depends("s_add_u32 s0, s0, s1\ns_cmp_eq_u32 s8, s9"));
  EXPECT_TRUE(depends("v_cmp_lt_f32 vcc, v0, v1\nv_cndmask_b32 v2, v3, v4, vcc"));
  EXPECT_TRUE(depends("s_mov_b64 exec, s[4:5]\nv_mov_b32 v1, 0"));
  EXPECT_TRUE(depends("v_mov_b32 v1, 0\ns_mov_b64 exec, s[4:5]"));
  EXPECT_TRUE(depends("s_mov_b32 m0, s4\nglobal_load_lds_dword v[4:5], off"));
}

TEST(Dependence, waits_and_nops_are_no_nodes) {
  const auto graph = graph_of("v_mov_b32 v1, 0\ns_nop 1\ns_waitcnt vmcnt(0)\nv_mov_b32 v2, v1");
  EXPECT_EQ(graph.items, (std::vector<size_t>{0, 3}));
}

TEST(Dependence, loads_move_past_loads_but_not_past_stores) {
  EXPECT_FALSE(depends("global_load_dword v1, v[2:3], off\nglobal_load_dword v4, v[2:3], off"));
  EXPECT_TRUE(depends("global_store_dword v[2:3], v1, off\nglobal_load_dword v4, v[6:7], off"));
  EXPECT_TRUE(depends("global_load_dword v4, v[6:7], off\nglobal_store_dword v[2:3], v1, off"));
  EXPECT_TRUE(depends("global_store_dword v[2:3], v1, off\nglobal_store_dword v[6:7], v4, off"));
}

TEST(Dependence, the_same_base_with_offsets_apart_is_disjoint) {
  EXPECT_FALSE(depends("global_store_dword v[2:3], v1, off\nglobal_load_dword v4, v[2:3], off offset:4"));
  EXPECT_TRUE(depends("global_store_dwordx2 v[2:3], v[8:9], off\nglobal_load_dword v4, v[2:3], off offset:4"));
  EXPECT_FALSE(depends("global_store_dword v2, v1, s[4:5]\nglobal_load_dword v4, v2, s[4:5] offset:16"));
  EXPECT_TRUE(depends("global_store_dword v2, v1, s[4:5]\nglobal_load_dword v4, v2, s[6:7] offset:16"));
  EXPECT_FALSE(
      depends("buffer_store_dword v1, v2, s[0:3], 0 offen\nbuffer_load_dword v4, v2, s[0:3], 0 offen offset:4"));
  EXPECT_TRUE(
      depends("buffer_store_dword v1, v2, s[0:3], 4 offen\nbuffer_load_dword v4, v2, s[0:3], 0 offen offset:4"));
}

TEST(Dependence, a_base_that_changed_in_between_is_another_base) {
  const auto graph = graph_of("global_store_dword v[2:3], v1, off\nv_add_u32 v2, v2, v8\n"
                              "global_load_dword v4, v[2:3], off offset:64");
  EXPECT_TRUE(depends(graph, 2, 0));
}

TEST(Dependence, lds_is_shared_between_lanes) {
  EXPECT_TRUE(depends("ds_write_b32 v0, v1\nds_read_b32 v2, v0 offset:64"));
  EXPECT_FALSE(depends("ds_read_b32 v1, v0\nds_read_b32 v2, v0 offset:64"));
  EXPECT_FALSE(depends("ds_write_b32 v0, v1\nglobal_load_dword v4, v[2:3], off"));
  EXPECT_TRUE(depends("ds_write_b32 v0, v1\nflat_load_dword v4, v[2:3]"));
}

TEST(Dependence, atomics_and_coherent_accesses_keep_their_order) {
  EXPECT_TRUE(depends("global_atomic_add v0, v1, s[4:5]\nglobal_atomic_add v0, v1, s[4:5] offset:64"));
  EXPECT_TRUE(depends("global_load_dword v1, v[2:3], off sc1\nglobal_load_dword v4, v[6:7], off"));
}

TEST(Dependence, a_barrier_keeps_memory_on_its_side_and_lets_arithmetic_pass) {
  EXPECT_TRUE(depends("ds_write_b32 v0, v1\ns_barrier"));
  EXPECT_TRUE(depends("s_barrier\nds_read_b32 v4, v2"));
  EXPECT_TRUE(depends("s_barrier\nglobal_store_dword v[2:3], v4, off"));
  EXPECT_FALSE(depends("s_barrier\nv_mov_b32 v1, 0"));
}

TEST(Dependence, a_load_passes_a_barrier_where_no_store_can_meet_it) {
  EXPECT_FALSE(depends("s_barrier\nglobal_load_dword v4, v[2:3], off"));
  EXPECT_FALSE(depends("global_load_dword v4, v[2:3], off\ns_barrier"));
  EXPECT_TRUE(depends("s_barrier\nglobal_load_dword v4, v[2:3], off sc1"));
  const auto stored_before =
      graph_of("global_store_dword v[2:3], v1, off\ns_barrier\nglobal_load_dword v4, v[2:3], off");
  EXPECT_TRUE(depends(stored_before, 2, 1));
  const auto stored_behind =
      graph_of("global_load_dword v4, v[2:3], off\ns_barrier\nglobal_store_dword v[2:3], v1, off");
  EXPECT_TRUE(depends(stored_behind, 1, 0));
}

TEST(Dependence, a_loop_brings_its_stores_before_the_barrier) {
  const auto program = assemble("l:\ns_barrier\nglobal_load_dword v4, v[2:3], off\ns_cbranch_scc0 e\n"
                                "global_store_dword v[2:3], v1, off\ns_branch l\ne:\ns_endpgm");
  EXPECT_TRUE(depends(dependences(program, program.functions[0], 0, 4), 1, 0));
}

TEST(Dependence, mode_changes_and_branches_keep_everything_on_its_side) {
  EXPECT_TRUE(depends("v_add_f32 v1, v2, v3\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0"));
  EXPECT_TRUE(depends("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\ns_mov_b32 s4, 0"));
  EXPECT_TRUE(depends("v_mov_b32 v1, 0\ns_endpgm"));
}

TEST(Dependence, nothing_comes_between_s_getpc_and_the_label_behind_it) {
  EXPECT_TRUE(depends("v_mov_b32 v1, 0\ns_getpc_b64 s[4:5]"));
}

TEST(Dependence, an_order_is_allowed_when_it_keeps_every_edge) {
  const auto graph = graph_of("v_mov_b32 v1, 0\nv_mov_b32 v2, v1\nv_mov_b32 v3, 0");
  EXPECT_TRUE(graph.allows(std::array{2u, 0u, 1u}));
  EXPECT_FALSE(graph.allows(std::array{1u, 0u, 2u}));
  EXPECT_FALSE(graph.allows(std::array{0u, 1u}));
  EXPECT_FALSE(graph.allows(std::array{0u, 0u, 1u}));
}

TEST(Dependence, known_addresses_that_are_disjoint_are_free_of_each_other) {
  const auto free = [](const std::string& text, AliasPolicy policy = {}) {
    const auto program = kernel_program(text);
    const recover::Function& function = program.functions[0];
    const Addresses addresses(program, function, control_flow(program, function), policy);
    const auto last = static_cast<uint32_t>(program.items.size() - 1);
    EXPECT_TRUE(depends(dependences(program, function, 0, program.items.size()), last, last - 1)) << text;
    return !depends(dependences(program, function, 0, program.items.size(), &addresses), last, last - 1);
  };
  const std::string start = "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\n"
                            "v_mul_u32_u24 v2, 4, v0\n";
  EXPECT_TRUE(free(start + "global_store_dword v1, v9, s[4:5]\nglobal_load_dword v5, v2, s[4:5] offset:4"));
  EXPECT_FALSE(free(start + "global_store_dword v1, v9, s[4:5]\nglobal_load_dword v5, v2, s[4:5]"));
  EXPECT_TRUE(free(start + "ds_write_b32 v1, v9\nds_read_b32 v5, v2 offset:1024"));
  EXPECT_FALSE(free(start + "ds_write_b32 v1, v9\nds_read_b32 v5, v2 offset:4"));
  EXPECT_FALSE(free(start + "ds_write_b32 v1, v9\nds_add_u32 v2, v5 offset:1024"));
  const std::string two_arguments = start + "global_store_dword v1, v9, s[4:5]\nglobal_load_dword v5, v1, s[6:7]";
  EXPECT_FALSE(free(two_arguments));
  EXPECT_TRUE(free(two_arguments, {.arguments_are_distinct = true}));
}

TEST(Memory, extents_follow_the_mnemonic_and_the_offset_fields) {
  const auto access = [](const std::string& text) { return memory_access(assemble(text).items[0].instruction); };
  const auto two = access("ds_read2st64_b32 v[2:3], v0 offset0:1 offset1:3");
  ASSERT_EQ(two.extent_count, 2);
  EXPECT_EQ(two.extents[0].offset, 256);
  EXPECT_EQ(two.extents[1].offset, 768);
  EXPECT_EQ(two.extents[1].bytes, 4u);
  EXPECT_EQ(access("global_load_dwordx3 v[2:4], v[0:1], off offset:-8").extents[0].offset, -8);
  EXPECT_EQ(access("global_load_dwordx3 v[2:4], v[0:1], off").extents[0].bytes, 12u);
  EXPECT_EQ(access("s_load_dwordx4 s[4:7], s[0:1], 0x10").extents[0].offset, 16);
  EXPECT_EQ(access("global_load_short_d16_hi v2, v[0:1], off").extents[0].bytes, 2u);
  EXPECT_EQ(access("buffer_load_ubyte v2, v0, s[0:3], 0 offen offset:7").extents[0].bytes, 1u);
}

TEST(Memory, data_is_no_address) {
  const auto base = [](const std::string& text) { return memory_access(assemble(text).items[0].instruction).base; };
  const isa::RegisterRange v0{isa::File::vgpr, 0, 1}, s3{isa::File::sgpr, 3, 1};
  using Base = std::vector<isa::RegisterRange>;
  EXPECT_EQ(base("scratch_store_dword off, v0, off offset:4"), Base{});
  EXPECT_EQ(base("scratch_store_dword off, v0, s3"), Base{s3});
  EXPECT_EQ(base("scratch_store_dword v0, v0, off"), Base{v0});
  EXPECT_EQ(base("scratch_store_dword v0, v1, s3"), (Base{v0, s3}));
  EXPECT_EQ(base("scratch_load_dword v0, off, off"), Base{});
  EXPECT_EQ(base("scratch_load_dword v0, v0, off"), Base{v0});
}

} // namespace
} // namespace asmevo::analysis
