// Logarithms and exponentials of compilers by one hardware instruction and one multiplication.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

#include <cmath>
#include <cstring>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

// v2 = (lane - 20) / 7 + 1/16
const std::string argument = "v_mbcnt_lo_u32_b32 v0, -1, 0\n"
                             "v_mbcnt_hi_u32_b32 v0, -1, v0\n"
                             "v_lshlrev_b32_e32 v8, 2, v0\n"
                             "v_subrev_u32_e32 v1, 20, v0\n"
                             "v_cvt_f32_i32_e32 v1, v1\n"
                             "v_mov_b32_e32 v2, 0x3d800000\n"
                             "v_fmac_f32_e32 v2, 0x3e124925, v1\n";
const std::string end = "global_store_dword v8, v2, s[0:1]\n"
                        "s_endpgm\n";

std::string log_of(const std::string& high, const std::string& low, const std::string& exponent) {
  return "s_mov_b32 s4, 0x800000\n"
         "s_mov_b32 s5, " +
         high +
         "\n"
         "v_cmp_gt_f32_e32 vcc, s4, v2\n"
         "v_cndmask_b32_e64 v3, 0, 32, vcc\n"
         "v_ldexp_f32 v2, v2, v3\n"
         "v_log_f32_e32 v2, v2\n"
         "s_mov_b32 s4, 0x7f800000\n"
         "v_mov_b32_e32 v3, " +
         exponent +
         "\n"
         "v_cndmask_b32_e32 v3, 0, v3, vcc\n"
         "v_mul_f32_e32 v4, " +
         high +
         ", v2\n"
         "v_fma_f32 v5, v2, s5, -v4\n"
         "v_fmamk_f32 v5, v2, " +
         low +
         ", v5\n"
         "v_add_f32_e32 v4, v4, v5\n"
         "v_cmp_lt_f32_e64 vcc, |v2|, s4\n"
         "v_cndmask_b32_e32 v2, v2, v4, vcc\n"
         "v_sub_f32_e32 v2, v2, v3\n";
}
const std::string natural = log_of("0x3f317217", "0x3377d1cf", "0x41b17218");
const std::string binary = "s_mov_b32 s4, 0x800000\n"
                           "v_cmp_gt_f32_e32 vcc, s4, v2\n"
                           "v_cndmask_b32_e64 v3, 0, 32, vcc\n"
                           "v_ldexp_f32 v2, v2, v3\n"
                           "v_log_f32_e32 v2, v2\n"
                           "v_mov_b32_e32 v3, 0x42000000\n"
                           "v_cndmask_b32_e32 v3, 0, v3, vcc\n"
                           "v_sub_f32_e32 v2, v2, v3\n";
const std::string exponential = "s_mov_b32 s4, 0x3fb8aa3b\n"
                                "s_mov_b32 s5, 0x42b17218\n"
                                "v_mul_f32_e32 v3, 0x3fb8aa3b, v2\n"
                                "v_fma_f32 v4, v2, s4, -v3\n"
                                "v_rndne_f32_e32 v5, v3\n"
                                "v_fmamk_f32 v4, v2, 0x32a5705f, v4\n"
                                "v_sub_f32_e32 v3, v3, v5\n"
                                "v_add_f32_e32 v3, v3, v4\n"
                                "v_cvt_i32_f32_e32 v5, v5\n"
                                "v_exp_f32_e32 v3, v3\n"
                                "s_mov_b32 s4, 0xc2ce8ed0\n"
                                "v_cmp_ngt_f32_e32 vcc, s4, v2\n"
                                "v_mov_b32_e32 v4, 0x7f800000\n"
                                "v_ldexp_f32 v3, v3, v5\n"
                                "v_cndmask_b32_e32 v3, 0, v3, vcc\n"
                                "v_cmp_nlt_f32_e32 vcc, s5, v2\n"
                                "v_cndmask_b32_e32 v2, v4, v3, vcc\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

using Rule = std::vector<Idea> (*)(const Facts&);

size_t ideas(Rule rule, const std::string& body) {
  const recover::Program program = program_of(argument + body + end);
  return rule(facts_of(program)).size();
}

/// The program after the one idea, whose results differ by rounding alone.
std::string changed(Rule rule, const std::string& body) {
  const std::string before = argument + body + end;
  const recover::Program program = program_of(before);
  const auto found = rule(facts_of(program));
  EXPECT_EQ(found.size(), 1u);
  if (found.empty()) return "";
  const std::string after = applied(program, found.front());
  const auto a = results_of(before), b = results_of(after);
  EXPECT_TRUE(a && b) << after;
  for (size_t lane = 0; a && b && lane < 64; ++lane) {
    float x = 0, y = 0;
    std::memcpy(&x, a->data() + 4 * lane, 4);
    std::memcpy(&y, b->data() + 4 * lane, 4);
    if (std::isnan(x))
      EXPECT_TRUE(std::isnan(y)) << lane;
    else if (std::isinf(x))
      EXPECT_EQ(x, y) << lane;
    else
      EXPECT_NEAR(x, y, 2e-5f * std::max(1.0f, std::abs(x))) << lane << "\n" << after;
  }
  return after;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

} // namespace

TEST(FastLogarithm, ANaturalLogarithmIsOneMultiplication) {
  const std::string text = changed(fast_logarithm, natural);
  EXPECT_TRUE(has(text, "v_log_f32") && has(text, "v_mul_f32")) << text;
  for (const char* part : {"v_ldexp", "v_cndmask", "v_fma_", "v_fmamk", "v_cmp", "v_sub_f32"})
    EXPECT_FALSE(has(text, part)) << text;
}

TEST(FastLogarithm, ADecimalLogarithmToo) {
  const std::string text = changed(fast_logarithm, log_of("0x3e9a209a", "0x3284fbcf", "0x411a209b"));
  EXPECT_FALSE(has(text, "v_fma_") || has(text, "v_fmamk")) << text;
}

TEST(FastLogarithm, ABinaryLogarithmIsTheInstruction) {
  const std::string text = changed(fast_logarithm, binary);
  for (const char* part : {"v_ldexp", "v_cndmask", "v_mul", "v_sub_f32"}) EXPECT_FALSE(has(text, part)) << text;
}

TEST(FastLogarithm, ConstantsMayComeFromFurtherAway) {
  const std::string away = "s_mov_b32 s5, 0x3f317217\n";
  const std::string text = replaced(natural, away, "");
  EXPECT_EQ(ideas(fast_logarithm, away + "s_branch .Lhere\n.Lhere:\n" + text), 1u);
  // Which constant it is depends on the way.
  EXPECT_EQ(ideas(fast_logarithm, away + "s_cbranch_scc1 .Lhere\ns_mov_b32 s5, 7\n.Lhere:\n" + text), 0u);
  EXPECT_EQ(ideas(fast_logarithm, text), 0u);
}

TEST(FastLogarithm, OtherNumbersAreOtherFunctions) {
  EXPECT_EQ(ideas(fast_logarithm, replaced(natural, "0, 32, vcc", "0, 31, vcc")), 0u);
  EXPECT_EQ(ideas(fast_logarithm, replaced(natural, "0x3377d1cf", "0x3377d1ff")), 0u);
  EXPECT_EQ(ideas(fast_logarithm, replaced(natural, "0x41b17218", "0x41b17210")), 0u);
  EXPECT_EQ(ideas(fast_logarithm, replaced(natural, "v_mul_f32_e32 v4, 0x3f317217", "v_mul_f32_e32 v4, 0x3f317211")),
            0u);
  EXPECT_EQ(ideas(fast_logarithm, replaced(natural, "s4, 0x800000", "s4, 0x900000")), 0u);
  EXPECT_EQ(ideas(fast_logarithm, replaced(binary, "0x42000000", "0x41f80000")), 0u);
}

TEST(FastLogarithm, BothGuardsAskTheSame) {
  EXPECT_EQ(ideas(fast_logarithm,
                  replaced(binary, "v_log_f32_e32 v2, v2\n", "v_log_f32_e32 v2, v2\nv_cmp_gt_f32_e32 vcc, s4, v0\n")),
            0u);
}

TEST(FastLogarithm, OtherLanesThanThoseThatComputedItHaveSomethingElse) {
  EXPECT_EQ(
      ideas(fast_logarithm, replaced(binary, "v_log_f32_e32 v2, v2\n", "v_log_f32_e32 v2, v2\ns_mov_b64 exec, 15\n")),
      0u);
}

TEST(FastExponential, AnExponentialIsOneMultiplication) {
  const std::string text = changed(fast_exponential, exponential);
  EXPECT_TRUE(has(text, "v_exp_f32") && has(text, "v_mul_f32")) << text;
  for (const char* part : {"v_ldexp", "v_cndmask", "v_fma_", "v_fmamk", "v_cmp", "v_rndne"})
    EXPECT_FALSE(has(text, part)) << text;
}

TEST(FastExponential, SumsMayBeTurned) {
  const std::string turned = replaced(exponential, "v_add_f32_e32 v3, v3, v4", "v_add_f32_e32 v3, v4, v3");
  EXPECT_FALSE(has(changed(fast_exponential, turned), "v_ldexp"));
}

TEST(FastExponential, OutOfRangeIsZeroOrInfinity) {
  changed(fast_exponential, "v_mul_f32_e32 v2, 0x42c80000, v2\n" + exponential);
}

TEST(FastExponential, OtherNumbersAreOtherFunctions) {
  for (const auto& [from, to] : {std::pair{"s4, 0x3fb8aa3b", "s4, 0x3fb8aa30"},
                                 {"0x32a5705f", "0x32a57050"},
                                 {"0x42b17218", "0x42217218"},
                                 {"0xc2ce8ed0", "0xc20e8ed0"},
                                 {"v4, 0x7f800000", "v4, 0x7f000000"},
                                 {"v_cmp_nlt_f32_e32 vcc, s5, v2", "v_cmp_nlt_f32_e32 vcc, s5, v0"},
                                 {"v_rndne_f32_e32 v5, v3", "v_rndne_f32_e32 v5, v2"}})
    EXPECT_EQ(ideas(fast_exponential, replaced(exponential, from, to)), 0u) << from;
}

TEST(FastExponential, TheArgumentMustStillBeThere) {
  EXPECT_EQ(ideas(fast_exponential,
                  replaced(exponential, "v_exp_f32_e32 v3, v3\n", "v_mov_b32_e32 v2, 0\nv_exp_f32_e32 v3, v3\n")),
            0u);
}
