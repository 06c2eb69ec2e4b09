// Copies of what is there already go, and no other.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

const std::string store = "v_lshlrev_b32_e32 v0, 3, v0\nglobal_store_dwordx2 v0, v[2:3], s[0:1]\ns_endpgm\n";

std::string after(const std::string& body) {
  const recover::Program program = program_of(body + store);
  const std::vector<Idea> ideas = copies_back(facts_of(program));
  return ideas.empty() ? "(none)" : applied(program, ideas[0]);
}

/// Between a copy of v1 to v2 and one of v2 back to v1.
std::string round_trip(const std::string& between) {
  return "v_mov_b32_e32 v3, v0\nv_mul_u32_u24_e32 v1, 5, v0\nv_mov_b32_e32 v2, v1\n" + between +
         "v_mov_b32_e32 v1, v2\nv_add_u32_e32 v2, v1, v2\nv_mov_b32_e32 v3, v1\n";
}

} // namespace

TEST(CopiesBack, ASumThatIsFetchedAndPutBackStaysWhereItIs) {
  const std::string text = after("v_accvgpr_write_b32 a3, v0\n"
                                 "v_accvgpr_read_b32 v4, a3\n"
                                 "v_mul_u32_u24_e32 v2, 3, v0\n"
                                 "v_accvgpr_write_b32 a3, v4\n"
                                 "s_nop 1\n"
                                 "v_accvgpr_read_b32 v3, a3\n");
  EXPECT_EQ(text.find("v4"), text.npos) << text;
  EXPECT_NE(text.find("v_accvgpr_read_b32 v3, a3"), text.npos) << text;
}

TEST(CopiesBack, ValuesAreFollowedThroughSeveralCopies) {
  const std::string text = after(round_trip("v_mov_b32_e32 v5, v2\nv_mov_b32_e32 v2, v5\n"));
  EXPECT_EQ(text.find("v5"), text.npos) << text;
  EXPECT_EQ(text.find("v_mov_b32_e32 v1, v2"), text.npos) << text;
}

TEST(CopiesBack, ResultsAreTheSameWhateverStandsBetween) {
  for (const char* between : {"", "v_add_u32_e32 v4, 1, v2\n", "v_cndmask_b32_e64 v4, v1, v2, s[4:5]\n"}) {
    const std::string body = round_trip(between), text = after(body);
    ASSERT_NE(text, "(none)") << body;
    EXPECT_EQ(results_of(text).value(), results_of(body + store).value()) << text;
  }
}

TEST(CopiesBack, AValueThatChangesInBetweenIsPutBack) {
  for (const char* between : {"v_add_u32_e32 v1, 1, v1\n", "v_add_u32_e32 v2, 1, v2\n", "v_writelane_b32 v2, s0, 3\n",
                              "s_mov_b32 exec_lo, 15\n", "v_mov_b32_dpp v2, v2 row_shl:1 row_mask:0xf bank_mask:0xf\n",
                              "v_mov_b64_e32 v[2:3], 0\n", "s_cbranch_scc1 .Lon\n.Lon:\n"})
    EXPECT_EQ(after(round_trip(between)), "(none)") << between;
}

TEST(CopiesBack, RegistersThatAreNumberedByAnIndexAreNotFollowed) {
  EXPECT_EQ(after(round_trip("s_set_gpr_idx_on s4, gpr_idx(DST)\nv_mov_b32_e32 v8, 0\ns_set_gpr_idx_off\n")), "(none)");
}
