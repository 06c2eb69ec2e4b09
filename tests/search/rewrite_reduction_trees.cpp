// Reductions through LDS: they give what they gave, to the bit, and trees that somebody else looks into stay.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

constexpr uint32_t lds_bytes = 4096;

/// v2: four times the lane's number. v1: something that rounds when it is added.
const std::string begin = "v_lshlrev_b32_e32 v2, 2, v0\n"
                          "v_mul_u32_u24_e32 v1, 0x9e35, v0\n"
                          "v_cvt_f32_u32_e32 v1, v1\n"
                          "v_rcp_f32_e32 v1, v1\n"
                          "v_min_f32_e32 v1, 1.0, v1\n"
                          "ds_write_b32 v2, v1 offset:8\n";
/// All lanes store what the first place holds, and what they began with.
const std::string end = "s_waitcnt lgkmcnt(0)\n"
                        "s_barrier\n"
                        "v_mov_b32_e32 v4, 0\n"
                        "ds_read_b32 v6, v4 offset:8\n"
                        "v_lshlrev_b32_e32 v2, 3, v0\n"
                        "s_waitcnt lgkmcnt(0)\n"
                        "v_mov_b32_e32 v7, v1\n"
                        "global_store_dwordx2 v2, v[6:7], s[0:1]\n"
                        "s_endpgm\n";
const std::string sum = "v_add_f32_e32 v3, v5, v4\n";

std::string loads(uint32_t lanes) {
  if (lanes % 64 == 0) // in units of 64 places, where those come to 8 bytes
    return fmt::format("ds_read_b32 v5, v2 offset:{}\nds_read_b32 v4, v2 offset:8\n", 8 + 4 * lanes);
  return fmt::format("ds_read2_b32 v[4:5], v2 offset0:2 offset1:{}\n", 2 + lanes);
}

std::string round_of(uint32_t lanes, const std::string& body, bool skips = true) {
  const std::string test = lanes == 1   ? "v_cmp_eq_u32_e32 vcc, 0, v0\n"
                           : lanes > 64 ? fmt::format("s_movk_i32 s4, {}\nv_cmp_gt_u32_e32 vcc, s4, v0\n", lanes)
                                        : fmt::format("v_cmp_gt_u32_e32 vcc, {}, v0\n", lanes);
  return test + "s_waitcnt lgkmcnt(0)\ns_barrier\ns_and_saveexec_b64 s[2:3], vcc\n" +
         (skips ? fmt::format("s_cbranch_execz .Lskip{}\n", lanes) : "") + loads(lanes) + "s_waitcnt lgkmcnt(0)\n" +
         body + "ds_write_b32 v2, v3 offset:8\n" + (skips ? fmt::format(".Lskip{}:\n", lanes) : "") +
         "s_or_b64 exec, exec, s[2:3]\n";
}

std::string rounds(uint32_t lanes, const std::string& body = sum, bool skips = true) {
  std::string text;
  for (; lanes > 0; lanes /= 2) text += round_of(lanes, body, skips);
  return text;
}

std::string after(const std::string& body) {
  const recover::Program program = program_of(body);
  const std::vector<Idea> ideas = reduction_trees(facts_of(program));
  return ideas.empty() ? "(none)" : applied(program, ideas[0]);
}

size_t barriers(const std::string& text) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find("s_barrier", at)) != text.npos; ++at) ++count;
  return count;
}

void expect_kept(const std::string& body, uint32_t work_items) {
  const std::string text = after(body);
  ASSERT_NE(text, "(none)") << body;
  const auto before = results_of(body, lds_bytes, work_items), now = results_of(text, lds_bytes, work_items);
  ASSERT_TRUE(before && now) << text;
  EXPECT_EQ(*now, *before) << body << "becomes\n" << text;
}

void expect_none(const std::string& body) { EXPECT_EQ(after(body), "(none)") << body; }

} // namespace

TEST(ReductionTrees, OneWaveLoadsAllAtOnceBehindTheFirstBarrier) {
  const std::string text = after(begin + rounds(128) + end);
  EXPECT_EQ(barriers(text), 2u) << text;
  EXPECT_NE(text.find("v_cmp_gt_u32_e64 s[2:3], 32, v0\n"), text.npos) << text;
  EXPECT_NE(text.find("ds_read2_b32 v[6:7], v2 offset0:2 offset1:130\n"), text.npos) << text;
  EXPECT_NE(text.find(" offset:swizzle(SWAP,16)\n"), text.npos) << text;
  EXPECT_NE(text.find("v_add_f32_dpp v6, v6, v6 row_shl:8 row_mask:0xf bank_mask:0xf bound_ctrl:1\n"), text.npos)
      << text;
  EXPECT_EQ(text.find("v_cmp_eq_u32"), text.npos) << text; // nobody else asks
}

TEST(ReductionTrees, SumsAreTheSameToTheBitHoweverManyLanes) {
  for (const uint32_t lanes : {128u, 64u, 32u, 16u, 8u, 2u})
    for (const bool skips : {false, true}) expect_kept(begin + rounds(lanes, sum, skips) + end, 2 * lanes);
}

TEST(ReductionTrees, AnyArithmeticIsCarriedOverWithItsOrder) {
  for (const char* body :
       {"v_sub_u32_e32 v3, v5, v4\n", "v_sub_f32_e32 v3, v4, v5\n", "v_max_f32_e64 v3, |v4|, -v5\n",
        "v_max_f32_e32 v4, v4, v4\nv_max_f32_e32 v5, v5, v5\nv_max_f32_e32 v3, v4, v5\n", "v_fma_f32 v3, v4, v5, v4\n",
        "v_mul_f32_e32 v3, s0, v5\nv_add_f32_e32 v3, v3, v4\n", "v_add_f32_e32 v3, v5, v5\n"})
    expect_kept(begin + rounds(128, body) + end, 256);
}

TEST(ReductionTrees, RoundsOfOtherLanesThanTheRestAreLeftInFront) {
  // 512 lanes are more than a lane of one wave may load.
  const std::string body = begin + rounds(512) + end, text = after(body);
  EXPECT_EQ(barriers(text), 3u) << text;
}

TEST(ReductionTrees, WhatStandsBetweenRoundsStaysWhereItIsWanted) {
  std::string body = begin + rounds(64);
  body += "s_waitcnt lgkmcnt(0)\ns_barrier\ns_and_saveexec_b64 s[2:3], vcc\n"
          "v_mov_b32_e32 v1, 5\n"
          "s_or_b64 exec, exec, s[2:3]\n" +
          end; // the last test decides once more
  EXPECT_NE(after(body).find("v_cmp_eq_u32_e32 vcc, 0, v0\n"), std::string::npos) << after(body);
  expect_kept(body, 128);
}

TEST(ReductionTrees, ASecondTreeInTheSamePlacesIsOneToo) {
  const std::string between = "s_waitcnt lgkmcnt(0)\ns_barrier\nv_mov_b32_e32 v4, 0\nds_read_b32 v8, v4 offset:8\n"
                              "s_waitcnt lgkmcnt(0)\ns_barrier\nv_mul_f32_e32 v3, v8, v1\n"
                              "ds_write_b32 v2, v3 offset:8\n";
  std::string second = rounds(64);
  for (size_t at = 0; (at = second.find("skip", at)) != second.npos; at += 5) second.insert(at, "t");
  const std::string body = begin + rounds(64) + between + second + end;
  const recover::Program program = program_of(body);
  EXPECT_EQ(reduction_trees(facts_of(program)).size(), 2u);
  expect_kept(body, 128);
}

TEST(ReductionTrees, PlacesThatAreReadLaterKeepWhatTheyHold) {
  std::string second = end;
  second.insert(second.find("ds_read_b32"), "ds_read_b32 v8, v4 offset:12\n");
  expect_none(begin + rounds(64) + second);
  second = end;
  second.replace(second.find("v6, v4"), 6, "v6, v2"); // each lane its own
  expect_none(begin + rounds(64) + second);
  second = end;
  second.insert(second.find("ds_read_b32"), "ds_add_u32 v2, v1 offset:8\n");
  expect_none(begin + rounds(64) + second);
}

TEST(ReductionTrees, PlacesOfLanesThatMayNotExistAreWrittenByNobodyElse) {
  const std::string other = "v_xor_b32_e32 v9, 4, v2\nds_write_b32 v9, v1 offset:8\n";
  expect_none(begin + other + rounds(16) + end);
  const std::string beyond = "ds_write_b32 v2, v1 offset:2048\n";
  EXPECT_NE(after(begin + beyond + rounds(16) + end), "(none)");
}

TEST(ReductionTrees, ResultsThatAreWantedInRegistersStay) {
  std::string second = end;
  second.replace(second.find("v7, v1"), 6, "v7, v3");
  expect_none("v_mov_b32_e32 v3, 0\n" + begin + rounds(64) + second);
}

TEST(ReductionTrees, TreesOfSomeLanesOrOfOtherNumbersStay) {
  const std::string some = "v_cmp_gt_u32_e32 vcc, 40, v0\ns_and_saveexec_b64 s[6:7], vcc\n";
  expect_none(begin + some + rounds(32) + "s_or_b64 exec, exec, s[6:7]\n" + end);
  std::string other = begin;
  other.replace(other.find("2, 2, v0"), 8, "2, 3, v0"); // eight bytes a lane
  expect_none(other + rounds(32) + end);
  std::string body = begin + rounds(32) + end;
  body.replace(body.find("vcc, 2, v0"), 10, "vcc, 2, v1"); // another register's lanes
  expect_none(body);
  body = begin + rounds(32) + end;
  body.replace(body.find("vcc, 2,"), 7, "vcc, 3,");
  expect_none(body);
  body = begin + rounds(32) + end;
  body.replace(body.find("offset1:4"), 9, "offset1:5");
  expect_none(body);
}

TEST(ReductionTrees, KernelsOfSeveralRowsAreLeftAlone) {
  recover::Program program = program_of(begin + rounds(64) + end);
  object::CodeObject origin = *program.origin;
  origin.kernels.front().descriptor.raw[53] |= 1 << 3; // work-item numbers along y
  program.origin = std::make_shared<const object::CodeObject>(std::move(origin));
  EXPECT_TRUE(reduction_trees(facts_of(program)).empty());
}

TEST(ReductionTrees, MemoryAccessesBetweenRoundsKeepTheirBarriers) {
  std::string body = begin + rounds(32) + end;
  body.insert(body.find("v_cmp_eq_u32"), "global_load_dword v9, v2, s[0:1]\n");
  expect_none(body);
}
