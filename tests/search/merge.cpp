#include "search/merge.h"

#include "rewrite_fixture.h"

using namespace asmevo;
using namespace asmevo::search;
using namespace asmevo::search::rewrite::testing;

namespace {

std::string body(const std::string& first, const std::string& second,
                 const std::string& third = "v_mov_b32_e32 v8, v3\n") {
  return "v_mov_b32_e32 v2, v0\n" + first + "s_mov_b32 s4, 0\n.Lloop:\ns_add_u32 s4, s4, 1\n" + second +
         "s_cmp_lt_u32 s4, 8\ns_cbranch_scc1 .Lloop\n" + third +
         "v_add_u32_e32 v4, v3, v8\nglobal_store_dword v[0:1], v4, off\ns_endpgm\n";
}
const std::string mul = "v_mul_lo_u32 v3, v2, 4\n", shift = "v_lshlrev_b32_e32 v3, 2, v2\n";
const std::string slow = "v_mul_lo_u32 v5, v3, 8\n", fast = "v_lshlrev_b32_e32 v5, 3, v3\n";

std::expected<std::string, std::string> merged(const recover::Program& base, const recover::Program& onto,
                                               const recover::Program& other) {
  auto edits = merge(base, onto, other, "k", codec());
  if (!edits) return std::unexpected(edits.error());
  auto program = recover::apply(onto, *edits, codec());
  if (!program) return std::unexpected(program.error().message);
  return text_of(*program);
}

TEST(Merge, ChangesOfDifferentPlacesComeTogether) {
  const auto result = merged(program_of(body(mul, slow)), program_of(body(shift, slow)), program_of(body(mul, fast)));
  ASSERT_TRUE(result) << result.error();
  EXPECT_EQ(*result, text_of(program_of(body(shift, fast))));
}

TEST(Merge, WhatBothHaveIsNotDoneTwice) {
  const auto base = program_of(body(mul, slow)), both = program_of(body(shift, fast));
  const auto edits = merge(base, both, program_of(body(shift, slow)), "k", codec());
  ASSERT_TRUE(edits) << edits.error();
  EXPECT_TRUE(edits->empty());
}

TEST(Merge, ChangesOfOnePlaceAreAConflict) {
  const auto result = merged(program_of(body(mul, slow)), program_of(body(shift, slow)),
                             program_of(body("v_lshl_add_u32 v3, v2, 2, 0\n", slow)));
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().starts_with("both change items [")) << result.error();
}

TEST(Merge, ARegisterThatBothTookIsAConflict) {
  // One keeps v6 from the beginning to the end; the other uses v6 between.
  const auto base = program_of(body(mul, slow));
  const auto keeps = program_of(body("v_mul_lo_u32 v3, v2, 4\nv_mov_b32_e32 v6, v3\n", slow, "v_mov_b32_e32 v8, v6\n"));
  const auto uses = program_of(body(mul, "v_lshlrev_b32_e32 v6, 3, v3\nv_mov_b32_e32 v5, v6\n"));
  for (const auto& result : {merged(base, keeps, uses), merged(base, uses, keeps)}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), "both need v6 where the other uses it");
  }
}

TEST(Merge, LabelsThatCameWithAChangeGetNamesOfTheirOwn) {
  const std::string skip = "s_cbranch_vccz .Lskip\nv_mul_lo_u32 v5, v3, 8\n.Lskip:\n";
  const auto result = merged(program_of(body(mul, slow)), program_of(body(shift, slow)), program_of(body(mul, skip)));
  ASSERT_TRUE(result) << result.error();
  EXPECT_NE(result->find(".Lmerged0"), std::string::npos) << *result;
}

TEST(Merge, WaitsAreLeftToTheGate) {
  const auto base = program_of(body(mul, slow));
  const auto waits = program_of(body(mul, "s_nop 3\n" + slow));
  const auto edits = merge(base, program_of(body(shift, slow)), waits, "k", codec());
  ASSERT_TRUE(edits) << edits.error();
  EXPECT_TRUE(edits->empty());
}

} // namespace
