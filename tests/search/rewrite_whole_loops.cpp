// Loops of a few iterations as straight code: only where every lane takes as many, and they compute what they did.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// Counts from v0 - 256 in steps of 256 until it is above the limit.
struct Case {
  std::string limit = "0x2ff", before = "s_mov_b64 s[4:5], 0\n", body = "", behind = "s_or_b64 exec, exec, s[4:5]\n",
              start = "v_or_b32_e32 v9, 0xffffff00, v0\n";
  std::string text() const {
    return "v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 7\ns_mov_b32 s6, " + limit + "\n" + start + before +
           "again:\n"
           "v_mul_lo_u32 v4, v3, 33\n"
           "v_xor_b32_e32 v3, v4, v9\n"
           "v_add_u32_e32 v2, 1, v2\n" +
           body +
           "v_add_u32_e32 v9, 0x100, v9\n"
           "v_cmp_lt_u32_e32 vcc, s6, v9\n"
           "s_or_b64 s[4:5], vcc, s[4:5]\n"
           "s_andn2_b64 exec, exec, s[4:5]\n"
           "s_cbranch_execnz again\n" +
           behind +
           "v_lshlrev_b32_e32 v0, 3, v0\n"
           "global_store_dwordx2 v0, v[2:3], s[0:1]\n"
           "s_endpgm\n";
  }
};

bool fires(const Case& c) {
  const recover::Program program = program_of(c.text());
  return !whole_loops(facts_of(program)).empty();
}

} // namespace

TEST(WholeLoops, BecomeStraightCodeThatComputesTheSame) {
  for (const char* limit : {"0xff", "0x1ff", "0x2ff", "0x6ff"}) {
    const Case c{.limit = limit};
    const recover::Program program = program_of(c.text());
    const std::vector<Idea> ideas = whole_loops(facts_of(program));
    ASSERT_EQ(ideas.size(), 1u) << limit;
    const std::string after = applied(program, ideas[0]);
    for (const char* gone : {"branch", "exec", "again", "v_cmp"}) EXPECT_EQ(after.find(gone), after.npos) << after;
    const auto expected = results_of(c.text()), found = results_of(after);
    ASSERT_TRUE(expected && found) << after;
    EXPECT_EQ(*expected, *found) << after;
  }
}

TEST(WholeLoops, StayWhereLanesTakeDifferentlyManyIterations) {
  EXPECT_FALSE(fires({.limit = "0x2fe"}));
  EXPECT_FALSE(fires({.limit = "0x200"}));
}

TEST(WholeLoops, StayWhereTheStartIsNotKnown) {
  EXPECT_FALSE(fires({.start = "global_load_dword v9, v0, s[0:1]\n"}));
  EXPECT_FALSE(fires({.start = "v_mul_lo_u32 v9, v0, v0\n"}));
}

TEST(WholeLoops, StayWhereTheyRunLong) { EXPECT_FALSE(fires({.limit = "0x7ff"})); }

TEST(WholeLoops, StayWhereLanesMayBeDoneBefore) {
  EXPECT_FALSE(fires({.before = "s_mov_b64 s[4:5], 1\n"}));
  EXPECT_FALSE(fires({.before = "s_mov_b64 s[4:5], s[8:9]\n"}));
}

TEST(WholeLoops, StayWhereLanesDoNotComeBack) {
  EXPECT_FALSE(fires({.behind = ""}));
  EXPECT_FALSE(fires({.behind = "s_mov_b64 exec, s[8:9]\n"}));
}

TEST(WholeLoops, StayWhereScalarsChangeInThem) {
  EXPECT_FALSE(fires({.body = "s_add_u32 s8, s8, 1\n"}));
  EXPECT_FALSE(fires({.body = "s_barrier\n"}));
}
