#include "report/text.h"

#include <gtest/gtest.h>

namespace asmevo::report {
namespace {

TEST(Text, DurationsHaveThreeDigitsAndTheirUnit) {
  EXPECT_EQ(duration(1.5), "1.50 s");
  EXPECT_EQ(duration(0.0123), "12.3 ms");
  EXPECT_EQ(duration(4.567e-6), "4.57 us");
  EXPECT_EQ(duration(123e-9), "123 ns");
  EXPECT_EQ(duration(0.5e-9), "0.50 ns");
}

TEST(Text, ProgressTellsCountsBestAndTimeLeft) {
  search::Snapshot snapshot{
      .evaluations = 50, .best_speedup = 1.25, .elapsed_seconds = 10, .budget = {.evaluations = 200}};
  snapshot.counts[size_t(gate::Outcome::accepted)] = 2;
  snapshot.counts[size_t(gate::Outcome::duplicate)] = 48;
  EXPECT_EQ(progress_line(snapshot), "50/200 evaluations, best 1.250x, accepted 2, duplicate 48, about 30 s left");
}

TEST(Text, TheNearerEndOfABudgetIsTheTimeLeft) {
  search::Snapshot snapshot{.evaluations = 50, .elapsed_seconds = 10, .budget = {.evaluations = 200, .seconds = 15}};
  EXPECT_NE(progress_line(snapshot).find("about 5 s left"), std::string::npos);
}

TEST(Text, FidelityNamesWhatIsApproximate) {
  machine::Fidelity fidelity{.exact = 1234567, .approximate = 3, .approximate_mnemonics = {"v_exp_f32", "v_rcp_f32"}};
  EXPECT_EQ(fidelity_line(fidelity),
            "1,234,567 instructions exact, 3 approximate (v_exp_f32, v_rcp_f32), 0 unsupported");
}

TEST(Text, FinalTableSaysThatNothingBetterWasFound) {
  search::RunInfo info{.kernel = "softmax"};
  search::Summary summary{.ending = search::Ending::no_more_ideas};
  std::string table = final_table({info, summary, std::nullopt, 1e-5, "simulated MI300X", {}, "out.asmevo"});
  EXPECT_NE(table.find("none found: the output is K0, byte for byte"), std::string::npos);
  EXPECT_NE(table.find("simulated MI300X"), std::string::npos);
  EXPECT_NE(table.find("no more ideas"), std::string::npos);
}

TEST(Text, FinalTableShowsTheBandOfTheSpeedup) {
  search::RunInfo info{.kernel = "softmax"};
  search::Summary summary;
  gate::Verdict best{.outcome = gate::Outcome::accepted,
                     .timing = gate::Timing{2e-5, 1e-5, 2, 0.01, 1.9, 2.1, 1, "simulated MI300X"},
                     .receipt = gate::Receipt{.case_count = 8}};
  std::string table = final_table({info, summary, best, 2e-5, "simulated MI300X", {}, "out.asmevo"});
  EXPECT_NE(table.find("2.000x (5-95 %: 1.900-2.100x, cv 1.00 %)"), std::string::npos);
  EXPECT_NE(table.find("tested on 8 cases"), std::string::npos);
}

} // namespace
} // namespace asmevo::report
