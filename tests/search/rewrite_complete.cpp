#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

TEST(Complete, WaitsThatArePutBackAsTheyWereAreNoProposal) {
  recover::Program program = program_of("global_load_dword v2, v[0:1], off\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "v_add_u32_e32 v2, 1, v2\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  auto edits = complete(facts_of(program), tighten_waits(facts_of(program)).at(0));
  ASSERT_TRUE(edits);
  EXPECT_TRUE(edits->empty()) << edits->front().text;
}

TEST(Complete, ARegisterIsNotCopiedToItself) {
  recover::Program program = program_of("v_mov_b32_e32 v2, v2\nglobal_store_dword v[0:1], v2, off\ns_endpgm\n");
  EXPECT_EQ(applied(program, remove_dead_code(facts_of(program)).at(0)),
            "global_store_dword v[0:1], v2, off\ns_endpgm\n");
}
