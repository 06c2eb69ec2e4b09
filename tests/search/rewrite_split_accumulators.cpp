// Sums of loops in several registers: what they come to, and which stay in one.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// v1 and v3 are other numbers in every lane; v2 (and, as a pair, v[4:5]) sum up in five iterations; v[2:5] are stored.
std::string loop_with(const std::string& body, const std::string& behind = "", const std::string& in_front = "") {
  return "v_cvt_f32_u32_e32 v1, v0\nv_add_u32_e32 v3, 3, v0\nv_cvt_f64_u32_e32 v[6:7], v0\nv_mov_b32_e32 v2, 0\n"
         "v_mov_b32_e32 v4, 0\nv_mov_b32_e32 v5, 0\ns_mov_b32 s4, 0\n" +
         in_front + "top:\n" + body + "s_add_u32 s4, s4, 1\ns_cmp_lt_u32 s4, 5\ns_cbranch_scc1 top\n" + behind +
         "v_lshlrev_b32_e32 v0, 4, v0\nglobal_store_dwordx4 v0, v[2:5], s[0:1]\ns_endpgm\n";
}

using Find = std::vector<Idea> (*)(const Facts&);

std::string after(const std::string& body, Find find, unsigned variant = 0) {
  const recover::Program program = program_of(body);
  for (const Idea& idea : find(facts_of(program)))
    if (idea.variant == variant) return applied(program, idea);
  return "(none)";
}

void expect_same(const std::string& body, Find find, unsigned variant) {
  const std::string text = after(body, find, variant);
  ASSERT_NE(text, "(none)") << body;
  EXPECT_EQ(results_of(text).value(), results_of(body).value()) << text;
}

const std::string adds = "v_add_f32_e32 v2, v1, v2\nv_add_f32_e32 v2, v2, v1\nv_add_f32_e32 v2, 1.0, v2\n"
                         "v_add_f32_e32 v2, v2, v1\n";

} // namespace

TEST(SplitAccumulators, SumsOfWholeNumbersComeOutTheSame) { // which floats add without rounding
  const std::string integers = "v_add_u32_e32 v2, v0, v2\nv_add_u32_e32 v2, s4, v2\nv_add_u32_e32 v2, v2, v3\n"
                               "v_add_u32_e32 v2, 7, v2\nv_add_u32_e32 v2, v3, v2\n";
  for (const unsigned variant : {0u, 1u}) {
    expect_same(loop_with(integers), split_integer_accumulators, variant);
    expect_same(loop_with(adds), split_accumulators, variant);
    expect_same(loop_with("v_fmac_f32_e32 v2, v1, v1\nv_fmac_f32_e32 v2, 2.0, v1\nv_fmac_f32_e32 v2, v1, v1\n"
                          "v_fmac_f32_e32 v2, v1, v1\n"),
                split_accumulators, variant);
    expect_same(loop_with("v_fma_f32 v2, v1, v1, v2\nv_fma_f32 v2, -v1, 2.0, v2\nv_fma_f32 v2, v1, v1, v2\n"
                          "v_fma_f32 v2, v1, v1, v2\n"),
                split_accumulators, variant);
    expect_same(loop_with("v_add_f64 v[4:5], v[6:7], v[4:5]\nv_add_f64 v[4:5], v[4:5], v[6:7]\n"
                          "v_add_f64 v[4:5], 1.0, v[4:5]\nv_add_f64 v[4:5], v[6:7], v[4:5]\n"),
                split_accumulators, variant);
    expect_same(loop_with("v_mad_u32_u24 v2, v0, v3, v2\nv_mad_u32_u24 v2, v3, 5, v2\nv_mad_u32_u24 v2, v0, v3, v2\n"
                          "v_mad_u32_u24 v2, v3, v3, v2\n"),
                split_integer_accumulators, variant);
  }
  const std::string text = after(loop_with(adds), split_accumulators);
  EXPECT_LT(text.find("v_bfrev_b32_e32"), text.find(".L_0:")) << text;
  EXPECT_GT(text.find("v_add_f32_e32 v2, v2, v"), text.find(".L_0:")) << text;
}

TEST(SplitAccumulators, MatricesAddUpInTuples) {
  const std::string body = "v_mfma_f32_4x4x1_16b_f32 v[8:11], v1, v1, v[8:11]\n"
                           "v_mfma_f32_4x4x1_16b_f32 v[8:11], v1, v3, v[8:11]\n";
  std::string zeros, copies = "s_nop 15\n";
  for (int v = 8; v < 12; ++v) zeros += fmt::format("v_mov_b32_e32 v{}, 0\n", v);
  for (int v = 2; v < 6; ++v) copies += fmt::format("v_mov_b32_e32 v{}, v{}\n", v, v + 6);
  expect_same(loop_with(body, copies, "v_cvt_f32_u32_e32 v3, v3\n" + zeros), split_accumulators, 0);
  EXPECT_EQ(after(loop_with(body, copies, zeros), split_accumulators, 1), "(none)"); // two additions only
}

TEST(SplitAccumulators, FloatsAndIntegersAreDifferentRules) {
  EXPECT_EQ(after(loop_with(adds), split_integer_accumulators), "(none)");
  EXPECT_EQ(after(loop_with("v_add_u32_e32 v2, v0, v2\nv_add_u32_e32 v2, v2, v3\n"), split_accumulators), "(none)");
}

TEST(SplitAccumulators, WhatIsLookedAtOnTheWayStays) {
  for (const char* body : {
           "v_add_f32_e32 v2, v1, v2\n",                                                         // one addition
           "v_add_f32_e32 v2, v1, v2\nv_mov_b32_e32 v4, v2\nv_add_f32_e32 v2, v1, v2\n",         // read
           "v_add_f32_e32 v2, v1, v2\nv_mul_f32_e32 v2, v1, v2\nv_add_f32_e32 v2, v1, v2\n",     // no sum
           "v_add_f32_e32 v2, v1, v2\nv_mov_b32_e32 v2, v1\nv_add_f32_e32 v2, v1, v2\n",         // begun anew
           "v_add_f32_e32 v2, v1, v2\nv_fmac_f32_e32 v2, v1, v1\n",                              // of two kinds
           "v_add_f32_e64 v2, v1, -v2\nv_add_f32_e64 v2, v1, -v2\n",                             // turns its sign
           "v_add_f32_e32 v2, v2, v2\nv_add_f32_e32 v2, v2, v2\n",                               // doubles
           "v_add_f32_e64 v2, v1, v2 clamp\nv_add_f32_e64 v2, v1, v2 clamp\n",                   // not linear
           "v_fmac_f32_e32 v2, v2, v1\nv_fmac_f32_e32 v2, v2, v1\n",                             // a product of it
           "v_fma_f32 v2, v1, v2, v1\nv_fma_f32 v2, v1, v2, v1\n",                               // likewise
           "v_add_f32_e32 v2, v1, v2\ns_and_b64 exec, exec, s[6:7]\nv_add_f32_e32 v2, v1, v2\n", // other lanes
           "v_add_f32_dpp v2, v1, v2 row_shl:1\nv_add_f32_dpp v2, v1, v2 row_shl:1\n",           // likewise
       })
    EXPECT_EQ(after(loop_with(body), split_accumulators), "(none)") << body;
}

TEST(SplitAccumulators, TheLoopHasOneWayInAndEndsByFallingThrough) {
  const std::string body = loop_with(adds, "", "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 top\nv_mov_b32_e32 v3, 0\n");
  EXPECT_EQ(after(body, split_accumulators), "(none)");
  // What jumps behind the loop has not been in it.
  const std::string skipped = loop_with(adds, "out:\n", "s_mov_b32 s5, 0\ns_cmp_eq_u32 s5, 0\ns_cbranch_scc1 out\n");
  expect_same(skipped, split_accumulators, 0);
}

TEST(SplitAccumulators, WithoutRegistersTheSumStays) {
  std::string in_front, behind;
  for (int v = 8; v < 256; ++v) in_front += fmt::format("v_mov_b32_e32 v{}, v0\n", v);
  for (int v = 8; v < 256; ++v) behind += fmt::format("v_xor_b32_e32 v3, v3, v{}\n", v);
  behind += "v_xor_b32_e32 v3, v3, v6\nv_xor_b32_e32 v3, v3, v7\n";
  EXPECT_EQ(after(loop_with(adds, behind, in_front), split_accumulators), "(none)");
}
