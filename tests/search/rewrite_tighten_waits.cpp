#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

TEST(TightenWaits, AWaitMovesToTheFirstUse) {
  recover::Program program = program_of("global_load_dword v2, v[0:1], off\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "v_add_u32_e32 v3, 1, v4\n"
                                        "v_add_u32_e32 v2, v2, v3\n"
                                        "global_store_dword v[0:1], v2, off\n"
                                        "s_endpgm\n");
  std::string text = applied(program, tighten_waits(facts_of(program)).at(0));
  EXPECT_LT(text.find("v_add_u32_e32 v3"), text.find("s_waitcnt vmcnt(0)")) << text;
  EXPECT_LT(text.find("s_waitcnt vmcnt(0)"), text.find("v_add_u32_e32 v2")) << text;
}

TEST(TightenWaits, AWaitForTheOlderOfTwoLoadsLeavesTheYoungerOneInFlight) {
  recover::Program program = program_of("global_load_dword v2, v[0:1], off\n"
                                        "global_load_dword v3, v[0:1], off offset:64\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "v_add_u32_e32 v4, 1, v2\n"
                                        "v_add_u32_e32 v5, v4, v3\n"
                                        "global_store_dword v[0:1], v5, off\n"
                                        "s_endpgm\n");
  std::string text = applied(program, tighten_waits(facts_of(program)).at(0));
  EXPECT_NE(text.find("s_waitcnt vmcnt(1)"), std::string::npos) << text;
}
