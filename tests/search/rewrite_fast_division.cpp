#include "search/drivers/rewrite/rules.h"

#include "rewrite_fixture.h"

#include <algorithm>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

const char* const division = R"(
v_div_scale_f32 v4, s[2:3], v1, v1, v0
v_rcp_f32_e32 v5, v4
v_div_scale_f32 v6, vcc, v0, v1, v0
v_fma_f32 v7, -v4, v5, 1.0
v_fmac_f32_e32 v5, v7, v5
v_mul_f32_e32 v7, v6, v5
v_fma_f32 v8, -v4, v7, v6
v_fmac_f32_e32 v7, v8, v5
v_fma_f32 v4, -v4, v7, v6
v_div_fmas_f32 v4, v4, v5, v7
v_div_fixup_f32 v2, v4, v1, v0
global_store_dword v[10:11], v2, off
s_endpgm
)";

size_t lines(const std::string& text) { return size_t(std::ranges::count(text, '\n')); }

} // namespace

TEST(FastDivision, PreciseDivisionBecomesAReciprocalAndAProduct) {
  recover::Program program = program_of(division);
  std::vector<Idea> ideas = fast_division(facts_of(program));
  ASSERT_EQ(ideas.size(), 3u);
  std::string text = applied(program, ideas[0]);
  EXPECT_NE(text.find("v_rcp_f32"), std::string::npos) << text;
  EXPECT_EQ(text.find("v_div_"), std::string::npos) << text;
  EXPECT_EQ(lines(text), 4u + (text.find("s_nop") != std::string::npos)) << text;
}

TEST(FastDivision, TheRefinedFormHasAResidualStep) {
  recover::Program program = program_of(division);
  std::string text = applied(program, fast_division(facts_of(program)).at(1));
  EXPECT_NE(text.find("v_fma_f32"), std::string::npos) << text;
  EXPECT_EQ(text.find("v_div_"), std::string::npos) << text;
}

TEST(FastDivision, ADivisionWhoseScaleIsUsedElsewhereKeepsThatPart) {
  std::string body = division;
  body.replace(body.find("s_endpgm"), 8, "global_store_dword v[10:11], v6, off offset:4\ns_endpgm");
  recover::Program program = program_of(body);
  std::string text = applied(program, fast_division(facts_of(program)).at(0));
  EXPECT_NE(text.find("v_div_scale_f32 v6"), std::string::npos) << text;
}
