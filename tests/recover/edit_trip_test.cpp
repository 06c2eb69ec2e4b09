#include "programs.h"
#include "recover/edit_trip.h"

#include <numeric>

namespace asmevo::recover {
namespace {

using namespace testing;

constexpr const char* body = "\ts_cbranch_scc0 .La\n\tv_mov_b32 v0, 1\n.La:\n\tv_mov_b32 v1, 2\n"
                             "\ts_cbranch_scc1 .La\n\ts_endpgm";

Program small(const std::string& text) { return program_of(object_of(build_small(small_listing(text)), "k")); }

std::vector<size_t> unchanged(size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

TEST(EditTrip, FindsNoDifferenceInTheSameProgram) {
  EXPECT_TRUE(moved_differences(small(body), small(body), unchanged(5)).empty());
}

TEST(EditTrip, NoticesABranchThatLeadsElsewhere) {
  std::string other = body;
  other.replace(other.find("scc0 .La"), 8, "scc0 .Lb").replace(other.find("\tv_mov_b32 v0"), 0, ".Lb:\n");
  auto differences = moved_differences(small(body), small(other), unchanged(5));
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_NE(differences[0].find("leads elsewhere"), std::string::npos) << differences[0];
}

TEST(EditTrip, NoticesAnInstructionThatIsAnother) {
  std::string other = body;
  other.replace(other.find("v1, 2"), 5, "v1, 3");
  auto differences = moved_differences(small(body), small(other), unchanged(5));
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_NE(differences[0].find("has become \"v_mov_b32_e32 v1, 3\""), std::string::npos) << differences[0];
}

TEST(EditTrip, NoticesAnInstructionThatIsLost) {
  std::string other = body;
  other.erase(other.find("\tv_mov_b32 v1, 2\n"), 17);
  EXPECT_EQ(moved_differences(small(body), small(other), unchanged(5)),
            std::vector<std::string>{"4 instructions, 5 expected"});
}

TEST(EditTrip, GoesThroughWhatWasAdded) {
  // The branch leads to an added branch, which leads to where the original led.
  std::string other = "\ts_cbranch_scc0 .Lb\n\tv_mov_b32 v0, 1\n.La:\n\tv_mov_b32 v1, 2\n"
                      "\ts_cbranch_scc1 .La\n\ts_endpgm\n.Lb:\n\ts_branch .La";
  EXPECT_TRUE(moved_differences(small(body), small(other), std::vector<size_t>{0, 1, 2, 3, 4, added}).empty());
}

TEST(EditTrip, FollowsTheSeed) {
  std::string many;
  for (int i = 0; i < 200; i++) many += fmt::format("\tv_mov_b32 v0, {}\n", i % 60);
  Program program = small(many + "\ts_endpgm");
  auto a = edit_trip(program, codec_for(program.target), 1), b = edit_trip(program, codec_for(program.target), 1);
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(a->differences.empty());
  EXPECT_EQ(a->inserted, b->inserted);
  EXPECT_GT(a->inserted, 0u);
  EXPECT_GT(a->moved, 0u);
}

} // namespace
} // namespace asmevo::recover
