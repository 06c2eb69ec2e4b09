// Loads from private memory of values that are quickly computed again: only where they come out the same.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_private.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

constexpr std::string_view end = "v_lshlrev_b32_e32 v1, 2, v0\nglobal_store_dword v1, v2, s[8:9]\ns_endpgm\n";
const PrivateKernel kernels[] = {{isa::Processor::gfx90a}, {isa::Processor::gfx942}};

/// The text after the one idea, which does the same; empty where there is none.
std::string changed(const PrivateKernel& kernel, const std::string& body) {
  const recover::Program program = kernel.program(body + std::string(end));
  const auto ideas = recompute_reloads(kernel.facts(program));
  if (ideas.empty()) return "";
  const recover::Program after = kernel.changed(program, ideas.front());
  const auto before = kernel.results(program);
  EXPECT_TRUE(before) << body;
  EXPECT_EQ(kernel.results(after), before) << PrivateKernel::text(after);
  return PrivateKernel::text(after);
}

/// `made` leaves something in v3, which is stored, lost and loaded again behind `between`.
std::string around(const PrivateKernel& kernel, const std::string& made, const std::string& between) {
  return made + kernel.store("v3", 2) + "v_mov_b32_e32 v3, 1\n" + between + kernel.load("v2", 2) +
         "v_xor_b32_e32 v2, v2, v3\n";
}

} // namespace

TEST(RecomputeReloads, AnAdditionIsDoneAgain) {
  for (const PrivateKernel& kernel : kernels) {
    const std::string text = changed(kernel, around(kernel, "v_add_u32_e32 v3, 7, v0\n", ""));
    EXPECT_NE(text.find("v_add_u32_e32 v2, 7, v0"), std::string::npos) << text;
    EXPECT_EQ(text.find("offset:8"), std::string::npos) << text;
  }
}

TEST(RecomputeReloads, TwoInstructionsAreDoneAgain) {
  for (const PrivateKernel& kernel : kernels) {
    const std::string text = changed(
        kernel, around(kernel, "v_mul_u32_u24_e32 v5, 11, v0\nv_xor_b32_e32 v3, v5, v1\n", "v_mov_b32_e32 v5, 0\n"));
    EXPECT_NE(text.find("v_mul_u32_u24_e32 v2, 11, v0\nv_xor_b32_e32 v2, v2, v1"), std::string::npos) << text;
  }
}

TEST(RecomputeReloads, AScalarThatStaysIsASource) {
  for (const PrivateKernel& kernel : kernels)
    EXPECT_NE(changed(kernel, "s_movk_i32 s20, 77\n" + around(kernel, "v_mov_b32_e32 v3, s20\n", "")), "");
}

TEST(RecomputeReloads, AnotherBranchAndALoopSeeTheSame) {
  for (const PrivateKernel& kernel : kernels)
    EXPECT_NE(changed(kernel, "v_add_u32_e32 v3, 7, v0\n" + kernel.store("v3", 2) +
                                  "v_mov_b32_e32 v2, 0\ns_mov_b32 s20, 4\nagain:\n" + kernel.load("v3", 2) +
                                  "v_lshl_add_u32 v2, v2, 1, v3\ns_sub_i32 s20, s20, 1\n"
                                  "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 again\n"),
              "");
}

TEST(RecomputeReloads, FewerLanesStoreAndMoreLoad) {
  for (const PrivateKernel& kernel : kernels)
    changed(kernel, "v_mov_b32_e32 v2, 0\nv_cmp_lt_u32_e32 vcc, 20, v0\ns_and_saveexec_b64 s[20:21], vcc\n"
                    "v_add_u32_e32 v3, 7, v0\n" +
                        kernel.store("v3", 2) + "v_mov_b32_e32 v3, 0\n" + kernel.load("v2", 2) +
                        "s_or_b64 exec, exec, s[20:21]\n");
}

TEST(RecomputeReloads, SourcesThatChangeKeepThePlace) {
  for (const PrivateKernel& kernel : kernels) {
    EXPECT_EQ(changed(kernel, "v_mul_lo_u32 v6, v0, v0\n" +
                                  around(kernel, "v_add_u32_e32 v3, 7, v6\n", "v_mov_b32_e32 v6, 3\n")),
              "");
    EXPECT_EQ(changed(kernel, "s_movk_i32 s20, 77\n" + around(kernel, "v_mov_b32_e32 v3, s20\n", "s_mov_b32 s20, 0\n")),
              "");
    EXPECT_EQ(changed(kernel, around(kernel, "v_mul_lo_u32 v3, v0, v0\nv_add_u32_e32 v3, 7, v3\n", "")), "");
    EXPECT_EQ(changed(kernel, "v_cmp_lt_u32_e32 vcc, 20, v0\n" + around(kernel, "v_cndmask_b32_e32 v3, v0, v1, vcc\n",
                                                                        "v_cmp_lt_u32_e32 vcc, 30, v0\n")),
              "");
  }
}

TEST(RecomputeReloads, ASourceThatALoopChangesBehindTheLoadKeepsThePlace) {
  for (const PrivateKernel& kernel : kernels)
    EXPECT_EQ(changed(kernel, "v_mul_lo_u32 v6, v0, v0\nv_add_u32_e32 v3, 7, v6\n" + kernel.store("v3", 2) +
                                  "v_mov_b32_e32 v2, 0\ns_mov_b32 s20, 4\nagain:\n" + kernel.load("v3", 2) +
                                  "v_add_u32_e32 v6, 1, v6\n"
                                  "v_lshl_add_u32 v2, v2, 1, v3\ns_sub_i32 s20, s20, 1\n"
                                  "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 again\n"),
              "");
}

TEST(RecomputeReloads, WhatIsStoredTwiceOrSlowToComputeKeepsItsPlace) {
  for (const PrivateKernel& kernel : kernels) {
    EXPECT_EQ(changed(kernel, around(kernel, "v_add_u32_e32 v3, 7, v0\n", kernel.store("v3", 2))), "");
    EXPECT_EQ(changed(kernel, around(kernel, "v_mul_lo_u32 v3, v0, v1\n", "")), "");
    EXPECT_EQ(changed(kernel, around(kernel, "v_mov_b32_dpp v3, v0 row_shl:1 row_mask:0xf bank_mask:0xf\n", "")), "");
    EXPECT_EQ(changed(kernel, around(kernel, "v_mov_b32_e32 v3, exec_lo\n", "")), "");
  }
}

TEST(RecomputeReloads, WhatWasComputedForOtherLanesKeepsItsPlace) {
  for (const PrivateKernel& kernel : kernels)
    EXPECT_EQ(changed(kernel, "v_mov_b32_e32 v3, 5\nv_cmp_lt_u32_e32 vcc, 20, v0\ns_and_saveexec_b64 s[20:21], vcc\n"
                              "v_add_u32_e32 v3, 7, v0\ns_or_b64 exec, exec, s[20:21]\n" +
                                  around(kernel, "", "")),
              "");
}
