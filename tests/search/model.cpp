#include "search/model.h"

#include "gate/slow_kernel.h"

#include <numeric>

namespace asmevo::search {
namespace {

class ModelTest : public gate::testing::SlowKernel {
protected:
  std::optional<double> seconds_with(std::vector<recover::Edit> edits) {
    auto program = recover::apply(original.program, edits, gate::testing::codec());
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    return program ? BenchModel(bench).seconds(*program) : std::nullopt;
  }
};

TEST_F(ModelTest, SaysWhatTheDeviceSays) {
  const auto timed =
      device->time(reference->original(), reference->launch().cases.front(), {.draws = 4, .seed = bench.settings.seed});
  ASSERT_TRUE(timed);
  const auto seconds = seconds_with({});
  ASSERT_TRUE(seconds);
  EXPECT_NEAR(*seconds, std::accumulate(timed->seconds.begin(), timed->seconds.end(), 0.0) / 4, 1e-12);
  EXPECT_LT(seconds_with({without_delay()}).value_or(1), *seconds / 2);
}

TEST_F(ModelTest, SaysNothingOfWhatFaultsOrRunsOn) {
  EXPECT_FALSE(seconds_with({replace("global_load_dword", "s_mov_b64 s[6:7], 0\nglobal_load_dword v1, v0, s[6:7]")}));
  EXPECT_FALSE(seconds_with({replace("s_sub_u32", "s_sub_u32 s8, s8, 0")}));
}

TEST_F(ModelTest, SaysNothingOfWhatDoesNotAssemble) {
  recover::Program program = original.program;
  program.items[item("s_cbranch_scc1")].text = "s_cbranch_scc1 .Lnowhere";
  EXPECT_FALSE(BenchModel(bench).seconds(program));
}

TEST_F(ModelTest, KnowsThatTheSearchWasStopped) {
  bool stop = false;
  bench.stop = &stop;
  const BenchModel model(bench);
  EXPECT_FALSE(model.stopped());
  stop = true;
  EXPECT_TRUE(model.stopped());
}

} // namespace
} // namespace asmevo::search
