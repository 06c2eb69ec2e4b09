// Hyperbolic tangents and error functions of compilers, two arms under EXEC, as straight code.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

#include <cmath>
#include <cstring>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

// v2 = (lane - 20) / 7 + 1/16, but infinities, no number and a denormal at the end
const std::string begin = "v_mbcnt_lo_u32_b32 v0, -1, 0\n"
                          "v_mbcnt_hi_u32_b32 v0, -1, v0\n"
                          "v_lshlrev_b32_e32 v8, 2, v0\n"
                          "v_subrev_u32_e32 v1, 20, v0\n"
                          "v_cvt_f32_i32_e32 v1, v1\n"
                          "v_mov_b32_e32 v2, 0x3d800000\n"
                          "v_fmac_f32_e32 v2, 0x3e124925, v1\n"
                          "v_mov_b32_e32 v3, 0x7f800000\n"
                          "v_cmp_eq_u32_e32 vcc, 63, v0\n"
                          "v_cndmask_b32_e32 v2, v2, v3, vcc\n"
                          "v_mov_b32_e32 v3, 0xff800000\n"
                          "v_cmp_eq_u32_e32 vcc, 62, v0\n"
                          "v_cndmask_b32_e32 v2, v2, v3, vcc\n"
                          "v_mov_b32_e32 v3, 0x7fc00000\n"
                          "v_cmp_eq_u32_e32 vcc, 61, v0\n"
                          "v_cndmask_b32_e32 v2, v2, v3, vcc\n"
                          "v_mov_b32_e32 v3, 0x80000012\n"
                          "v_cmp_eq_u32_e32 vcc, 60, v0\n"
                          "v_cndmask_b32_e32 v2, v2, v3, vcc\n";
const std::string end = "s_brev_b32 s2, -2\n"
                        "v_bfi_b32 v4, s2, v4, v2\n"
                        "global_store_dword v8, v4, s[0:1]\n"
                        "s_endpgm\n";

const std::string tanh_large = "v_add_f32_e64 v5, |v2|, |v2|\n"
                               "s_mov_b32 s8, 0x3fb8aa3b\n"
                               "v_mul_f32_e32 v6, 0x3fb8aa3b, v5\n"
                               "v_fma_f32 v7, v5, s8, -v6\n"
                               "v_rndne_f32_e32 v6, v6\n"
                               "v_fmamk_f32 v7, v5, 0x32a5705f, v7\n"
                               "v_fma_f32 v4, v5, s8, -v6\n"
                               "v_add_f32_e32 v7, v4, v7\n"
                               "v_exp_f32_e32 v7, v7\n"
                               "v_cvt_i32_f32_e32 v6, v6\n"
                               "s_mov_b32 s8, 0xc2ce8ed0\n"
                               "v_cmp_ngt_f32_e64 s[8:9], s8, v5\n"
                               "v_ldexp_f32 v6, v7, v6\n"
                               "v_mov_b32_e32 v7, 0x7f800000\n"
                               "v_cndmask_b32_e64 v6, 0, v6, s[8:9]\n"
                               "s_mov_b32 s8, 0x42b17218\n"
                               "v_cmp_nlt_f32_e64 s[8:9], s8, v5\n"
                               "s_nop 1\n"
                               "v_cndmask_b32_e64 v4, v7, v6, s[8:9]\n"
                               "v_add_f32_e32 v4, 1.0, v4\n"
                               "v_rcp_f32_e32 v4, v4\n"
                               "s_nop 0\n"
                               "v_fma_f32 v4, v4, -2.0, 1.0\n";
const std::string tanh_small = "v_mul_f32_e32 v5, v2, v2\n"
                               "v_mov_b32_e32 v6, 0x3ca908c9\n"
                               "v_fmac_f32_e32 v6, 0xbbbac73d, v5\n"
                               "v_fmaak_f32 v6, v5, v6, 0xbd5c1c4e\n"
                               "v_fmaak_f32 v6, v5, v6, 0x3e088382\n"
                               "v_fmaak_f32 v6, v5, v6, 0xbeaaaa99\n"
                               "v_mul_f32_e64 v6, |v2|, v6\n"
                               "v_fma_f32 v4, v5, v6, |v2|\n";
const std::string erf_large = "s_mov_b32 s8, 0x378e98ab\n"
                              "v_mov_b32_e32 v5, 0xb9c68948\n"
                              "v_fma_f32 v5, |v2|, s8, v5\n"
                              "s_mov_b32 s8, 0x3b7cd369\n"
                              "v_fma_f32 v5, |v2|, v5, s8\n"
                              "s_mov_b32 s8, 0xbcc618b2\n"
                              "v_fma_f32 v5, |v2|, v5, s8\n"
                              "s_mov_b32 s8, 0x3dda74e4\n"
                              "v_fma_f32 v5, |v2|, v5, s8\n"
                              "s_mov_b32 s8, 0x3f228afd\n"
                              "v_fma_f32 v5, |v2|, v5, s8\n"
                              "s_mov_b32 s8, 0x3e03c728\n"
                              "v_fma_f32 v5, |v2|, v5, s8\n"
                              "v_fma_f32 v5, |v2|, v5, |v2|\n"
                              "s_mov_b32 s8, 0xbfb8aa3b\n"
                              "v_mul_f32_e32 v6, 0xbfb8aa3b, v5\n"
                              "v_fma_f32 v7, v5, s8, -v6\n"
                              "v_rndne_f32_e32 v6, v6\n"
                              "v_fmamk_f32 v7, v5, 0xb2a5705f, v7\n"
                              "v_fma_f32 v4, v5, s8, -v6\n"
                              "v_add_f32_e32 v7, v4, v7\n"
                              "v_exp_f32_e32 v7, v7\n"
                              "v_cvt_i32_f32_e32 v6, v6\n"
                              "s_mov_b32 s8, 0x42ce8ed0\n"
                              "v_cmp_nlt_f32_e64 s[8:9], s8, v5\n"
                              "v_ldexp_f32 v6, v7, v6\n"
                              "v_mov_b32_e32 v7, 0x7f800000\n"
                              "v_cndmask_b32_e64 v6, 0, v6, s[8:9]\n"
                              "s_mov_b32 s8, 0xc2b17218\n"
                              "v_cmp_ngt_f32_e64 s[8:9], s8, v5\n"
                              "s_nop 1\n"
                              "v_cndmask_b32_e64 v4, v7, v6, s[8:9]\n"
                              "v_sub_f32_e32 v4, 1.0, v4\n";
const std::string erf_small = "v_mul_f32_e32 v4, v2, v2\n"
                              "v_mov_b32_e32 v5, 0x3ba10414\n"
                              "v_fmac_f32_e32 v5, 0xba1345e1, v4\n"
                              "v_fmaak_f32 v5, v4, v5, 0xbcdac9b8\n"
                              "v_fmaak_f32 v5, v4, v5, 0x3de703be\n"
                              "v_fmaak_f32 v5, v4, v5, 0xbec09330\n"
                              "v_fmaak_f32 v4, v4, v5, 0x3e0375d0\n"
                              "v_fma_f32 v4, |v2|, v4, |v2|\n";

std::string diamond(const std::string& compare, const std::string& first, const std::string& second) {
  return compare +
         "s_and_saveexec_b64 s[4:5], vcc\n"
         "s_xor_b64 s[4:5], exec, s[4:5]\n"
         "s_cbranch_execz .Lother\n" +
         first +
         ".Lother:\n"
         "s_andn2_saveexec_b64 s[6:7], s[4:5]\n"
         "s_cbranch_execz .Ljoin\n" +
         second +
         ".Ljoin:\n"
         "s_or_b64 exec, exec, s[6:7]\n";
}
const std::string below = "s_mov_b32 s3, 0x3f200000\nv_cmp_nlt_f32_e64 vcc, |v2|, s3\n";
const std::string tanh_code = diamond(below, tanh_large, tanh_small);
const std::string erf_code = diamond("v_cmp_nlt_f32_e64 vcc, |v2|, 1.0\n", erf_large, erf_small);

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

using Rule = std::vector<Idea> (*)(const Facts&);

size_t ideas(Rule rule, const std::string& body, const std::string& behind = end) {
  const recover::Program program = program_of(begin + body + behind);
  return rule(facts_of(program)).size();
}

/// The program after the idea of a variant, whose results are off by `off` at most, and `relative` of themselves.
std::string changed(Rule rule, const std::string& body, unsigned variant, float off, float relative,
                    const std::string& behind = end) {
  const std::string before = begin + body + behind;
  const recover::Program program = program_of(before);
  const auto found = rule(facts_of(program));
  EXPECT_EQ(found.size(), 2u);
  if (found.size() != 2) return "";
  const std::string after = applied(program, found[variant]);
  const auto a = results_of(before), b = results_of(after);
  EXPECT_TRUE(a && b) << after;
  for (size_t lane = 0; a && b && lane < 64; ++lane) {
    float x = 0, y = 0;
    std::memcpy(&x, a->data() + 4 * lane, 4);
    std::memcpy(&y, b->data() + 4 * lane, 4);
    EXPECT_EQ(std::isnan(x), lane == 61) << lane;
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(y)) << lane;
      continue;
    }
    EXPECT_NEAR(x, y, off + relative * std::abs(x)) << lane << "\n" << after;
    EXPECT_EQ(std::signbit(x), std::signbit(y)) << lane;
  }
  return after;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }
void expect_straight(const std::string& text) {
  for (const char* part : {"exec", "s_cbranch", ":\n", "v_ldexp", "v_rndne"}) EXPECT_FALSE(has(text, part)) << text;
}

} // namespace

TEST(FastTanh, ATangentIsOnePowerOfTwo) {
  const std::string text = changed(fast_tanh, tanh_code, 0, 2e-7f, 0);
  expect_straight(text);
  EXPECT_FALSE(has(text, "v_fmaak")) << text;
}

TEST(FastTanh, ThePolynomialKeepsSmallResultsExact) {
  const std::string text = changed(fast_tanh, tanh_code, 1, 0, 1e-6f);
  expect_straight(text);
  EXPECT_TRUE(has(text, "v_fmaak") && has(text, "v_cndmask")) << text;
}

TEST(FastTanh, TheArmsMayBeTheOtherWayRound) {
  const std::string turned =
      diamond("s_mov_b32 s3, 0x3f200000\nv_cmp_lt_f32_e64 vcc, |v2|, s3\n", tanh_small, tanh_large);
  for (const unsigned variant : {0u, 1u}) expect_straight(changed(fast_tanh, turned, variant, 2e-7f, 1e-6f));
}

TEST(FastTanh, TheResultMayTakeTheArgumentsPlace) {
  std::string in_place = replaced(tanh_code, "v_fma_f32 v4, v4, -2.0, 1.0", "v_fma_f32 v2, v4, -2.0, 1.0");
  in_place = replaced(in_place, "v_fma_f32 v4, v5, v6, |v2|", "v_fma_f32 v2, v5, v6, |v2|");
  const std::string store = "global_store_dword v8, v2, s[0:1]\ns_endpgm\n";
  for (const unsigned variant : {0u, 1u}) expect_straight(changed(fast_tanh, in_place, variant, 2e-7f, 1e-6f, store));
}

TEST(FastTanh, TheArmsMayStandElsewhere) {
  const std::string apart = below +
                            "s_and_saveexec_b64 s[4:5], vcc\n"
                            "s_xor_b64 s[4:5], exec, s[4:5]\n"
                            "s_cbranch_execnz .Lfirst\n"
                            ".Lother:\n"
                            "s_andn2_saveexec_b64 s[6:7], s[4:5]\n"
                            "s_cbranch_execnz .Lsecond\n"
                            ".Ljoin:\n"
                            "s_or_b64 exec, exec, s[6:7]\n" +
                            end + ".Lfirst:\n" + tanh_large +
                            "s_andn2_saveexec_b64 s[6:7], s[4:5]\n"
                            "s_cbranch_execz .Ljoin\n"
                            ".Lsecond:\n" +
                            tanh_small + "s_or_b64 exec, exec, s[6:7]\n";
  for (const unsigned variant : {0u, 1u}) expect_straight(changed(fast_tanh, apart, variant, 2e-7f, 1e-6f));
  // What stands behind the second arm has to be what stands behind the join.
  EXPECT_EQ(ideas(fast_tanh, apart, replaced(end, "v_bfi_b32 v4, s2, v4, v2", "v_bfi_b32 v4, s2, v2, v4")), 0u);
}

TEST(FastTanh, SeveralAtOnceUseTheSameRegisters) {
  std::string second = replaced(tanh_code, ".Lother", ".Lother2");
  second = replaced(second, ".Lother:", ".Lother2:");
  second = replaced(second, ".Ljoin", ".Ljoin2");
  second = replaced(second, ".Ljoin:", ".Ljoin2:");
  const std::string body = tanh_code + "s_brev_b32 s2, -2\nv_bfi_b32 v2, s2, v4, v2\n" + second;
  EXPECT_EQ(ideas(fast_tanh, body), 4u);
}

TEST(FastTanh, OtherNumbersAreOtherFunctions) {
  for (const auto& [from, to] : {std::pair{"0x3f200000", "0x3f210000"},
                                 {"0x3ca908c9", "0x3ca908c8"},
                                 {"0xbeaaaa99", "0xbeaaaa98"},
                                 {"v4, -2.0, 1.0", "v4, -2.0, 2.0"},
                                 {"v_add_f32_e32 v4, 1.0, v4", "v_add_f32_e32 v4, 2.0, v4"},
                                 {"0x32a5705f", "0x32a57050"},
                                 {"v4, v5, v6, |v2|", "v4, v5, v6, v2"},
                                 {"|v2|, |v2|", "|v2|, v2"},
                                 {"v_cmp_nlt_f32_e64 vcc, |v2|", "v_cmp_nlt_f32_e64 vcc, v2"},
                                 {"v_cmp_nlt_f32_e64 vcc, |v2|", "v_cmp_nlt_f32_e64 vcc, |v0|"},
                                 {"v_cmp_nlt_f32_e64 vcc, |v2|", "v_cmp_lt_f32_e64 vcc, |v2|"}})
    EXPECT_EQ(ideas(fast_tanh, replaced(tanh_code, from, to)), 0u) << from;
}

TEST(FastTanh, WhatElseTheDiamondDoesIsWanted) {
  // A register besides, a mask, memory.
  EXPECT_EQ(ideas(fast_tanh, tanh_code, replaced(end, "global_store", "v_add_f32_e32 v4, v4, v5\nglobal_store")), 0u);
  EXPECT_EQ(ideas(fast_tanh, tanh_code, replaced(end, "global_store", "s_mov_b64 exec, s[4:5]\nglobal_store")), 0u);
  EXPECT_EQ(ideas(fast_tanh, replaced(tanh_code, tanh_small, tanh_small + "global_store_dword v8, v6, s[0:1]\n")), 0u);
}

TEST(FastTanh, NobodyElseMayComeIn) {
  const std::string in = "s_cmp_eq_u32 s0, 0\ns_cbranch_scc1 .Lother\n";
  EXPECT_EQ(ideas(fast_tanh, in + tanh_code), 0u);
  EXPECT_EQ(ideas(fast_tanh, replaced(in, ".Lother", ".Ljoin") + tanh_code), 0u);
}

TEST(FastTanh, TheConditionHasToBeOfTheLanesThatAreThere) {
  const std::string later = replaced(tanh_code, "s_and_saveexec_b64", "s_mov_b64 exec, -1\ns_and_saveexec_b64");
  EXPECT_EQ(ideas(fast_tanh, later), 0u);
}

TEST(FastErf, AnErrorFunctionIsOnePowerOfTwo) {
  const std::string text = changed(fast_erf, erf_code, 0, 7e-7f, 0);
  expect_straight(text);
  EXPECT_FALSE(has(text, "v_cndmask_b32_e64")) << text;
}

TEST(FastErf, ThePolynomialKeepsSmallResultsExact) { expect_straight(changed(fast_erf, erf_code, 1, 0, 1e-6f)); }

TEST(FastErf, OtherNumbersAreOtherFunctions) {
  for (const auto& [from, to] : {std::pair{"v_cmp_nlt_f32_e64 vcc, |v2|, 1.0", "v_cmp_nlt_f32_e64 vcc, |v2|, 2.0"},
                                 {"0x378e98ab", "0x378e98aa"},
                                 {"0x3e0375d0", "0x3e0375d1"},
                                 {"s8, 0x42ce8ed0", "s8, 0x42ce8ed1"},
                                 {"v_sub_f32_e32 v4, 1.0, v4", "v_sub_f32_e32 v4, 2.0, v4"}})
    EXPECT_EQ(ideas(fast_erf, replaced(erf_code, from, to)), 0u) << from;
  EXPECT_EQ(ideas(fast_erf, tanh_code), 0u);
  EXPECT_EQ(ideas(fast_tanh, erf_code), 0u);
}
