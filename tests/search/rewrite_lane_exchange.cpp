// Exchanges between lanes: what they become, and that all lanes get what they got, whichever of them are on.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

std::string wave_with(const std::string& by, const std::string& behind,
                      const std::string& lane = "v_mbcnt_lo_u32_b32 v2, -1, 0\n") {
  return "v_mov_b32_e32 v5, 7\nv_mul_u32_u24_e32 v1, 13, v0\nv_mov_b32_e32 v3, 99\n" + lane +
         "v_mbcnt_hi_u32_b32 v2, -1, v2\n"
         "v_lshlrev_b32_e32 v2, 2, v2\n"
         "v_xor_b32_e32 v4, " +
         by + ", v2\n" + behind +
         "v_lshlrev_b32_e32 v0, 3, v0\n"
         "global_store_dwordx2 v0, v[2:3], s[0:1]\n"
         "s_endpgm\n";
}

constexpr const char* sum = "ds_bpermute_b32 v3, v4, v1\n"
                            "s_waitcnt lgkmcnt(0)\n"
                            "v_add_u32_e32 v3, v1, v3\n"
                            "v_mov_b32_e32 v2, 0\n";

std::string after(const std::string& body) {
  const recover::Program program = program_of(body);
  const std::vector<Idea> ideas = lane_exchanges(facts_of(program));
  return ideas.empty() ? "(none)" : applied(program, ideas[0]);
}

} // namespace

TEST(LaneExchanges, ASumReadsTheOtherLaneItself) {
  const std::string text = after(wave_with("32", sum));
  EXPECT_NE(text.find("v_add_u32_dpp v3, v1, v1 row_ror:8 row_mask:0xf bank_mask:0xf bound_ctrl:1\n"), text.npos)
      << text;
  for (const char* gone : {"ds_bpermute", "s_waitcnt", "v_xor"}) EXPECT_EQ(text.find(gone), text.npos) << text;
}

TEST(LaneExchanges, AllLanesGetWhatTheyGotWhicheverAreOn) {
  size_t changed = 0;
  for (const char* by : {"4", "8", "12", "16", "32", "64"})
    for (const char* mask : {"-1", "0x5a", "0x3c0f3"})
      for (const bool folds : {false, true}) {
        const std::string use = folds ? "v_add_u32_e32 v3, v3, v1\n" : "v_mul_lo_u32 v3, v3, 3\n";
        const std::string body = wave_with(by, fmt::format("s_mov_b64 s[4:5], exec\ns_mov_b32 exec_lo, {0}\n"
                                                           "s_mov_b32 exec_hi, {0}\nds_bpermute_b32 v3, v4, v1\n"
                                                           "s_waitcnt lgkmcnt(0)\n{1}s_mov_b64 exec, s[4:5]\n"
                                                           "v_mov_b32_e32 v2, 0\n",
                                                           mask, use));
        const std::string text = after(body);
        if (text == "(none)") continue;
        EXPECT_EQ(text.find("ds_bpermute"), text.npos);
        EXPECT_EQ(results_of(text).value(), results_of(body).value()) << body << "becomes\n" << text;
        ++changed;
      }
  EXPECT_EQ(changed, 36u);
}

TEST(LaneExchanges, AResultThatOthersReadIsMoved) {
  const std::string text = after(wave_with("8", std::string(sum) + "v_add_u32_e32 v2, v3, v1\n"));
  EXPECT_NE(text.find("dpp"), text.npos) << text;
  const std::string twice = wave_with("8", "ds_bpermute_b32 v3, v4, v1\n"
                                           "s_waitcnt lgkmcnt(0)\n"
                                           "v_add_u32_e32 v2, v1, v3\n");
  EXPECT_NE(after(twice).find("v_mov_b32_dpp v3, v1 quad_perm:[2,3,0,1]"), std::string::npos) << after(twice);
}

TEST(LaneExchanges, ASourceThatIsWrittenBeforeItIsReadIsMoved) {
  const std::string text = after(wave_with("8", "ds_bpermute_b32 v3, v4, v1\n"
                                                "v_max_u32_e32 v1, 100, v1\n"
                                                "s_waitcnt lgkmcnt(0)\n"
                                                "v_add_u32_e32 v3, v1, v3\n"
                                                "v_mov_b32_e32 v2, 0\n"));
  EXPECT_NE(text.find("v_mov_b32_dpp v3, v1 quad_perm:[2,3,0,1]"), text.npos) << text;
}

TEST(LaneExchanges, OtherAddressesStayAsTheyAre) {
  EXPECT_EQ(after(wave_with("0x80", sum)), "(none)"); // across halves of the wave
  EXPECT_EQ(after(wave_with("24", sum)), "(none)");   // two bits at once
  EXPECT_EQ(after(wave_with("2", sum)), "(none)");
  EXPECT_EQ(after(wave_with("8", sum, "v_mbcnt_lo_u32_b32 v2, s4, 0\n")), "(none)"); // not the number of the lane
  std::string offset = sum;
  offset.insert(offset.find('\n'), " offset:4");
  EXPECT_EQ(after(wave_with("8", offset)), "(none)");
}
