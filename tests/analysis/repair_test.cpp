#include "analysis/repair.h"

#include "analysis/dependence.h"
#include "analysis/hazards.h"
#include "corpus.h"

#include <random>

namespace asmevo::analysis {
namespace {

using recover::Program;

std::vector<Finding> findings_of(const Program& program, size_t f = 0) {
  const auto& function = program.functions[f];
  const Graph graph = control_flow(program, function);
  auto findings = verify_waits(program, function, graph);
  for (Finding& finding : verify_hazards(program, function, graph)) findings.push_back(std::move(finding));
  return findings;
}

/// The lines of an edit that only wait, in order.
std::string waits_in(const std::string& text) {
  std::string waits;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("s_waitcnt") || line.starts_with("s_nop")) waits += (waits.empty() ? "" : "; ") + line;
  return waits;
}

TEST(Repair, wait_text_says_only_what_is_waited_for) {
  EXPECT_EQ(wait_text({.vmcnt = 2, .lgkmcnt = 0}, 0), "s_waitcnt vmcnt(2) lgkmcnt(0)\n");
  EXPECT_EQ(wait_text({}, 11), "s_nop 7\ns_nop 2\n");
  EXPECT_EQ(wait_text({}, 0), "");
}

TEST(Repair, puts_the_weakest_waits_and_the_fewest_nops) {
  const auto program = assemble(R"(
    global_load_dword v2, v[0:1], off
    global_load_dword v3, v[0:1], off offset:4
    v_exp_f32 v4, v2
    v_add_f32 v5, v4, v3
    s_endpgm)");
  const auto edits = repair(program, program.functions[0]);
  ASSERT_EQ(edits.size(), 2u);
  EXPECT_EQ(edits[0].first, 2u);
  EXPECT_EQ(edits[0].last, 2u);
  EXPECT_EQ(edits[0].text, "s_waitcnt vmcnt(1)\n");
  EXPECT_EQ(edits[1].first, 3u);
  EXPECT_EQ(edits[1].text, "s_waitcnt vmcnt(0)\n"); // the wait is the wait state that the transcendental needs
}

TEST(Repair, a_repaired_program_is_clean_and_needs_no_repair) {
  const auto program = assemble(R"(
    s_load_dwordx4 s[0:3], s[4:5], 0x0
    v_readfirstlane_b32 s8, v0
    buffer_load_dwordx4 v[4:7], v0, s[0:3], s8 offen
    v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], 0
    ds_write_b128 v0, v[8:11]
    s_barrier
    ds_read_b128 v[12:15], v0
    buffer_store_dwordx4 v[12:15], v0, s[0:3], 0 offen
    v_mov_b32 v12, 0
    s_endpgm)");
  EXPECT_FALSE(findings_of(program).empty());
  const Program after = repaired(program, 0, {}, codec_of(isa::Processor::gfx942));
  EXPECT_TRUE(findings_of(after).empty());
  EXPECT_TRUE(repair(after, after.functions[0]).empty());
  EXPECT_GT(after.items.size(), program.items.size());
}

TEST(Repair, strip_takes_only_waits_and_keeps_track) {
  const auto program = assemble("v_mov_b32 v1, 0\ns_nop 1\ns_waitcnt vmcnt(0)\nv_mov_b32 v2, 0\ns_endpgm");
  const Stripped stripped = strip(program, 0, 0, 5);
  EXPECT_EQ(stripped.original, (std::vector<size_t>{0, 3, 4}));
  EXPECT_EQ(stripped.program.functions[0].last, 3u);
}

TEST(Repair, a_fence_between_stores_survives) {
  const auto program = assemble(R"(
    global_store_dword v[0:1], v2, off
    s_waitcnt vmcnt(0)
    global_store_dword v[4:5], v3, off
    s_endpgm)");
  const Stripped stripped = strip(program, 0, 0, program.items.size());
  const auto edits = repair(stripped.program, stripped.program.functions[0], stripped.pins);
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(edits[0].first, 1u);
  EXPECT_EQ(edits[0].text, "s_waitcnt vmcnt(0)\n");
}

TEST(Repair, loads_to_lds_are_waited_for_as_deep_as_the_original_pipelined_them) {
  const auto program = assemble(R"(
    s_mov_b32 m0, 0
    s_nop 0
    global_load_lds_dword v[4:5], off
    global_load_lds_dword v[4:5], off offset:64
    s_waitcnt vmcnt(1)
    s_barrier
    ds_read_b32 v2, v0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v3, v2
    s_endpgm)");
  const Stripped stripped = strip(program, 0, 0, program.items.size());
  const Program after = repaired(stripped.program, 0, stripped.pins, codec_of(isa::Processor::gfx942));
  std::string text;
  for (const auto& item : after.items) text += item.text + "\n";
  EXPECT_EQ(waits_in(text), "s_nop 0; s_waitcnt vmcnt(1); s_waitcnt lgkmcnt(0)");
}

TEST(Repair, renewing_puts_waits_where_an_edit_needs_them_and_only_there) {
  const auto program = assemble(R"(
    global_load_dword v2, v[0:1], off
    s_waitcnt vmcnt(0)
    v_add_f32 v3, v2, v2
    s_cbranch_scc1 L
    global_load_dword v4, v[0:1], off offset:4
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_add_f32 v5, v4, v4
  L:
    s_endpgm)");
  const isa::Codec& codec = codec_of(isa::Processor::gfx942);
  const std::array edits = {recover::Edit{1, 2, "v_mov_b32 v6, 0\n"}}; // its wait is gone
  Program edited = program;
  edited.items[1] = assemble("v_mov_b32 v6, 0").items[0];
  edited.items[1].origin = -1;
  const std::vector<bool> touched = touched_blocks(program, edits, edited, 0);
  EXPECT_EQ(touched, (std::vector<bool>{true, false, false}));
  const Program after = renewed(edited, 0, touched, codec);
  std::string text;
  for (const auto& item : after.items) text += item.text + "\n";
  EXPECT_EQ(waits_in(text), "s_waitcnt vmcnt(0); s_waitcnt vmcnt(0) lgkmcnt(0)"); // the other block keeps its own
  const Program again = renewed(after, 0, {true, true, true}, codec);
  EXPECT_EQ(renewed(again, 0, {true, true, true}, codec).items.size(), again.items.size());
}

TEST(Repair, a_block_that_lost_an_instruction_is_touched) {
  const auto program = assemble("s_nop 0\ns_cbranch_scc1 L\ns_nop 1\ns_nop 2\nL:\ns_endpgm");
  const std::array edits = {recover::Edit{2, 3, ""}};
  Program edited = program;
  edited.items.erase(edited.items.begin() + 2);
  --edited.functions[0].last;
  EXPECT_EQ(touched_blocks(program, edits, edited, 0), (std::vector<bool>{false, true, false}));
}

TEST(Repair, reordering_moves_the_waits_with_their_uses) {
  const auto program = assemble(R"(
    global_load_dword v2, v[0:1], off
    s_waitcnt vmcnt(0)
    v_add_f32 v3, v2, v2
    global_load_dword v4, v[0:1], off offset:4
    s_waitcnt vmcnt(0)
    v_add_f32 v5, v4, v4
    s_endpgm)");
  const auto edits = reorder(program, program.functions[0], 0, 7, std::array<size_t, 5>{0, 3, 2, 5, 6});
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(edits[0].text, "global_load_dword v2, v[0:1], off\nglobal_load_dword v4, v[0:1], off offset:4\n"
                           "s_waitcnt vmcnt(1)\nv_add_f32 v3, v2, v2\ns_waitcnt vmcnt(0)\nv_add_f32 v5, v4, v4\n"
                           "s_endpgm\n");
}

TEST(Repair, a_load_moved_over_a_store_is_not_waited_for_there) {
  const auto program = assemble(R"(
    global_load_dword v2, v[0:1], off
    s_waitcnt vmcnt(0)
    global_store_dword v[0:1], v2, off offset:16
    global_load_dword v4, v[0:1], off offset:4
    s_waitcnt vmcnt(0)
    global_store_dword v[0:1], v4, off offset:20
    s_endpgm)");
  const auto edits = reorder(program, program.functions[0], 0, 6, std::array<size_t, 4>{0, 3, 2, 5});
  ASSERT_EQ(edits.size(), 1u);
  // The second wait may leave the first store outstanding, as the original's vmcnt(0) did not: the original made the
  // first store arrive before the second, so it still does.
  EXPECT_EQ(waits_in(edits[0].text), "s_waitcnt vmcnt(1); s_waitcnt vmcnt(0)");
}

TEST(Repair, a_wait_in_front_of_a_loop_stays_in_front_of_it) {
  const auto program = assemble(R"(
    global_load_dword v2, v[0:1], off
    v_mov_b32 v9, 0
    s_waitcnt vmcnt(0)
  loop:
    v_add_f32 v3, v2, v3
    s_cbranch_scc1 loop
    s_endpgm)");
  const auto edits = reorder(program, program.functions[0], 0, 3, std::array<size_t, 2>{1, 0});
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(edits[0].text, "v_mov_b32 v9, 0\nglobal_load_dword v2, v[0:1], off\ns_waitcnt vmcnt(0)\n");
}

TEST(Repair, stripping_a_block_in_front_of_a_loop_keeps_its_wait_out_of_the_loop) {
  const auto program = assemble(R"(
    global_load_dword v2, v[0:1], off
    s_waitcnt vmcnt(0)
  loop:
    v_add_f32 v3, v2, v3
    s_cbranch_scc1 loop
    s_endpgm)");
  const Stripped stripped = strip(program, 0, 0, 2);
  const auto edits = repair(stripped.program, stripped.program.functions[0], stripped.pins);
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(edits[0].first, 1u); // before the label
  EXPECT_EQ(edits[0].text, "s_waitcnt vmcnt(0)\n");
}

TEST(Repair, an_lds_access_that_was_moved_over_its_wait_is_waited_for_at_the_barrier) {
  const auto moved = assemble(R"(
    s_waitcnt lgkmcnt(0)
    ds_write_b32 v0, v1
    s_barrier
    s_endpgm)");
  const Stripped stripped = strip(moved, 0, 0, moved.items.size());
  const auto edits = repair(stripped.program, stripped.program.functions[0], stripped.pins);
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(edits[0].text, "s_waitcnt lgkmcnt(0)\n");
}

TEST(Repair, reordering_leaves_a_barrier_as_lenient_as_it_was) {
  const auto program = assemble("v_mov_b32 v5, 0\nds_read_b32 v2, v0\ns_barrier\ns_waitcnt lgkmcnt(0)\n"
                                "v_mov_b32 v3, v2\ns_endpgm");
  const auto edits = reorder(program, program.functions[0], 0, 6, std::array<size_t, 5>{1, 0, 2, 4, 5});
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(waits_in(edits[0].text), "s_waitcnt lgkmcnt(0)");
  EXPECT_NE(edits[0].text.find("s_barrier\ns_waitcnt"), std::string::npos);
}

TEST(Repair, a_prefetch_stays_in_flight_over_a_barrier_that_no_store_follows) {
  const auto program = assemble(R"(
    ds_write_b32 v0, v1
    global_load_dword v2, v[4:5], off
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v0
    s_waitcnt lgkmcnt(0)
    v_add_f32 v3, v3, v2
    s_barrier
    global_store_dword v[6:7], v3, off
    s_endpgm)");
  const auto& function = program.functions[0];
  const auto relaxed = relaxed_waits(program, function, control_flow(program, function), 0, 3);
  ASSERT_EQ(relaxed.size(), 0u); // the add needs it, and no later wait says so
  const Stripped stripped = strip(program, 0, 0, program.items.size());
  const Program after = repaired(stripped.program, 0, stripped.pins, codec_of(isa::Processor::gfx942));
  std::string text;
  for (const auto& item : after.items) text += item.text + "\n";
  EXPECT_EQ(waits_in(text), "s_waitcnt lgkmcnt(0); s_waitcnt vmcnt(0) lgkmcnt(0)");
}

TEST(Repair, relaxing_weakens_a_wait_to_what_is_used_and_drops_idle_ones) {
  const auto program = assemble(R"(
    global_load_dword v2, v[0:1], off
    global_load_dword v3, v[0:1], off offset:4
    s_waitcnt vmcnt(0)
    v_mov_b32 v4, v2
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_mov_b32 v5, v3
    s_waitcnt vmcnt(0)
    s_endpgm)");
  const auto& function = program.functions[0];
  const auto relaxed = relaxed_waits(program, function, control_flow(program, function), 0, function.last);
  ASSERT_EQ(relaxed.size(), 3u);
  EXPECT_EQ(relaxed[0].item, 2u);
  EXPECT_EQ(relaxed[0].wait, (Wait{.vmcnt = 1}));
  EXPECT_EQ(relaxed[1].wait, (Wait{.vmcnt = 0}));
  EXPECT_TRUE(relaxed[2].wait.none());
}

// ---- on real kernels ----

void expect_same(const Finding& finding, const std::string& path) {
  ADD_FAILURE() << path << ": " << finding.rule << " " << finding.message;
}

TEST(Repair, stripped_triton_and_compiled_kernels_are_made_clean_again) {
  auto paths = objects_in("triton");
  if (paths.empty()) GTEST_SKIP() << "no " << data_folder() << "/triton: set ASMEVO_DATA";
  for (const std::string& path : objects_in("mi300a")) paths.push_back(path);
  for (const std::string& path : paths) {
    auto program = recover_file(path);
    ASSERT_TRUE(program.has_value()) << path;
    const auto codec = isa::Codec::create(program->target);
    for (size_t f = 0; f < program->functions.size(); ++f) {
      const auto function = program->functions[f];
      const Stripped stripped = strip(*program, f, function.first, function.last);
      const Program after = repaired(stripped.program, f, stripped.pins, *codec);
      for (const Finding& finding : findings_of(after, f)) expect_same(finding, path);
      EXPECT_TRUE(repair(after, after.functions[f], {}).empty()) << path;
    }
  }
}

/// A random order that keeps the dependences.
std::vector<size_t> shuffled(const DependenceGraph& graph, std::mt19937_64& random) {
  std::vector<size_t> waiting(graph.items.size());
  std::vector<uint32_t> ready, order;
  for (uint32_t n = 0; n < waiting.size(); ++n)
    if ((waiting[n] = graph.predecessors[n].size()) == 0) ready.push_back(n);
  while (!ready.empty()) {
    const size_t pick = random() % ready.size();
    const uint32_t node = ready[pick];
    ready[pick] = ready.back();
    ready.pop_back();
    order.push_back(node);
    for (const Dependence& d : graph.successors[node])
      if (--waiting[d.node] == 0) ready.push_back(d.node);
  }
  EXPECT_TRUE(graph.allows(order));
  std::vector<size_t> items;
  for (uint32_t node : order) items.push_back(graph.items[node]);
  return items;
}

/// Carries edits out on a function alone, reassembling nothing: lines that only wait are made, the others looked up.
Program carried_out(const Program& program, const recover::Function& function, std::span<const recover::Edit> edits,
                    const isa::Codec& codec) {
  Program result;
  result.target = program.target;
  result.origin = program.origin;
  result.declared = program.declared;
  const auto add_lines = [&](const recover::Edit& edit) {
    std::multimap<std::string, const recover::Item*> old;
    for (size_t i = edit.first; i < edit.last; ++i) old.emplace(item_text(program.items[i]), &program.items[i]);
    std::istringstream lines(edit.text);
    for (std::string line; std::getline(lines, line);) {
      const auto found = old.find(line);
      if (found != old.end() && !line.starts_with("s_waitcnt") && !line.starts_with("s_nop")) {
        result.items.push_back(*found->second);
        old.erase(found);
        continue;
      }
      const auto bytes = codec.assemble(line);
      EXPECT_TRUE(bytes.has_value()) << line;
      recover::Item item;
      item.text = line;
      item.instruction = codec.decode(*bytes, 0);
      result.items.push_back(item);
    }
  };
  size_t next = function.first;
  for (const recover::Edit& edit : edits) {
    for (; next < edit.first; ++next) result.items.push_back(program.items[next]);
    add_lines(edit);
    next = std::max(next, edit.last);
  }
  for (; next < function.last; ++next) result.items.push_back(program.items[next]);
  result.functions.push_back({function.name, 0, result.items.size(), function.kernel});
  return result;
}

TEST(Repair, blocks_of_triton_kernels_in_any_legal_order_are_clean) {
  const auto paths = objects_in("triton");
  if (paths.empty()) GTEST_SKIP() << "no " << data_folder() << "/triton: set ASMEVO_DATA";
  std::mt19937_64 random(7);
  for (const std::string& path : paths) {
    auto program = recover_file(path);
    ASSERT_TRUE(program.has_value()) << path;
    const auto codec = isa::Codec::create(program->target);
    for (const auto& function : program->functions) {
      const Graph graph = control_flow(*program, function);
      for (const Block& block : graph.blocks) {
        if (block.last - block.first < 3) continue;
        size_t first = block.first;
        while (first < block.last && program->items[first].kind == recover::ItemKind::label) ++first;
        const auto order = shuffled(dependences(*program, function, first, block.last), random);
        const auto edits = reorder(*program, function, first, block.last, order);
        const Program after = carried_out(*program, function, edits, *codec);
        for (const Finding& finding : findings_of(after)) expect_same(finding, path);
      }
    }
  }
}

} // namespace
} // namespace asmevo::analysis
