#include "analysis/reaching.h"

#include "assemble.h"

namespace asmevo::analysis {
namespace {

using Items = std::vector<uint32_t>;
using enum isa::File;

struct Analysed {
  recover::Program program;
  Reaching reaching;

  explicit Analysed(const std::string& text)
      : program(assemble(text)), reaching(program, program.functions[0], control_flow(program, program.functions[0])) {}
};

TEST(Reaching, a_read_sees_the_last_write) {
  const Analysed a("s_mov_b32 s4, 1\ns_mov_b32 s4, 2\ns_add_u32 s5, s4, s4\ns_endpgm");
  EXPECT_EQ(a.reaching.definitions(2, bit_of(sgpr, 4)), (Items{1}));
  EXPECT_EQ(a.reaching.readers(1, bit_of(sgpr, 4)), (Items{2}));
  EXPECT_EQ(a.reaching.readers(0, bit_of(sgpr, 4)), Items{});
}

TEST(Reaching, both_paths_reach_a_join) {
  const Analysed a("s_mov_b32 s4, 1\ns_cbranch_scc1 j\ns_mov_b32 s4, 2\nj:\ns_add_u32 s5, s4, s4\ns_endpgm");
  EXPECT_EQ(a.reaching.definitions(4, bit_of(sgpr, 4)), (Items{0, 2}));
}

TEST(Reaching, a_loop_brings_its_own_writes_around) {
  const Analysed a("s_mov_b32 s4, 0\nl:\ns_add_u32 s4, s4, 1\ns_cbranch_scc1 l\ns_endpgm");
  EXPECT_EQ(a.reaching.definitions(2, bit_of(sgpr, 4)), (Items{0, 2}));
}

TEST(Reaching, what_nothing_wrote_comes_from_entry) {
  const Analysed a("s_add_u32 s5, s4, s4\ns_endpgm");
  EXPECT_EQ(a.reaching.definitions(0, bit_of(sgpr, 4)), (Items{Reaching::entry}));
  EXPECT_FALSE(a.reaching.sole_definition(0, bit_of(sgpr, 4)).has_value());
}

TEST(Reaching, a_masked_vector_write_leaves_the_older_one) {
  const Analysed a(R"(
    v_mov_b32 v1, 0
    s_and_saveexec_b64 s[4:5], vcc
    v_mov_b32 v1, 1
    s_or_b64 exec, exec, s[4:5]
    v_mov_b32 v2, v1
    s_endpgm)");
  EXPECT_EQ(a.reaching.definitions(4, bit_of(vgpr, 1)), (Items{0, 2}));
}

TEST(Reaching, an_update_in_place_replaces_and_half_a_write_does_not) {
  const Analysed a("v_mov_b32 v1, 0\nv_add_f32 v1, v1, v2\nv_mov_b32 v3, v1\nv_mov_b32_sdwa v1, v4 dst_sel:WORD_1 "
                   "dst_unused:UNUSED_PRESERVE src0_sel:DWORD\nv_mov_b32 v5, v1\ns_endpgm");
  EXPECT_EQ(a.reaching.definitions(2, bit_of(vgpr, 1)), (Items{1}));
  EXPECT_EQ(a.reaching.definitions(4, bit_of(vgpr, 1)), (Items{1, 3}));
}

TEST(Reaching, a_call_may_have_written_anything) {
  const Analysed a("s_mov_b32 s4, 1\ns_swappc_b64 s[30:31], s[6:7]\ns_add_u32 s5, s4, s4\ns_endpgm");
  EXPECT_EQ(a.reaching.definitions(2, bit_of(sgpr, 4)), (Items{0, 1}));
}

TEST(Reaching, scalar_constants_come_from_the_one_move_that_sets_them) {
  const Analysed a("s_mov_b32 s4, 0x12345\ns_movk_i32 s5, -3\ns_mov_b32 s6, 1.0\ns_mov_b32 s7, -16\ns_mov_b32 s8, s4\n"
                   "s_nop 0\ns_endpgm");
  EXPECT_EQ(a.reaching.scalar_constant(5, 4), 0x12345u);
  EXPECT_EQ(a.reaching.scalar_constant(5, 5), 0xfffffffdu);
  EXPECT_EQ(a.reaching.scalar_constant(5, 6), 0x3f800000u);
  EXPECT_EQ(a.reaching.scalar_constant(5, 7), 0xfffffff0u);
  EXPECT_FALSE(a.reaching.scalar_constant(5, 8).has_value());
}

} // namespace
} // namespace asmevo::analysis
