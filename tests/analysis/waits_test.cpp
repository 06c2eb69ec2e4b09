#include "analysis/waits.h"

#include "assemble.h"

namespace asmevo::analysis {
namespace {

std::vector<Finding> verify(const recover::Program& program) {
  const auto& function = program.functions[0];
  return verify_waits(program, function, control_flow(program, function));
}

std::string rules(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += (text.empty() ? "" : " ") + finding.rule;
  return text;
}

std::string rules(const std::string& text, int kernel = 0) {
  return rules(verify(assemble(text, isa::Processor::gfx942, kernel)));
}

std::vector<Wait> needed(const recover::Program& program) {
  const auto& function = program.functions[0];
  return needed_waits(program, function, control_flow(program, function), function.first, function.last);
}

TEST(Waits, a_load_that_is_waited_for_is_clean) {
  EXPECT_EQ(rules(R"(
    global_load_dword v2, v[0:1], off
    s_waitcnt vmcnt(0)
    v_add_f32 v3, v2, v2
    s_endpgm)"),
            "");
}

TEST(Waits, a_load_that_is_read_too_early_is_found_with_both_addresses) {
  const auto findings = verify(assemble(R"(
    global_load_dword v2, v[0:1], off
    v_add_f32 v3, v2, v2
    s_endpgm)"));
  ASSERT_EQ(rules(findings), "W001");
  EXPECT_EQ(findings[0].item, 1u);
  EXPECT_EQ(findings[0].cause, 0u);
  EXPECT_NE(findings[0].message.find("v2"), std::string::npos);
  EXPECT_NE(findings[0].message.find("vmcnt(0)"), std::string::npos);
}

TEST(Waits, vector_memory_completes_in_order) {
  const std::string text = R"(
    global_load_dword v2, v[0:1], off
    global_load_dword v3, v[0:1], off offset:4
    global_load_dword v4, v[0:1], off offset:8
    s_waitcnt vmcnt({})
    v_mov_b32 v5, v2
    s_endpgm)";
  EXPECT_EQ(rules(fmt::format(fmt::runtime(text), 2)), "");
  EXPECT_EQ(rules(fmt::format(fmt::runtime(text), 3)), "W001");
}

TEST(Waits, stores_count_in_vmcnt) {
  EXPECT_EQ(rules(R"(
    global_load_dword v2, v[0:1], off
    global_store_dword v[4:5], v6, off
    s_waitcnt vmcnt(1)
    v_mov_b32 v5, v2
    s_endpgm)"),
            "");
}

TEST(Waits, scalar_loads_need_a_wait_for_zero) {
  const std::string text = R"(
    s_load_dword s4, s[0:1], 0x0
    s_load_dword s5, s[0:1], 0x4
    s_waitcnt lgkmcnt({})
    s_add_u32 s6, s4, s4
    s_endpgm)";
  EXPECT_EQ(rules(fmt::format(fmt::runtime(text), 0)), "");
  EXPECT_EQ(rules(fmt::format(fmt::runtime(text), 1)), "W005");
}

TEST(Waits, scalar_loads_do_not_make_an_lds_read_older) {
  EXPECT_EQ(rules(R"(
    ds_read_b32 v2, v0
    s_load_dword s5, s[0:1], 0x4
    s_waitcnt lgkmcnt(1)
    v_mov_b32 v3, v2
    s_endpgm)"),
            "W003");
}

TEST(Waits, an_lds_read_behind_a_scalar_load_is_freed_by_a_later_lds_read) {
  EXPECT_EQ(rules(R"(
    s_load_dword s5, s[0:1], 0x4
    ds_read_b32 v2, v0
    ds_read_b32 v3, v0 offset:4
    s_waitcnt lgkmcnt(1)
    v_mov_b32 v4, v2
    s_endpgm)"),
            "");
}

TEST(Waits, flat_counts_in_both_counters) {
  const std::string text = R"(
    flat_load_dword v2, v[0:1]
    s_waitcnt {}
    v_mov_b32 v3, v2
    s_endpgm)";
  EXPECT_EQ(rules(fmt::format(fmt::runtime(text), "vmcnt(0)")), "W007");
  EXPECT_EQ(rules(fmt::format(fmt::runtime(text), "lgkmcnt(0)")), "W007");
  EXPECT_EQ(rules(fmt::format(fmt::runtime(text), "vmcnt(0) lgkmcnt(0)")), "");
}

// They finish out of order with each other, so a counter that has no room for another says nothing about the oldest.
TEST(Waits, a_flat_load_is_not_freed_by_as_many_as_the_counter_holds) {
  std::string text = "flat_load_dword v2, v[0:1]\ns_waitcnt vmcnt(0)\n";
  for (int k = 4; k < 24; ++k) text += fmt::format("flat_load_dword v{}, v[0:1]\ns_waitcnt vmcnt(0)\n", k);
  EXPECT_EQ(rules(text + "v_mov_b32 v3, v2\ns_endpgm"), "W007");
  EXPECT_EQ(rules(text + "s_waitcnt lgkmcnt(0)\nv_mov_b32 v3, v2\ns_endpgm"), "");
}

TEST(Waits, a_flat_load_between_two_loads_makes_the_count_useless) {
  EXPECT_EQ(rules(R"(
    global_load_dword v2, v[0:1], off
    flat_load_dword v3, v[0:1]
    s_waitcnt vmcnt(1)
    v_mov_b32 v4, v2
    s_endpgm)"),
            "W001");
}

TEST(Waits, loads_to_lds_count_only_in_vmcnt) {
  EXPECT_EQ(rules(R"(
    ds_read_b32 v2, v0
    s_mov_b32 m0, 0
    s_nop 0
    global_load_lds_dword v[4:5], off
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v3, v2
    s_endpgm)"),
            "");
  EXPECT_EQ(rules(R"(
    global_load_dword v2, v[0:1], off
    s_mov_b32 m0, 0
    s_nop 0
    global_load_lds_dword v[4:5], off
    s_waitcnt vmcnt(1)
    v_mov_b32 v3, v2
    s_endpgm)"),
            "");
}

TEST(Waits, overwriting_a_pending_result_is_found_unless_loads_keep_their_order) {
  EXPECT_EQ(rules("global_load_dword v2, v[0:1], off\nv_mov_b32 v2, 0\ns_endpgm"), "W002");
  EXPECT_EQ(rules("global_load_dword v2, v[0:1], off\nds_read_b32 v2, v0\ns_endpgm"), "W002");
  EXPECT_EQ(rules("global_load_dword v2, v[0:1], off\nglobal_load_dword v2, v[4:5], off\ns_endpgm"), "");
  EXPECT_EQ(rules("ds_read_b32 v2, v0\nv_mov_b32 v2, 0\ns_endpgm"), "W004");
  EXPECT_EQ(rules("s_load_dword s4, s[0:1], 0x0\ns_mov_b32 s4, 0\ns_endpgm"), "W006");
}

TEST(Waits, a_loop_carries_what_is_outstanding_at_its_end) {
  EXPECT_EQ(rules(R"(
    v_mov_b32 v2, 0
  loop:
    v_add_f32 v3, v2, v3
    global_load_dword v2, v[0:1], off
    s_cbranch_scc1 loop
    s_endpgm)"),
            "W001");
  EXPECT_EQ(rules(R"(
    v_mov_b32 v2, 0
  loop:
    s_waitcnt vmcnt(0)
    v_add_f32 v3, v2, v3
    global_load_dword v2, v[0:1], off
    s_cbranch_scc1 loop
    s_endpgm)"),
            "");
}

TEST(Waits, the_shorter_of_two_paths_decides) {
  EXPECT_EQ(rules(R"(
    global_load_dword v2, v[0:1], off
    s_cbranch_scc1 join
    global_load_dword v3, v[0:1], off
  join:
    s_waitcnt vmcnt(1)
    v_mov_b32 v4, v2
    s_endpgm)"),
            "W001");
}

TEST(Waits, an_lds_write_must_arrive_before_the_barrier) {
  EXPECT_EQ(rules("ds_write_b32 v0, v1\ns_barrier\ns_endpgm"), "W009");
  EXPECT_EQ(rules("ds_write_b32 v0, v1\ns_waitcnt lgkmcnt(0)\ns_barrier\ns_endpgm"), "");
}

// Block ping-pong of Triton issue 11696: the barrier came before the wait of the reads, so the other wave group could
// overwrite the buffer while they were queued.
TEST(Waits, a_barrier_before_the_wait_of_an_lds_read_is_found_where_lds_is_written_next) {
  EXPECT_EQ(rules(R"(
    ds_read_b32 v2, v0
    s_barrier
    s_waitcnt lgkmcnt(0)
    ds_write_b32 v0, v1
    s_endpgm)"),
            "W010");
  EXPECT_EQ(rules(R"(
    ds_read_b32 v2, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_write_b32 v0, v1
    s_endpgm)"),
            "");
  EXPECT_EQ(rules(R"(
    ds_read_b32 v2, v0
    s_barrier
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_write_b32 v0, v1
    s_endpgm)"),
            "");
}

TEST(Waits, a_store_after_a_write_back_waits_for_it) {
  EXPECT_EQ(rules("buffer_wbl2 sc1\nglobal_store_dword v[0:1], v2, off\ns_endpgm"), "W011");
  EXPECT_EQ(rules("buffer_wbl2 sc1\ns_waitcnt vmcnt(0)\nglobal_store_dword v[0:1], v2, off\ns_endpgm"), "");
}

TEST(Waits, a_function_expects_nothing_and_leaves_nothing_outstanding) {
  EXPECT_EQ(rules("v_mov_b32 v1, v2\ns_setpc_b64 s[30:31]", -1), "W012 W012");
  EXPECT_EQ(rules("s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\nv_mov_b32 v1, v2\ns_setpc_b64 s[30:31]", -1), "");
  EXPECT_EQ(rules("s_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_load_dword v1, v[2:3], off\ns_setpc_b64 s[30:31]", -1),
            "W013");
}

TEST(Waits, needed_waits_are_the_weakest_that_are_clean) {
  const auto waits = needed(assemble(R"(
    global_load_dword v2, v[0:1], off
    global_load_dword v3, v[0:1], off offset:4
    ds_read_b32 v4, v0
    v_mov_b32 v5, v2
    v_mov_b32 v6, v3
    v_mov_b32 v7, v4
    v_mov_b32 v8, v2
    s_endpgm)"));
  EXPECT_EQ(waits[3], (Wait{.vmcnt = 1}));
  EXPECT_EQ(waits[4], (Wait{.vmcnt = 0}));
  EXPECT_EQ(waits[5], (Wait{.lgkmcnt = 0}));
  EXPECT_TRUE(waits[6].none());
}

TEST(Waits, memory_pins_remember_what_no_register_shows) {
  const auto program = assemble(R"(
    global_store_dword v[0:1], v2, off
    s_waitcnt vmcnt(0)
    global_store_dword v[4:5], v3, off
    s_endpgm)");
  const auto& function = program.functions[0];
  const Graph graph = control_flow(program, function);
  const auto pins = memory_pins(program, function, graph);
  auto stripped = assemble(R"(
    global_store_dword v[0:1], v2, off
    s_nop 0
    global_store_dword v[4:5], v3, off
    s_endpgm)");
  EXPECT_TRUE(needed(stripped)[2].none());
  const auto waits = needed_waits(stripped, function, graph, 0, 4, pins);
  EXPECT_EQ(waits[2], (Wait{.vmcnt = 0}));
}

} // namespace
} // namespace asmevo::analysis
