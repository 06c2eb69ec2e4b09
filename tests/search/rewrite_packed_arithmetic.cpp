// Pairs that become one packed instruction, and those that must not.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// v1 to v8 hold numbers of their own in every lane; what `body` leaves in v[10:13] is stored.
std::string with(const std::string& body) {
  std::string text = "v_cvt_f32_u32_e32 v1, v0\nv_lshlrev_b32_e32 v0, 4, v0\ns_mov_b32 s4, 0x40490fdb\n"
                     "s_mov_b32 s5, 0x3fc90fdb\n";
  for (int v = 2; v < 9; ++v) text += fmt::format("v_sqrt_f32_e32 v{}, v{}\ns_nop 0\n", v, v - 1);
  for (int v = 2; v < 9; ++v) text += fmt::format("v_exp_f32_e64 v{0}, -v{0}\n", v);
  for (int v = 10; v < 14; ++v) text += fmt::format("v_mov_b32_e32 v{}, v{}\n", v, v - 5);
  return text + "v_mov_b32_e32 v20, v3\ns_nop 2\ns_branch go\ngo:\n" + body +
         "global_store_dwordx4 v0, v[10:13], s[0:1]\ns_endpgm\n";
}

std::string after(const std::string& body) {
  const recover::Program program = program_of(body);
  const std::vector<Idea> ideas = packed_arithmetic(facts_of(program));
  return ideas.empty() ? "(none)" : applied(program, ideas[0]);
}

void expect_same(const std::string& part, const std::string& expected) {
  const std::string body = with(part), text = after(body);
  EXPECT_NE(text.find(expected), text.npos) << text;
  ASSERT_NE(text, "(none)") << body;
  EXPECT_EQ(results_of(text).value(), results_of(body).value()) << text;
}

} // namespace

TEST(PackedArithmetic, NeighboursAreComputedAtOnce) {
  expect_same("v_mul_f32_e32 v10, v2, v4\nv_mul_f32_e32 v11, v3, v5\n", "v_pk_mul_f32 v[10:11], v[2:3], v[4:5]\n");
  expect_same("v_add_f32_e32 v11, v3, v5\nv_add_f32_e32 v10, v2, v4\n", "v_pk_add_f32 v[10:11], v[2:3], v[4:5]\n");
  expect_same("v_fma_f32 v10, v2, v4, v6\nv_fma_f32 v11, v3, v5, v7\n",
              "v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[6:7]\n");
  expect_same("v_fmac_f32_e32 v11, v3, v5\nv_fmac_f32_e32 v10, v2, v4\n",
              "v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[10:11]\n");
}

TEST(PackedArithmetic, EitherHalfMayBeEitherOperandAndSignsStay) {
  expect_same("v_mul_f32_e32 v10, v3, v4\nv_mul_f32_e32 v11, v2, v4\n", " op_sel:[1,0] op_sel_hi:[0,0]\n");
  expect_same("v_mul_f32_e32 v11, v3, v4\nv_mul_f32_e32 v10, v2, v5\n", " op_sel:[0,1] op_sel_hi:[1,0]\n");
  expect_same("v_mul_f32_e32 v10, s4, v4\nv_mul_f32_e32 v11, s5, v5\n", "s[4:5], v[4:5]\n");
  expect_same("v_mul_f32_e32 v10, s5, v4\nv_mul_f32_e32 v11, s5, v5\n", "op_sel:[1,0]\n");
  expect_same("v_fma_f32 v10, -v2, v4, v6\nv_fma_f32 v11, v3, v5, -v7\n", "neg_lo:[1,0,0] neg_hi:[0,0,1]\n");
  expect_same("v_fma_f32 v11, -v2, v4, v6\nv_fma_f32 v10, v3, v5, -v7\n", "neg_lo:[0,0,1] neg_hi:[1,0,0]\n");
  expect_same("v_sub_f32_e32 v10, v2, v4\nv_sub_f32_e64 v11, v3, -v5\n", "neg_lo:[0,1]\n");
  expect_same("v_subrev_f32_e32 v11, v3, v5\nv_subrev_f32_e32 v10, v2, v4\n", "neg_lo:[1,0] neg_hi:[1,0]\n");
  expect_same("v_sub_f32_e32 v10, v2, v4\nv_sub_f32_e32 v11, v5, v3\n", "neg_lo:[0,1] neg_hi:[1,0]\n");
  expect_same("v_mul_f32_e32 v10, v2, v4\nv_mul_f32_e32 v11, v5, v3\n", "v_pk_mul_f32 v[10:11], v[2:3], v[4:5]\n");
}

TEST(PackedArithmetic, ValuesOfTheBlockMoveToBecomeNeighbours) {
  expect_same("v_mul_f32_e32 v15, v2, v4\nv_mul_f32_e32 v18, v3, v5\nv_exp_f32_e32 v10, v15\nv_exp_f32_e32 v11, v18\n",
              "v_pk_mul_f32");
  expect_same("v_exp_f32_e32 v15, v2\nv_exp_f32_e32 v18, v3\nv_mul_f32_e32 v10, v15, v4\nv_mul_f32_e32 v11, v18, v4\n",
              "v_pk_mul_f32");
  // What is added to stays in its register, also where it is a factor as well.
  expect_same("v_exp_f32_e32 v15, v2\nv_exp_f32_e32 v18, v3\nv_mul_f32_e32 v10, v15, v4\nv_mul_f32_e32 v11, v18, v4\n"
              "v_fmac_f32_e32 v15, v15, v4\nv_mov_b32_e32 v12, v15\n",
              "v_pk_mul_f32");
  // Beside a value that cannot move.
  expect_same("v_exp_f32_e32 v15, v2\nv_mul_f32_e32 v10, v15, v4\nv_mul_f32_e32 v11, v20, v4\n", "v[20:21], v[4:5]");
}

TEST(PackedArithmetic, TheOrderOfEverythingElseIsKept) {
  // The first waits for the second, and so does what reads it.
  expect_same("v_mul_f32_e32 v10, v2, v4\nv_add_f32_e32 v12, v10, v3\nv_mul_f32_e32 v11, v3, v5\n", "v_pk_mul_f32");
  // A source is overwritten on the way.
  EXPECT_EQ(after(with("v_mul_f32_e32 v10, v2, v4\nv_mov_b32_e32 v2, v10\nv_mul_f32_e32 v11, v2, v5\n")), "(none)");
  // Two pairs that would have to wait for each other.
  const std::string crossed = "v_mul_f32_e32 v10, v2, v4\nv_add_f32_e32 v12, v10, v6\n"
                              "v_add_f32_e32 v13, v11, v7\nv_mul_f32_e32 v11, v3, v5\n";
  expect_same(crossed, "v_pk_mul_f32");
  EXPECT_EQ(after(with(crossed)).find("v_pk_add_f32"), std::string::npos);
}

TEST(PackedArithmetic, DifferencesAreSumsOnlyWhereFloatsMayDiffer) {
  const recover::Program program = program_of(with("v_sub_f32_e32 v10, v2, v4\nv_sub_f32_e32 v11, v3, v5\n"));
  EXPECT_EQ(packed_arithmetic(facts_of(program)).size(), 1u);
  const Facts exact = gather({.program = &program, .function = &program.functions.front(), .codec = &codec()});
  EXPECT_TRUE(packed_arithmetic(exact).empty());
}

TEST(PackedArithmetic, OnlyPlainIndependentInstructionsOfOneExecArePaired) {
  for (const char* part : {
           "v_mul_f32_e32 v10, v2, v4\nv_mul_f32_e32 v11, v10, v5\n",                      // one needs the other
           "v_mul_f32_e32 v10, v2, v4\nv_add_f32_e32 v11, v3, v5\n",                       // of two kinds
           "v_mul_f32_e32 v10, v2, v4\ns_mov_b32 exec_lo, 7\nv_mul_f32_e32 v11, v3, v5\n", // of other lanes
           "v_mul_f32_e64 v10, |v2|, v4\nv_mul_f32_e32 v11, v3, v5\n",                     // no such modifier
           "v_mul_f32_e64 v10, v2, v4 clamp\nv_mul_f32_e64 v11, v3, v5 clamp\n",           // likewise
           "v_mul_f32_e32 v10, 2.0, v4\nv_mul_f32_e32 v11, 2.0, v5\n",                     // constants
           "v_mul_f32_dpp v10, v2, v4 quad_perm:[1,0,3,2]\nv_mul_f32_e32 v11, v3, v5\n",   // other lanes
           "v_mul_f32_e32 v11, v2, v4\nv_mul_f32_e32 v12, v3, v5\n",                       // no aligned pair
           "v_mul_f32_e32 v10, v2, v4\nv_mul_f32_e32 v11, v5, v7\n",                       // sources far apart
           "v_mul_f32_e32 v10, s4, v4\nv_mul_f32_e32 v11, s7, v5\n",                       // likewise
           "v_mul_f32_e32 v15, v2, v4\nv_mul_f32_e32 v10, v3, v5\ns_nop 1\nv_mov_b32_dpp v12, v15 row_shl:1\n",
           "v_mul_f32_e32 v15, v2, v4\nv_mul_f32_e32 v10, v3, v5\ns_mov_b32 exec_lo, 7\nv_mov_b32_e32 v12, v15\n",
           "v_fmac_f32_e32 v15, v2, v4\nv_fmac_f32_e32 v10, v3, v5\nv_mov_b32_e32 v12, v15\n", // tied to its register
       })
    EXPECT_EQ(after(with(part)), "(none)") << part;
}
