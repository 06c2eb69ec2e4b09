#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

size_t lines(const std::string& text) { return size_t(std::ranges::count(text, '\n')); }

} // namespace

TEST(FastSquareRoot, ThePreciseSequenceBecomesOneInstruction) {
  recover::Program program = program_of("v_mul_f32_e32 v4, 0x4f800000, v1\n"
                                        "v_cmp_gt_f32_e32 vcc, s0, v1\n"
                                        "s_nop 1\n"
                                        "v_cndmask_b32_e32 v1, v1, v4, vcc\n"
                                        "v_sqrt_f32_e32 v4, v1\n"
                                        "s_nop 0\n"
                                        "v_add_u32_e32 v5, -1, v4\n"
                                        "v_add_u32_e32 v6, 1, v4\n"
                                        "v_fma_f32 v7, -v5, v4, v1\n"
                                        "v_fma_f32 v8, -v6, v4, v1\n"
                                        "v_cmp_ge_f32_e64 s[0:1], 0, v7\n"
                                        "s_nop 1\n"
                                        "v_cndmask_b32_e64 v4, v4, v5, s[0:1]\n"
                                        "v_cmp_lt_f32_e64 s[0:1], 0, v8\n"
                                        "s_nop 1\n"
                                        "v_cndmask_b32_e64 v4, v4, v6, s[0:1]\n"
                                        "v_mul_f32_e32 v5, 0x37800000, v4\n"
                                        "v_cndmask_b32_e32 v4, v4, v5, vcc\n"
                                        "v_mov_b32_e32 v5, 0x260\n"
                                        "v_cmp_class_f32_e32 vcc, v1, v5\n"
                                        "s_nop 1\n"
                                        "v_cndmask_b32_e32 v1, v4, v1, vcc\n"
                                        "global_store_dword v[10:11], v1, off\n"
                                        "s_endpgm\n");
  std::vector<Idea> ideas = fast_square_root(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  std::string text = applied(program, ideas[0]);
  EXPECT_NE(text.find("v_sqrt_f32_e32 v1, v1"), std::string::npos) << text;
  EXPECT_LE(lines(text), 4u) << text;
}
