// Which loads go to the scalar unit, and that lanes get what they got.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

const std::string lane = "v_mbcnt_lo_u32_b32 v0, -1, 0\n"
                         "v_mbcnt_hi_u32_b32 v0, -1, v0\n"
                         "v_lshlrev_b32_e32 v8, 4, v0\n";
const std::string by_pair = "v_mov_b32_e32 v2, s0\n"
                            "v_mov_b32_e32 v3, s1\n";
const std::string end = "s_waitcnt vmcnt(0)\n"
                        "v_add_u32_e32 v4, v4, v0\n"
                        "global_store_dword v8, v4, s[0:1] offset:1024\n"
                        "s_endpgm\n";

/// The program after the one idea; empty where there is none.
std::string changed(const std::string& body) {
  const std::string text = lane + body + end;
  const recover::Program program = program_of(text);
  const auto ideas = scalar_loads(facts_of(program));
  EXPECT_LE(ideas.size(), 1u);
  if (ideas.empty()) return "";
  const std::string result = applied(program, ideas.front());
  EXPECT_EQ(results_of(result, 0, 64, true), results_of(text, 0, 64, true)) << result;
  return result;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

} // namespace

TEST(ScalarLoads, AnAddressInTwoVectorRegistersGoesToThoseOfTheScalarUnit) {
  const std::string text = changed(by_pair + "global_load_dword v4, v[2:3], off offset:20\n");
  EXPECT_TRUE(has(text, "s_load_dword ") && has(text, "0x14") && has(text, "v_readfirstlane_b32")) << text;
  EXPECT_FALSE(has(text, "global_load")) << text;
}

TEST(ScalarLoads, AConstantBesideAScalarAddressIsAnOffset) {
  const std::string text = changed("v_mov_b32_e32 v2, 64\nglobal_load_dword v4, v2, s[0:1] offset:8\n");
  EXPECT_TRUE(has(text, "s_load_dword s") && has(text, "s[0:1], 0x48")) << text;
}

TEST(ScalarLoads, WideLoadsFillSeveralRegisters) {
  EXPECT_TRUE(has(changed(by_pair + "global_load_dwordx2 v[4:5], v[2:3], off\ns_waitcnt vmcnt(0)\n"
                                    "v_add_u32_e32 v4, v4, v5\n"),
                  "s_load_dwordx2"));
  EXPECT_TRUE(has(changed(by_pair + "global_load_dwordx4 v[4:7], v[2:3], off offset:36\ns_waitcnt vmcnt(0)\n"
                                    "v_add_u32_e32 v4, v4, v7\n"),
                  "s_load_dwordx4"));
}

TEST(ScalarLoads, SeveralLoadsGoTogether) {
  const std::string text = changed(by_pair + "global_load_dword v4, v[2:3], off\n"
                                             "global_load_dword v2, v[2:3], off offset:16\n"
                                             "s_waitcnt vmcnt(0)\nv_add_u32_e32 v4, v4, v2\n");
  EXPECT_FALSE(has(text, "global_load")) << text;
}

TEST(ScalarLoads, TheValueArrivesBeforeOtherLanesAreChosen) {
  const std::string text = changed(by_pair + "v_mov_b32_e32 v4, 7\nglobal_load_dword v4, v[2:3], off\n"
                                             "v_cmp_lt_u32_e32 vcc, 20, v0\n"
                                             "s_and_saveexec_b64 s[6:7], vcc\n"
                                             "s_waitcnt vmcnt(0)\nv_add_u32_e32 v4, 1, v4\n"
                                             "s_or_b64 exec, exec, s[6:7]\n");
  EXPECT_TRUE(has(text, "s_load_dword")) << text;
}

TEST(ScalarLoads, LanesWithAddressesOfTheirOwnStay) { EXPECT_EQ(changed("global_load_dword v4, v8, s[0:1]\n"), ""); }

TEST(ScalarLoads, GuardedLoadsStay) {
  EXPECT_EQ(changed(by_pair + "v_mov_b32_e32 v4, 7\nv_cmp_lt_u32_e32 vcc, 99, v0\n"
                              "s_and_saveexec_b64 s[6:7], vcc\nglobal_load_dword v4, v[2:3], off\n"
                              "s_or_b64 exec, exec, s[6:7]\n"),
            "");
}

TEST(ScalarLoads, LoadsBehindAStoreStay) {
  const std::string store = "global_store_dword v8, v0, s[0:1]\n", load = "global_load_dword v4, v[2:3], off\n";
  EXPECT_EQ(changed(by_pair + store + load), "");
  EXPECT_EQ(changed(by_pair + "global_atomic_add v8, v0, s[0:1]\n" + load), "");
  EXPECT_EQ(changed(by_pair + "buffer_inv sc1\n" + load), "");
  EXPECT_EQ(changed(by_pair + "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 .Lpast\n" + store + ".Lpast:\n" + load), "");
  // Around a loop.
  EXPECT_EQ(changed(by_pair + "s_mov_b32 s4, 2\n.Lloop:\n" + load + store +
                    "s_sub_i32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 .Lloop\n"),
            "");
}

TEST(ScalarLoads, WhatMayNotBeAlignedStays) {
  EXPECT_EQ(changed(by_pair + "global_load_dword v4, v[2:3], off offset:22\n"), "");
  EXPECT_EQ(changed("v_mov_b32_e32 v2, 6\nglobal_load_dword v4, v2, s[0:1] offset:6\n"), "");
  // A pointer of which metadata says nothing.
  EXPECT_EQ(scalar_loads(facts_of(program_of(lane +
                                             "s_load_dwordx2 s[4:5], s[0:1], 0x8\ns_waitcnt lgkmcnt(0)\n"
                                             "v_mov_b32_e32 v2, 0\nglobal_load_dword v4, v2, s[4:5]\n" +
                                             end)))
                .size(),
            0u);
}

TEST(ScalarLoads, ABufferAmongTheArgumentsIsEnough) {
  recover::Program program = program_of(lane +
                                        "s_load_dwordx2 s[4:5], s[0:1], 0x8\ns_waitcnt lgkmcnt(0)\n"
                                        "v_mov_b32_e32 v2, 0\nglobal_load_dword v4, v2, s[4:5] offset:4\n" +
                                        end);
  auto object = std::make_shared<object::CodeObject>(*program.origin);
  ASSERT_TRUE(object->kernels.front().metadata);
  object->kernels.front().metadata->args = {{.value_kind = "global_buffer", .offset = 8, .size = 8}};
  program.origin = object;
  const auto ideas = scalar_loads(facts_of(program));
  ASSERT_EQ(ideas.size(), 1u);
  EXPECT_TRUE(has(applied(program, ideas.front()), "s_load_dword s")) << applied(program, ideas.front());
}

TEST(ScalarLoads, LoadsWithACachePolicyStay) {
  EXPECT_EQ(changed(by_pair + "global_load_dword v4, v[2:3], off sc0 sc1\n"), "");
  EXPECT_EQ(changed(by_pair + "global_load_dword v4, v[2:3], off nt\n"), "");
}
