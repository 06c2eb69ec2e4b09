#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

TEST(Difference, LeadsFromOneProgramToTheOther) {
  recover::Program before =
      program_of("v_add_u32_e32 v2, 1, v2\nv_add_u32_e32 v3, 1, v3\nv_add_u32_e32 v4, 1, v4\ns_endpgm\n");
  std::vector<recover::Edit> edits = {{1, 2, "v_add_u32_e32 v5, 1, v5\nv_add_u32_e32 v6, 1, v6\n"}, {3, 4, ""}};
  auto after = recover::apply(before, edits, codec());
  ASSERT_TRUE(after);
  auto again = recover::apply(before, difference(before, *after), codec());
  ASSERT_TRUE(again);
  EXPECT_EQ(text_of(*again), text_of(*after));
}
