#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

size_t lines(const std::string& text) { return size_t(std::ranges::count(text, '\n')); }

} // namespace

TEST(RemoveDuplicates, TheSecondOfTwoEqualComputationsGoes) {
  recover::Program program = program_of("v_lshlrev_b32_e32 v3, 2, v2\n"
                                        "v_lshlrev_b32_e32 v4, 2, v2\n"
                                        "v_add_u32_e32 v5, v3, v4\n"
                                        "global_store_dword v[0:1], v5, off\n"
                                        "s_endpgm\n");
  std::string text = applied(program, remove_duplicates(facts_of(program)).at(0));
  EXPECT_NE(text.find("v_add_u32_e32 v5, v3, v3"), std::string::npos) << text;
  EXPECT_EQ(lines(text), 4u) << text;
}

TEST(RemoveDuplicates, ASourceThatChangedMakesItANewValue) {
  recover::Program program = program_of("v_lshlrev_b32_e32 v3, 2, v2\n"
                                        "v_add_u32_e32 v2, 1, v2\n"
                                        "v_lshlrev_b32_e32 v4, 2, v2\n"
                                        "v_add_u32_e32 v5, v3, v4\n"
                                        "global_store_dword v[0:1], v5, off\n"
                                        "s_endpgm\n");
  EXPECT_TRUE(remove_duplicates(facts_of(program)).empty());
}

TEST(RemoveDuplicates, ChangedExecMakesItANewValue) {
  recover::Program program = program_of("v_lshlrev_b32_e32 v3, 2, v2\n"
                                        "s_mov_b64 exec, s[4:5]\n"
                                        "v_lshlrev_b32_e32 v4, 2, v2\n"
                                        "v_add_u32_e32 v5, v3, v4\n"
                                        "global_store_dword v[0:1], v5, off\n"
                                        "s_endpgm\n");
  EXPECT_TRUE(remove_duplicates(facts_of(program)).empty());
}
