#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

TEST(RemoveDeadCode, AResultThatNobodyReadsIsNotComputed) {
  recover::Program program = program_of("v_add_u32_e32 v3, 1, v2\n"
                                        "v_mul_lo_u32 v4, v3, v3\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  std::string text = applied(program, remove_dead_code(facts_of(program)).at(0));
  EXPECT_EQ(text, "global_store_dword v[0:1], v2, off\ns_endpgm\n");
}

TEST(RemoveDeadCode, AStoreIsNeverDead) {
  recover::Program program = program_of("global_store_dword v[0:1], v2, off\ns_endpgm\n");
  auto edits = complete(facts_of(program), remove_dead_code(facts_of(program)).at(0));
  EXPECT_TRUE(!edits || edits->empty());
}
