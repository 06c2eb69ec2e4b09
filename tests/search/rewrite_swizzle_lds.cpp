// Swizzled LDS: programs compute what they did, whatever they access, and hidden accesses are left alone.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

constexpr uint32_t lds_bytes = 8192;

std::vector<Idea> ideas_of(recover::Program& program, uint32_t bytes = lds_bytes, double conflicts = 1) {
  program.declared.front().lds_bytes = bytes;
  Facts facts = facts_of(program);
  facts.lds_conflicts = conflicts;
  return swizzle_lds(facts);
}

/// v1 = 128 * lane, v2 = 4 * lane; every row of LDS holds something else.
const std::string filled = "v_lshlrev_b32_e32 v1, 7, v0\n"
                           "v_lshlrev_b32_e32 v2, 2, v0\n"
                           "s_mov_b32 s5, 0x2545f491\n"
                           "v_mul_lo_u32 v3, v0, s5\n"
                           "v_mov_b32_e32 v4, 0\n"
                           "s_movk_i32 s4, 32\n"
                           "fill:\n"
                           "v_add_u32_e32 v5, v4, v2\n"
                           "ds_write_b32 v5, v3\n"
                           "v_add_u32_e32 v3, 0x9e3779b9, v3\n"
                           "v_add_u32_e32 v4, 0x100, v4\n"
                           "s_sub_u32 s4, s4, 1\n"
                           "s_cmp_lg_u32 s4, 0\n"
                           "s_cbranch_scc1 fill\n";
const std::string shown = "s_waitcnt lgkmcnt(0)\n"
                          "v_lshlrev_b32_e32 v0, 5, v0\n"
                          "global_store_dwordx4 v0, v[8:11], s[0:1]\n"
                          "global_store_dwordx4 v0, v[12:15], s[0:1] offset:16\n"
                          "s_endpgm\n";
const std::string cleared = "v_mov_b32_e32 v8, 0\nv_mov_b32_e32 v9, 0\nv_mov_b32_e32 v10, 0\nv_mov_b32_e32 v11, 0\n"
                            "v_mov_b32_e32 v12, 0\nv_mov_b32_e32 v13, 0\nv_mov_b32_e32 v14, 0\nv_mov_b32_e32 v15, 0\n";

void expect_kept(const std::string& accesses, size_t count = 5) {
  recover::Program program = program_of(filled + cleared + accesses + shown);
  const auto ideas = ideas_of(program);
  EXPECT_EQ(ideas.size(), count) << accesses;
  const Bytes before = results_of(filled + cleared + accesses + shown, lds_bytes).value();
  for (const Idea& idea : ideas) {
    const std::string after = applied(program, idea);
    EXPECT_NE(after.find("v_xor_b32"), after.npos);
    EXPECT_EQ(results_of(after, lds_bytes).value(), before) << accesses << after;
  }
}

} // namespace

TEST(SwizzleLds, ColumnsOfATileAreReadAsBefore) {
  expect_kept("ds_read_b32 v8, v1\n"
              "ds_read_b32 v9, v1 offset:4\n"
              "ds_read_b32 v10, v1 offset:124\n"
              "ds_read_u16 v11, v1 offset:66\n"
              "ds_read_u8 v12, v1 offset:33\n");
}

TEST(SwizzleLds, WideAndDoubleAccessesSeeTheirBytes) {
  expect_kept("ds_read2_b32 v[8:9], v1 offset0:3 offset1:17\n"
              "ds_read2st64_b32 v[10:11], v2 offset0:1 offset1:7\n"
              "ds_write2_b32 v1, v8, v9 offset0:5 offset1:6\n"
              "ds_read_b32 v12, v1 offset:24\n");
  expect_kept("ds_read_b64 v[8:9], v1 offset:8\n"
              "ds_read2_b64 v[10:13], v1 offset0:2 offset1:9\n"
              "ds_write_b64 v1, v[10:11] offset:112\n"
              "ds_read_b64 v[14:15], v1 offset:112\n");
  expect_kept("ds_read_b128 v[8:11], v1 offset:16\n"
              "ds_write_b128 v1, v[8:11] offset:96\n"
              "ds_add_u32 v1, v3 offset:100\n"
              "s_waitcnt lgkmcnt(0)\n"
              "ds_read_b128 v[12:15], v1 offset:96\n");
}

TEST(SwizzleLds, ExchangesBetweenLanesAreNoAccesses) {
  expect_kept(
      "ds_read_b32 v8, v1\ns_waitcnt lgkmcnt(0)\nds_bpermute_b32 v9, v2, v8\nds_swizzle_b32 v10, v8 offset:0x1f\n");
}

TEST(SwizzleLds, NothingIsDoneWhereAnAccessMayBeHidden) {
  for (const char* hidden : {"flat_load_dword v9, v[2:3]\n", "ds_append v9\n",
                             "s_mov_b32 m0, 0\nbuffer_load_dword v2, s[8:11], 0 offen lds\n",
                             "ds_add_rtn_u32 v9, v1, v3\n", "s_swappc_b64 s[2:3], s[4:5]\n"}) {
    recover::Program program = program_of(filled + cleared + hidden + shown);
    EXPECT_TRUE(ideas_of(program).empty()) << hidden;
  }
}

TEST(SwizzleLds, NothingIsDoneWithoutConflictsOrWithRowsThatDoNotFit) {
  recover::Program program = program_of(filled + cleared + "ds_read_b32 v8, v1\n" + shown);
  EXPECT_EQ(ideas_of(program).size(), 5u);
  EXPECT_TRUE(ideas_of(program, lds_bytes + 4).empty());
  EXPECT_TRUE(ideas_of(program, 128).empty());
  EXPECT_EQ(ideas_of(program, 512).size(), 2u); // rows of 128 and 256 bytes
  EXPECT_TRUE(ideas_of(program, lds_bytes, -1).empty());
}
